// A workload of overlapping commits on the simulated machine, and a ledger of what was acknowledged. At any I/O the power may go: what the
// next start finds must be exactly the commits up to some seq, every acknowledged one among them, and files without a fault.

import assert from 'node:assert/strict';
import { openEnvironment } from '../../src/engine/index.ts';
import type { DictionaryId, EngineOptions, Environment, Seq } from '../../src/engine/index.ts';
import { SimEnv } from '../sim/sim-env.ts';
import { SimRandom } from '../sim/sim-random.ts';
import { allRows, hex, smallOptions } from './history.ts';

type Writes = ReadonlyMap<string, Uint8Array | undefined>;

interface Commit {
  readonly writes: Writes;
  /** Unknown until it is acknowledged. */
  seq: Seq | undefined;
}

/** The machine at one moment, with what had been acknowledged by then. */
export interface CrashImage {
  readonly sim: SimEnv;
  readonly ackedSeq: number;
  readonly operation: number;
}

/** What a workload left for its images to be judged by. */
export class Ledger {
  readonly options: Partial<EngineOptions>;
  readonly commits: Commit[] = [];
  dictionary: DictionaryId | undefined;
  /** Newest seq that was acknowledged with everything before it. */
  ackedSeq: number = 0;

  constructor(options: Partial<EngineOptions>) {
    this.options = options;
  }

  /** Under delayed durability the newest acknowledged commits may go; never in their middle. */
  get isDurable(): boolean {
    return this.options.durability === 'sync';
  }

  /** The rows after all commits with a seq of at most `seq`, as allRows gives them. */
  rowsAt(seq: number): string[] {
    const rows = new Map<string, Uint8Array>();
    const known = this.commits.filter((commit) => commit.seq !== undefined && commit.seq <= seq);
    known.sort((a, b) => Number(a.seq) - Number(b.seq));
    for (const commit of known) {
      for (const [key, value] of commit.writes) {
        if (value === undefined) rows.delete(key);
        else rows.set(key, value);
      }
    }
    return [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, value]) => `${key}=${hex(value)}`);
  }
}

const encoder = new TextEncoder();

/** Writers that overlap; each round waits for all of its commits. */
class Workload {
  readonly #sim: SimEnv;
  readonly #random: SimRandom;
  readonly #ledger: Ledger;
  readonly #engine: Environment;

  constructor(sim: SimEnv, random: SimRandom, ledger: Ledger, engine: Environment) {
    this.#sim = sim;
    this.#random = random;
    this.#ledger = ledger;
    this.#engine = engine;
  }

  async run(rounds: number): Promise<void> {
    const first = this.#engine.begin('statement');
    const dictionary = first.createDictionary();
    await first.commit();
    this.#ledger.dictionary = dictionary;
    for (let round = 0; round < rounds; round++) {
      const writers = 1 + this.#random.below(5);
      await Promise.all(Array.from({ length: writers }, (_, writer) => this.#commit(dictionary, round, writer)));
      if (this.#random.fraction() < 0.1) await this.#engine.checkpoint();
      if (this.#random.fraction() < 0.2) await this.#sim.clock.sleep(this.#random.below(20));
    }
  }

  /** One transaction; writers of a round keep to keys of their own, so that none waits for another. */
  async #commit(dictionary: DictionaryId, round: number, writer: number): Promise<void> {
    const transaction = this.#engine.begin('statement');
    const writes = new Map<string, Uint8Array | undefined>();
    const count = 1 + this.#random.below(12);
    for (let i = 0; i < count; i++) {
      const key = encoder.encode(`${writer}/${this.#random.below(60)}`);
      const value = this.#random.fraction() < 0.25 ? undefined : encoder.encode(`${round}.${writer}.${i}`.padEnd(this.#random.below(200), '.'));
      writes.set(hex(key), value);
      if (value === undefined) await transaction.remove(dictionary, key);
      else await transaction.put(dictionary, key, value);
    }
    const commit: Commit = { writes, seq: undefined };
    this.#ledger.commits.push(commit);
    commit.seq = await transaction.commit();
    this.#ledger.ackedSeq = Math.max(this.#ledger.ackedSeq, commit.seq);
  }
}

/** Runs a workload and takes an image at about every `stride`-th changing I/O. */
export async function crashImages(seed: number, rounds: number, stride: number): Promise<{ ledger: Ledger; images: CrashImage[] }> {
  const sim = await SimEnv.create({ seed });
  const random = new SimRandom(seed).fork('workload');
  const ledger = new Ledger(smallOptions(random));
  const images: CrashImage[] = [];
  let operation = 0;
  sim.files.onOperation = () => {
    operation += 1;
    if (random.below(stride) === 0) images.push({ sim: sim.crash(), ackedSeq: ledger.ackedSeq, operation });
  };
  await sim.run(async () => {
    const engine = await openEnvironment(sim, '/data', ledger.options);
    await new Workload(sim, random, ledger, engine).run(rounds);
    await engine.close();
  });
  return { ledger, images };
}

/** Starts the machine of an image and judges what it finds; then works on, closes, and starts once more. */
export async function judge(ledger: Ledger, image: CrashImage): Promise<void> {
  await image.sim.run(async () => {
    const engine = await openEnvironment(image.sim, '/data', ledger.options);
    const found = engine.visible;
    if (ledger.isDurable) assert.ok(found >= image.ackedSeq, `seq ${image.ackedSeq} was acknowledged, ${found} is there`);
    const { dictionary } = ledger;
    assert.deepEqual((await engine.verify()).problems, []);
    if (dictionary !== undefined && engine.visible >= 1) {
      await compare(engine, dictionary, ledger.rowsAt(found));
      const transaction = engine.begin('statement');
      await transaction.put(dictionary, encoder.encode('after'), encoder.encode('the crash'));
      await transaction.commit();
    }
    await engine.close();
    const again = await openEnvironment(image.sim, '/data', ledger.options);
    if (dictionary !== undefined && found >= 1) {
      await compare(again, dictionary, [...ledger.rowsAt(found), `${hex(encoder.encode('after'))}=${hex(encoder.encode('the crash'))}`]);
    }
    assert.deepEqual((await again.verify()).problems, []);
    await again.close();
  });
}

async function compare(engine: Environment, dictionary: DictionaryId, rows: readonly string[]): Promise<void> {
  const read = engine.begin('read');
  assert.deepEqual(await allRows(read, dictionary, 1), rows);
  read.abort();
}
