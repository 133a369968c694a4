// A whole environment from one seed: virtual time, seeded randomness, files that crash and fail (sim-files.ts says how), jobs run inline.
// The product code runs in it unchanged. One seed gives one execution: `trace.hash` says whether two runs were the same.
//
//   const sim = await SimEnv.create({ seed });
//   const result = await sim.run(async () => { … product code with sim … });
//   const next = sim.crash();              // what the next start finds; again a SimEnv
//
// A crash can be had in three ways: `files.faults.crashAt(n)` ends the run at the n-th operation, `files.turnOff()` at any moment, and
// `crash()` called from `files.onOperation` gives an image of that moment while the run goes on, so that one run gives a crash a step.

import { loadCodecs } from '../../src/env/index.ts';
import type { Codecs, Env, Host, Step, Tasks, WorkerChannel } from '../../src/env/index.ts';
import { SimClock } from './sim-clock.ts';
import { SimDisk } from './sim-disk.ts';
import { SimFiles, simPid } from './sim-files.ts';
import { SimRandom } from './sim-random.ts';
import { SimTrace } from './sim-trace.ts';
import { SimWorkers } from './sim-worker.ts';
import type { SimWorkerOptions } from './sim-worker.ts';

/** How a run ended: by itself with its value, or because the power went. */
export type SimResult<T> = { readonly ended: 'done'; readonly value: T } | { readonly ended: 'crashed' };

/** What can be chosen beside the seed. */
export interface SimOptions {
  readonly seed: number;
  /** Space of the disk; 1 GiB if not said. */
  readonly capacityBytes?: number;
  /** Keep the lines of the trace, to find where two runs part. */
  readonly keepsTrace?: boolean;
  /** Work that is sent to a tree worker; none if not said. */
  readonly worker?: SimWorkerOptions;
}

class SimTasks implements Tasks {
  readonly #clock: SimClock;
  readonly #random: SimRandom;
  readonly #workers: SimWorkers;
  readonly #sentBytesMin: number;

  constructor(clock: SimClock, random: SimRandom, codecs: Codecs, worker: SimWorkerOptions) {
    this.#clock = clock;
    this.#random = random;
    this.#sentBytesMin = worker.sentBytesMin;
    this.#workers = new SimWorkers(random.fork('workers'), clock, codecs, worker);
  }

  async pause(): Promise<void> {
    await this.#clock.sleep(this.#random.fraction() * 0.05);
  }

  async background(step: Step): Promise<void> {
    do await this.pause();
    while ((await step(this.#random.fraction() * 4)) === 'more');
  }

  isWorthSending(bytes: number): boolean {
    return bytes >= this.#sentBytesMin;
  }

  connect(): WorkerChannel {
    return this.#workers.connect();
  }
}

const host: Host = {
  pid: simPid,
  hostname: 'simulated',
  platform: 'linux',
  architecture: 'x64',
  release: '0',
  cpus: 1,
  memoryBytes: 2 ** 30,
  memoryLimitBytes: 2 ** 30,
  runtimeVersion: process.version,
  residentBytes: () => 2 ** 26,
  cpuMs: () => ({ user: 0, system: 0 }),
};

/** One simulated machine, from its start to its crash. */
export class SimEnv implements Env {
  readonly files: SimFiles;
  readonly clock: SimClock;
  readonly random: SimRandom;
  readonly tasks: Tasks;
  readonly codecs: Codecs;
  readonly host: Host = host;
  readonly trace: SimTrace;
  readonly seed: number;
  readonly #options: SimOptions;
  #crashes = 0;

  private constructor(options: SimOptions, codecs: Codecs, disk: SimDisk) {
    const root = new SimRandom(options.seed);
    this.#options = options;
    this.seed = options.seed;
    this.codecs = codecs;
    this.clock = new SimClock(root.fork('clock'));
    this.trace = new SimTrace(options.keepsTrace === true);
    this.random = root.fork('product');
    this.tasks = new SimTasks(this.clock, root.fork('tasks'), codecs, options.worker ?? { sentBytesMin: Infinity, dies: false });
    this.files = new SimFiles({
      disk,
      clock: this.clock,
      trace: this.trace,
      random: root.fork('files'),
      capacityBytes: options.capacityBytes ?? 2 ** 30,
    });
  }

  /** A machine with an empty disk. */
  static async create(options: SimOptions): Promise<SimEnv> {
    return new SimEnv(options, await loadCodecs(), new SimDisk());
  }

  /**
   * The machine of the next start. `power`: everything unsynced is at the mercy of the seed; this machine can go on, and be crashed again at
   * a later moment or under another seed. `process`: what was written stays, but is no safer than before; this machine is over. `worker`: that of the next.
   */
  crash(kind: 'power' | 'process' = 'power', seed: number = this.#nextSeed(), worker: SimWorkerOptions | undefined = this.#options.worker): SimEnv {
    const random = new SimRandom(seed);
    const disk = this.files.afterCrash(kind, random.fork('crash'));
    if (kind === 'process') this.files.turnOff();
    return new SimEnv({ ...this.#options, seed, ...(worker === undefined ? {} : { worker }) }, this.codecs, disk);
  }

  /**
   * Runs `main` and everything it started until it settles or the power goes; what it rejects with is thrown. Work that it left behind
   * stands still until the next `run`.
   */
  async run<T>(main: () => Promise<T>): Promise<SimResult<T>> {
    let outcome: { value: T } | { error: unknown } | undefined;
    void main().then(
      (value) => {
        outcome = { value };
      },
      (error: unknown) => {
        outcome = { error };
      },
    );
    await this.clock.drive(() => outcome !== undefined);
    if (this.files.isOff) return { ended: 'crashed' };
    if (outcome === undefined) return { ended: 'crashed' };
    if ('error' in outcome) throw outcome.error;
    return { ended: 'done', value: outcome.value };
  }

  #nextSeed(): number {
    this.#crashes++;
    return new SimRandom(this.seed).fork(`crash ${String(this.#crashes)}`).uint32();
  }
}
