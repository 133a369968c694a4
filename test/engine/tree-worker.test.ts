// The tree worker: a real thread that does merges, and one that is killed in the middle of them. What a killed worker had made is given back,
// the merge runs once more on a new one, and a second death in the same merge poisons (engine.md, law 19).

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { EngineError } from '../../src/base/errors.ts';
import { openEnvironment } from '../../src/engine/index.ts';
import type { EngineOptions, Environment } from '../../src/engine/index.ts';
import { openMemoryEnv } from '../../src/env/index.ts';
import type { Env, Tasks, WorkerChannel } from '../../src/env/index.ts';
import { SimEnv } from '../sim/sim-env.ts';
import { SimRandom } from '../sim/sim-random.ts';
import { SimWorkers } from '../sim/sim-worker.ts';
import { History } from './history.ts';
import type { OpenEnvironment } from './history.ts';
import { encode, withEngine } from './scenario-engine.ts';
import { runConcurrent, runImages } from './crash-history.ts';

const options: Partial<EngineOptions> = { cacheBytes: 8 * 1024 * 1024, frontBytes: 200_000, bufferBytes: 100_000, checkpointPeriodMs: 1e9 };

const key = (i: number): Uint8Array => new TextEncoder().encode(`key ${String((i * 7919) % 100_000).padStart(6, '0')}`);
const value = (i: number): Uint8Array => new TextEncoder().encode(`value ${String(i)} `.repeat(8));

const turn = async (): Promise<void> => {
  await new Promise((resolve) => setImmediate(resolve));
};

/** Puts entries [from, to), a hundred a commit. */
async function fill(engine: Environment, from: number, to: number, pause: () => Promise<void> = turn): Promise<void> {
  for (let i = from; i < to; i += 100) {
    const transaction = engine.begin('snapshot');
    for (let k = i; k < i + 100; k++) await transaction.put(engine.catalogDictionary, key(k), value(k));
    await transaction.commit();
    // Files in memory answer at once: the background would have no turn.
    await pause();
  }
}

async function assertFilled(engine: Environment, to: number): Promise<void> {
  const transaction = engine.begin('read');
  for (let i = 0; i < to; i += 97) assert.deepEqual(await transaction.get(engine.catalogDictionary, key(i)), value(i));
  transaction.abort();
  assert.deepEqual((await engine.verify()).problems, []);
}

/** A real thread whose messages are counted and which is killed before it gets message number `lives`. */
class MortalChannel implements WorkerChannel {
  cause: unknown;
  readonly #inner: WorkerChannel;
  readonly #kill: () => Promise<void>;
  #left: number;

  constructor(inner: WorkerChannel, lives: number, kill: () => Promise<void>) {
    this.#inner = inner;
    this.#left = lives;
    this.#kill = kill;
  }

