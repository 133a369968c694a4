// Steady writing on a machine that does not keep up: commits are slowed and never stopped, checkpoints come in their time, and what is owed
// (messages in fronts, nodes, log) stays bounded.

import assert from 'node:assert/strict';
import type { DictionaryId, EngineOptions, Transaction } from '../../src/engine/index.ts';
import { SimEnv } from '../sim/sim-env.ts';
import type { SimWorkerOptions } from '../sim/sim-worker.ts';
import { SimRandom } from '../sim/sim-random.ts';
import type { OpenEnvironment } from './history.ts';
import { encode, MiB, withEngine } from './scenario-engine.ts';
import type { Scenario } from './scenario-engine.ts';

const writers = 8;
const rowsPerCommit = 16;
const valueBytes = 100;

/** A machine on which something is slow. */
interface Slowness {
  readonly worker?: NonNullable<SimWorkerOptions['slow']>;
  readonly disk?: NonNullable<SimEnv['files']['slow']>;
}

/** What a run of writers met. */
interface Met {
  readonly commits: number;
  readonly longestGapMs: number;
  readonly longestWaitMs: number;
  readonly checkpoints: number;
  readonly frontBytes: number;
  readonly usedBytes: number;
  readonly logBytes: number;
}

const options: Partial<EngineOptions> = {
  cacheBytes: 2 * MiB, logBytes: MiB, logSegmentBytes: MiB / 4, checkpointPeriodMs: 2000,
  dictionary: { compression: 'none', pageBytes: 65_536, readPageBytes: 8192, fanout: 8 },
};

/** Writers that commit one after the other for so long. */
async function writeFor(open: OpenEnvironment, ms: number, { worker, disk }: Slowness): Promise<Met> {
  const sim = await SimEnv.create({ seed: 11, worker: { sentBytesMin: 0, dies: false, ...(worker === undefined ? {} : { slow: worker }) } });
  const random = new SimRandom(5);
  const met = { commits: 0, longestGapMs: 0, longestWaitMs: 0, checkpoints: 0, frontBytes: 0, usedBytes: 0, logBytes: 0 };
  await sim.run(async () => {
    const engine = await open(sim, '/data', options);
    sim.files.slow = disk;
    const id = engine.catalogDictionary;
    let last = sim.clock.time;
    const end = last + ms;
    const write = async (): Promise<void> => {
      while (sim.clock.time < end) {
        const begun = sim.clock.time;
        const transaction = engine.begin('statement');
        for (let i = 0; i < rowsPerCommit; i++) await transaction.putCovered(id, random.bytes(16), new Uint8Array(valueBytes));
        await transaction.commit();
        const now = sim.clock.time;
        const { frontBytes, cacheBytesUsed, logBytesOnDisk } = engine.statistics();
        met.commits += 1;
        met.longestWaitMs = Math.max(met.longestWaitMs, now - begun);
        met.longestGapMs = Math.max(met.longestGapMs, now - last);
        met.frontBytes = Math.max(met.frontBytes, frontBytes);
        met.usedBytes = Math.max(met.usedBytes, cacheBytesUsed);
        met.logBytes = Math.max(met.logBytes, logBytesOnDisk);
        last = now;
      }
    };
    await Promise.all(Array.from({ length: writers }, write));
    met.checkpoints = engine.statistics().checkpoints;
    sim.files.slow = undefined;
    await engine.close();
  });
  if (process.env['FROND_SHOW'] !== undefined) console.log(JSON.stringify(met));
  return met;
}

function assertSteady(met: Met, ms: number, { gapMs, waitMs }: { readonly gapMs: number; readonly waitMs: number }): void {
  assert.ok(met.longestGapMs < gapMs, `${String(met.longestGapMs)} ms without a commit`);
  assert.ok(met.longestWaitMs < waitMs, `a commit took ${String(met.longestWaitMs)} ms`);
  assert.ok(met.checkpoints >= ms / 2000 / 2, `${String(met.checkpoints)} checkpoints`);
  assert.ok(met.usedBytes < 2 * MiB * 1.1, `${String(met.usedBytes)} bytes of memory`);
  assert.ok(met.logBytes < MiB * 7, `${String(met.logBytes)} bytes of log`);
}

/** A worker that is always behind: some front is frozen at any time, and checkpoints come all the same. */
async function slowWorker(open: OpenEnvironment): Promise<void> {
  const ms = 6000;
  assertSteady(await writeFor(open, ms, { worker: () => 8 }), ms, { gapMs: 50, waitMs: 300 });
}

/** One that gets no processor for some seconds. */
async function starvedWorker(open: OpenEnvironment): Promise<void> {
  const ms = 8000;
  const slow = (now: number): number => (now > 3000 && now < 7000 ? 7000 - now : 5);
  assertSteady(await writeFor(open, ms, { worker: slow }), ms, { gapMs: 1000, waitMs: 3500 });
}