  post(message: unknown): void {
    this.#inner.post(message);
    if (--this.#left === 0) void this.#kill();
  }

  receive(): Promise<unknown> {
    return this.#inner.receive();
  }

  close(): void {
    this.#inner.close();
  }
}

interface Mortal {
  readonly env: Env;
  readonly connections: () => number;
}

/** An environment whose n-th worker dies at its `deaths[n]`-th message. */
async function mortalEnv(deaths: readonly number[]): Promise<Mortal> {
  const env = await openMemoryEnv();
  let connections = 0;
  const tasks: Tasks = {
    pause: () => env.tasks.pause(),
    background: (step) => env.tasks.background(step),
    isWorthSending: (bytes) => bytes > 0,
    connect: (module) => {
      const lives = deaths[connections++] ?? Infinity;
      // A module of its own name is a thread of its own.
      const own = new URL(`${module.href}?${String(Math.random())}`);
      // Told after this turn of the event loop.
      let thread: Worker | undefined;
      process.once('worker', (started) => (thread = started));
      const inner = env.tasks.connect(own);
      return new MortalChannel(inner, lives, async () => {
        await turn();
        await thread?.terminate();
      });
    },
  };
  return { env: { ...env, tasks }, connections: () => connections };
}

test('merges of real size run in the worker, and what comes back is the tree', async () => {
  const env = await openMemoryEnv();
  const engine = await openEnvironment(env, '/data', options);
  await fill(engine, 0, 12_000);
  await engine.checkpoint();
  await assertFilled(engine, 12_000);
  assert.ok(engine.statistics().sentJobs > 0);
  assert.equal(engine.statistics().workerDeaths, 0);
  await engine.close();
});

test('a worker that is killed at any message loses nothing: its merge runs once more', async () => {
  for (let lives = 1; lives <= 4; lives++) {
    const { env, connections } = await mortalEnv([lives]);
    const engine = await openEnvironment(env, '/data', options);
    await fill(engine, 0, 6000);
    await engine.close();
    const again = await openEnvironment(env, '/data', options);
    await assertFilled(again, 6000);
    await again.close();
    assert.ok(connections() >= 2, `killed at message ${String(lives)}`);
  }
});

test('a worker that dies twice in one merge poisons, and opening again recovers', async () => {
  const { env } = await mortalEnv([1, 1]);
  const engine = await openEnvironment(env, '/data', options);
  // A commit that is slowed down does not keep a process alive.
  const alive = setInterval(() => undefined, 1000);
  await assert.rejects(fill(engine, 0, 30_000), (error: unknown) => error instanceof EngineError && error.code === 'poisoned');
  clearInterval(alive);
  assert.match((await engine.fatal).message, /died twice/);
  await engine.close();
  const again = await openEnvironment(env, '/data', options);
  await assertFilled(again, 100);
  await again.close();
});

test('a damaged basement that the worker finds is named, and ends nothing', async () => {
  const sim = await SimEnv.create({ seed: 5, worker: { sentBytesMin: 0, dies: false } });
  await sim.run(async () => {
    const engine = await openEnvironment(sim, '/data', { ...options, dictionary: { compression: 'none', pageBytes: 65_536, readPageBytes: 4096, fanout: 4 } });
    await fill(engine, 0, 3000, () => sim.tasks.pause());
    await engine.close();
    const file = await sim.files.open('/data/data.frond', 'write');
    const bytes = await sim.files.readAll('/data/data.frond');
    // A word of every leaf is overwritten.
    for (let at = 0; at < bytes.length; at++) if (bytes[at] === 0x76 && bytes[at + 1] === 0x61 && bytes[at + 2] === 0x6c) bytes[at] = 0x77;
    await file.write(bytes, 0);
    await file.close();
    const again = await openEnvironment(sim, '/data', options);
    await fill(again, 3000, 9000, () => sim.tasks.pause());
    await sim.clock.sleep(5000);
    assert.ok(again.statistics().sentJobs > 0);
    assert.equal(await Promise.race([again.fatal, sim.clock.sleep(1).then(() => undefined)]), undefined);
    const { problems } = await again.verify();
    assert.match(problems[0]?.message ?? '', /data\.frond: dictionary 1, block \d+: damaged basement/);
    const read = again.begin('read');
    for (let i = 3000; i < 9000; i += 97) assert.deepEqual(await read.get(again.catalogDictionary, key(i)), value(i));
    read.abort();
    await again.close();
  });
});

test('histories and crashes with a worker that dies give the answers of the model', async () => {
  const worker = { sentBytesMin: 0, dies: true };
  for (let seed = 901; seed <= 905; seed++) {
    const sim = await SimEnv.create({ seed, worker });
    const result = await sim.run(() => History.run(openEnvironment, sim, { seed, operations: 300 }));
    assert.equal(result.ended, 'done', `seed ${String(seed)}`);
  }
  for (let seed = 921; seed <= 923; seed++) await runConcurrent(openEnvironment, { seed, worker }, 40);
  for (let seed = 931; seed <= 931; seed++) await runImages(openEnvironment, { seed, worker }, 20, 20);
});

/** An environment that sends every merge to a worker in the simulator. */
const openSending: OpenEnvironment = (env, path, given) => {
  const workers = new SimWorkers(new SimRandom(7), env.clock, env.codecs, { sentBytesMin: 0, dies: false });
  const tasks: Tasks = { pause: () => env.tasks.pause(), background: (step) => env.tasks.background(step), isWorthSending: () => true, connect: () => workers.connect() };
  return openEnvironment({ ...env, tasks }, path, given);
};

test('a load whose merges read chains of extents is the same through a worker', async () => {
  const count = 30_000;
  const row = (i: number): Uint8Array => encode(`row ${String((i * 7919) % count).padStart(6, '0')}`);
  await withEngine(openSending, { dictionary: { compression: 'lz4', pageBytes: 32_768, readPageBytes: 4096, fanout: 8 } }, async (engine, id) => {
    const load = engine.load(id);
    for (let i = 0; i < count; i++) await load.add(row(i), value(i));
    assert.equal((await load.finish()).rows, count);
    const read = engine.begin('read');
    for (let i = 0; i < count; i += 131) assert.deepEqual(await read.get(id, row(i)), value(i));
    read.abort();
    assert.deepEqual((await engine.verify()).problems, []);
  });
});

test('runs of several extents that a transaction has spilled are merged by the worker as one', async () => {
  const env = await openMemoryEnv();
  const engine = await openEnvironment(env, '/data', { ...options, spillBytes: 300_000 });
  const transaction = engine.begin('statement');
  const random = (i: number): Uint8Array => Uint8Array.from({ length: 200 }, (_, k) => (i * 7919 + k * k * 31 + ((i * k) >> 3)) & 255);
  for (let i = 0; i < 30_000; i++) await transaction.put(engine.catalogDictionary, key(i), random(i));
  await transaction.commit();
  const read = engine.begin('read');
  for (let i = 0; i < 30_000; i += 331) assert.deepEqual(await read.get(engine.catalogDictionary, key(i)), random(i));
  read.abort();
  assert.ok(engine.statistics().sentJobs > 0, 'nothing went through the worker');
  assert.deepEqual((await engine.verify()).problems, []);
  await engine.close();
});