/** A data file that is written slowly, and synced very slowly. */
async function slowDisk(open: OpenEnvironment): Promise<void> {
  const ms = 12_000;
  const disk: Slowness['disk'] = (kind, path) => (path.endsWith('data.frond') ? { sync: 700, write: 15 }[kind as string] ?? 0 : 0);
  assertSteady(await writeFor(open, ms, { disk }), ms, { gapMs: 50, waitMs: 300 });
}

/** Keys in order, in a tree of several levels: each row is written above the leaf once, and every version is found. */
async function inOrder(open: OpenEnvironment): Promise<void> {
  const small: Partial<EngineOptions> = { frontBytes: 16_000, bufferBytes: 16_000, dictionary: { compression: 'none', pageBytes: 8192, readPageBytes: 2048, fanout: 4 } };
  await withEngine(open, small, async (engine, id, sim) => {
    const rows = 6000;
    const keyOf = (row: number): Uint8Array => encode(String(row).padStart(8, '0'));
    for (let row = 0; row < rows; row += 20) {
      const transaction = engine.begin('statement');
      for (let i = row; i < row + 20; i++) await transaction.putCovered(id, keyOf(i), new Uint8Array(valueBytes).fill(i));
      await transaction.commit();
    }
    await sim.clock.sleep(600);
    const { dataBytesWritten } = engine.statistics();
    assert.ok(engine.dictionaryStatistics(id).height >= 3, 'a tree of several levels');
    assert.ok(dataBytesWritten < rows * (valueBytes + 8) * 1.15, `${String(dataBytesWritten)} bytes written`);
    const read = engine.begin('read');
    for (let row = 0; row < rows; row++) assert.deepEqual(await read.get(id, keyOf(row)), new Uint8Array(valueBytes).fill(row));
    read.abort();
    assert.deepEqual((await engine.verify()).problems, []);
  });
}

/** Rows by key, and the round in which each was written last. */
type Rows = ReadonlyMap<string, number>;

async function assertRows(transaction: Transaction, id: DictionaryId, rows: Rows): Promise<void> {
  const cursor = transaction.cursor(id, {}, 1);
  const found: [string, number][] = [];
  for (let batch = await cursor.nextBatch(manyRows); batch.length > 0; batch = await cursor.nextBatch(manyRows)) {
    for (let i = 0; i < batch.length; i++) found.push([new TextDecoder().decode(batch.key(i)), batch.value(i)[0] as number]);
  }
  cursor.close();
  assert.deepEqual(found, [...rows].sort(([a], [b]) => (a < b ? -1 : 1)));
}

const manyRows = { rows: 1000, bytes: MiB };

/** Keys of one neighbourhood after the other, with what is older left on the way: each version is where it belongs, and a snapshot sees what it saw. */
async function byNeighbourhoods(open: OpenEnvironment): Promise<void> {
  const small: Partial<EngineOptions> = { frontBytes: 6000, bufferBytes: 1000, dictionary: { compression: 'none', pageBytes: 12_000, readPageBytes: 1024, fanout: 4 } };
  await withEngine(open, small, async (engine, id, sim) => {
    const places = 40;
    const latest = new Map<string, number>();
    const write = async (round: number, keys: readonly (readonly [place: number, row: number])[]): Promise<void> => {
      const transaction = engine.begin('statement');
      for (const [place, row] of keys) {
        const key = `${String(place).padStart(4, '0')}/${String(row).padStart(3, '0')}`;
        if ((row + round) % 5 === 0) await transaction.removeCovered(id, encode(key));
        else await transaction.putCovered(id, encode(key), new Uint8Array(valueBytes).fill(round));
        if ((row + round) % 5 === 0) latest.delete(key);
        else latest.set(key, round);
      }
      await transaction.commit();
    };
    // A little for everybody waits above the leaves, then comes much for one after the other; now and then with a key of another among it.
    const writeAll = async (round: number): Promise<void> => {
      await write(round, Array.from({ length: places * 2 }, (_, i) => [i >> 1, 70 + (i & 1)]));
      await sim.clock.sleep(200);
      for (let i = 0; i < places; i++) {
        const place = (i * 7) % places;
        const own = Array.from({ length: 60 }, (_, row) => [place, row] as const);
        await write(round + 100, i % 4 === 3 ? own.with(30, [(place + 20) % places, 80]) : own);
        await sim.clock.sleep(20);
      }
    };
    for (let round = 0; round < 4; round++) await writeAll(round);
    const before = new Map(latest);
    const snapshot = engine.begin('read');
    await writeAll(4);
    await assertRows(snapshot, id, before);
    snapshot.abort();
    const read = engine.begin('read');
    await assertRows(read, id, latest);
    read.abort();
    assert.ok(engine.dictionaryStatistics(id).height >= 2, 'a tree of some levels');
    assert.deepEqual((await engine.verify()).problems, []);
  });
}

/** By name, as planted breaks give them. */
export const steadyScenarios: Readonly<Record<string, Scenario>> = {
  'writers go on and checkpoints come while the worker is always behind': slowWorker,
  'writers go on while the worker gets no time': starvedWorker,
  'writers go on while the disk is slow': slowDisk,
  'keys that come in order are not written level by level': inOrder,
  'keys of one leaf go past the buffers, and what waits goes with them': byNeighbourhoods,
};
