// Scripts for law 23: a large value is written once, safe before the log names it, checked when it is read, and its space comes back.

import assert from 'node:assert/strict';
import type { DictionaryId, EngineOptions, Environment } from '../../src/engine/index.ts';
import type { SimEnv } from '../sim/sim-env.ts';
import { testFunctions, updateTable } from '../support/update-functions.ts';
import type { OpenEnvironment } from './history.ts';
import { codeOf, encode, MiB, put, withEngine } from './scenario-engine.ts';
import type { Scenario } from './scenario-engine.ts';

const threshold = 1000;
const options: Partial<EngineOptions> = {
  cacheBytes: MiB, frontBytes: 4000, bufferBytes: 4000, blobSegmentBytes: 30_000, checkpointPeriodMs: 1_000_000,
  dictionary: { compression: 'lz4', pageBytes: 4096, readPageBytes: 1024, fanout: 4, largeValueBytes: threshold },
};

/** Bytes that do not shrink, each number others. */
function noise(n: number, length: number): Uint8Array {
  let state = n * 2654435761 + 1;
  return Uint8Array.from({ length }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return state >>> 24;
  });
}

async function valueOf(engine: Environment, id: DictionaryId, key: string): Promise<Uint8Array | undefined> {
  const read = engine.begin('read');
  try {
    return await read.get(id, encode(key));
  } finally {
    read.abort();
  }
}

async function remove(engine: Environment, id: DictionaryId, key: string): Promise<void> {
  const transaction = engine.begin('statement');
  await transaction.remove(id, encode(key));
  await transaction.commit();
}

/** Sizes around the threshold and around a piece, that shrink and that do not: each comes back, from its transaction, from fronts, leaves and after a restart. */
async function sizes(open: OpenEnvironment): Promise<void> {
  const lengths = [0, threshold - 1, threshold, threshold + 1, 40_000, MiB - 1, MiB, MiB + 1, 2 * MiB + 17];
  const values = lengths.flatMap((length, i) => [[`noise ${length}`, noise(i, length)], [`zeros ${length}`, new Uint8Array(length).fill(7)]] as const);
  const check = async (engine: Environment, id: DictionaryId): Promise<void> => {
    const read = engine.begin('read');
    for (const [key, value] of values) assert.deepEqual(await read.get(id, encode(key)), value, key);
    const found = new Map<string, Uint8Array>();
    const cursor = read.cursor(id, {}, -1);
    for (let batch = await cursor.nextBatch({ rows: 5, bytes: MiB }); batch.length > 0; batch = await cursor.nextBatch({ rows: 5, bytes: MiB })) {
      for (let i = 0; i < batch.length; i++) found.set(new TextDecoder().decode(batch.key(i)), batch.value(i).slice());
    }
    for (const [key, value] of values) assert.deepEqual(found.get(key), value, key);
    read.abort();
    assert.deepEqual((await engine.verify()).problems, []);
  };
  const sim = await withEngine(open, { ...options, cacheBytes: 32 * MiB }, async (engine, id, machine) => {
    const transaction = engine.begin('statement');
    for (const [key, value] of values) await transaction.put(id, encode(key), value);
    for (const [key, value] of values) assert.deepEqual(await transaction.get(id, encode(key)), value, key);
    await transaction.commit();
    await check(engine, id);
    await machine.clock.sleep(20_000);
    const { rawBytes } = engine.dictionaryStatistics(id);
    const { blobBytesWritten, logBytesWritten, blobLiveBytes, blobBytesRead } = engine.statistics();
    assert.ok(rawBytes - blobLiveBytes < 10_000, `${rawBytes - blobLiveBytes} bytes in the tree`);
    const read = engine.begin('read');
    const keys = await read.cursor(id, {}, 1, true).nextBatch({ rows: 100, bytes: Infinity });
    assert.deepEqual(Array.from({ length: keys.length }, (_, i) => keys.valueLength?.(i)), values.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value.length));
    assert.equal(engine.statistics().blobBytesRead, blobBytesRead, 'who wants keys reads no value');
    read.abort();
    const large = lengths.filter((length) => length >= threshold).reduce((sum, length) => sum + length, 0);
    assert.ok(blobBytesWritten < large * 1.1, `${blobBytesWritten} bytes written for ${large} that do not shrink`);
    assert.equal(blobLiveBytes, blobBytesWritten);
    assert.ok(logBytesWritten < 100_000, `${logBytesWritten} bytes of log`);
    await check(engine, id);
  });
  await sim.run(async () => {
    const engine = await open(sim, '/data', options);
    await check(engine, 2 as DictionaryId);
    await engine.close();
  });
}

/** One flipped bit in a large value: `corruption` that names file, offset, dictionary and key; all others are there, and the engine goes on. */
async function damagedValue(open: OpenEnvironment): Promise<void> {
  await withEngine(open, { ...options, blobSegmentBytes: MiB }, async (engine, id, sim) => {
    for (let i = 0; i < 5; i++) await put(engine, id, `k${i}`, noise(i, 5000));
    const file = '/data/blob/0000000001.blob';
    const before = await sim.files.readAll(file);
    const body = before.findIndex((_, at) => noise(2, 40).every((byte, j) => before[at + j] === byte));
    for (const [offset, mask] of [[body + 3000, 4], [body - 1, 1], [body - 10, 64]] as const) {
      sim.files.corrupt(file, offset, mask);
      await assert.rejects(valueOf(engine, id, 'k2'), (error: { code?: string; place?: { file?: string; offset?: number; dictionary?: number; fromKey?: Uint8Array } }) => {
        assert.equal(error.code, 'corruption');
        assert.equal(error.place?.file, file);
        assert.ok(error.place.offset !== undefined && error.place.offset < offset);
        assert.equal(error.place.dictionary, id);
        assert.deepEqual(error.place.fromKey, encode('k2'));
        return true;
      });
      for (const i of [0, 1, 3, 4]) assert.deepEqual(await valueOf(engine, id, `k${i}`), noise(i, 5000));
      await engine.checkpoint();
      // No tree refers to it yet: the reference is in a front.
      assert.deepEqual((await engine.verify()).problems.map((problem) => [problem.file, problem.dictionary]), [[file, id]]);
      sim.files.corrupt(file, offset, mask);
    }
    sim.files.corrupt(file, body + 3000, 4);
    await sim.clock.sleep(3000);
    const { problems } = await engine.verify();
    assert.deepEqual(problems.map((problem) => [problem.file, problem.dictionary]), [[file, id]]);
    sim.files.corrupt(file, body + 3000, 4);
    await put(engine, id, 'after', 'small');
  });
}

/** A dictionary with so many small rows. */
async function filled(engine: Environment, rows: number): Promise<DictionaryId> {
  const transaction = engine.begin('statement');
  const id = transaction.createDictionary();
  transaction.count(id, rows, 0);
  for (let i = 0; i < rows; i++) await transaction.putCovered(id, encode(`row ${i}`), noise(i, 10));
  await transaction.commit();
  return id;
}

/** What is overwritten, deleted one by one, by range or with its dictionary gives its space back by itself, once nobody writes. */
async function spaceComesBack(open: OpenEnvironment): Promise<void> {
  await withEngine(open, options, async (engine, id, sim) => {
    const count = 60;
    const fill = async (round: number): Promise<void> => {
      for (let i = 0; i < count; i++) await put(engine, id, `k${i}`, noise(i + round * 100, 2000));
    };
    const live = count * 2080;
    const assertFiles = (most: number): void => {
      const { blobFileBytes, blobLiveBytes, freeableBytes } = engine.statistics();
      assert.ok(blobFileBytes <= most, `${blobFileBytes} bytes of files for ${blobLiveBytes}, at most ${most} wanted; ${freeableBytes} are freeable`);
    };
    // One row of a large dictionary is too few for its front to be flushed, and keeps the log from beginning behind it.
    const other = await filled(engine, 4000);
    await sim.clock.sleep(30_000);
    await put(engine, other, 'one more', noise(1, 10));
    for (let round = 0; round < 10; round++) await fill(round);
    await sim.clock.sleep(30_000);
    assertFiles(live * 1.5);
    for (let i = 0; i < count; i++) assert.deepEqual(await valueOf(engine, id, `k${i}`), noise(i + 900, 2000));
    // Scattered: what is left lies in every segment.
    for (let i = 0; i < count; i++) if (i % 10 !== 0) await remove(engine, id, `k${i}`);
    await sim.clock.sleep(30_000);
    assertFiles((live / 10) * 2);
    for (let i = 0; i < count; i++) assert.equal((await valueOf(engine, id, `k${i}`))?.length, i % 10 === 0 ? 2000 : undefined);
    await fill(11);
    const all = engine.begin('statement');
    await all.deleteRange(id, {}, 0, 0);
    await all.commit();
    await sim.clock.sleep(30_000);
    assertFiles(0);
    await fill(12);
    const drop = engine.begin('statement');
    drop.dropDictionary(id);
    await drop.commit();
    await sim.clock.sleep(30_000);
    assertFiles(0);
    assert.deepEqual(await sim.files.list('/data/blob'), []);
    assert.deepEqual((await engine.verify()).problems, []);
  });
}

/** What an aborted transaction has written, and what a crash cut off before its commit, is garbage, known at open and gone soon. */
async function uncommitted(open: OpenEnvironment): Promise<void> {
  const images: SimEnv[] = [];
  await withEngine(open, options, async (engine, id, machine) => {
    await put(engine, id, 'kept', noise(1, 5000));
    const aborted = engine.begin('statement');
    for (let i = 0; i < 10; i++) await aborted.put(id, encode(`a${i}`), noise(i, 5000));
    aborted.abort();
    await machine.clock.sleep(20_000);
    const { blobFileBytes } = engine.statistics();
    assert.ok(blobFileBytes < 12_000, `${blobFileBytes} bytes`);
    const open2 = engine.begin('statement');
    for (let i = 0; i < 10; i++) await open2.put(id, encode(`b${i}`), noise(i, 5000));
    images.push(machine.crash());
  });
  for (const crashed of images) await crashed.run(async () => {
    const engine = await open(crashed, '/data', options);
    const { blobLiveBytes, blobBytesRead } = engine.statistics();
    assert.ok(blobLiveBytes < 6000 && blobBytesRead === 0, `${blobLiveBytes} bytes live, ${blobBytesRead} read`);
    await crashed.clock.sleep(20_000);
    assert.ok(engine.statistics().blobFileBytes < 12_000);
    assert.deepEqual(await valueOf(engine, 2 as DictionaryId, 'kept'), noise(1, 5000));
    assert.equal(await valueOf(engine, 2 as DictionaryId, 'b1'), undefined);
    await engine.close();
  });
}

/** A segment stays while an open transaction has written into it, whatever else goes; and while a snapshot sees what is in it. */
async function heldSegments(open: OpenEnvironment): Promise<void> {
  await withEngine(open, options, async (engine, id, sim) => {
    const writer = engine.begin('statement');
    await writer.put(id, encode('slow'), noise(6, 9000));
    for (let round = 0; round < 6; round++) await put(engine, id, 'x', noise(round, 9000));
    await put(engine, id, 'old', noise(5, 9000));
    const reader = engine.begin('read');
    for (let round = 0; round < 6; round++) for (const key of ['old', 'x', 'y']) await put(engine, id, key, noise(round, 9000));
    for (let i = 0; i < 3; i++) await sim.clock.sleep(20_000).then(() => engine.checkpoint());
    assert.ok(engine.statistics().blobFileBytes < 110_000);
    await writer.commit();
    assert.deepEqual(await valueOf(engine, id, 'slow'), noise(6, 9000));
    assert.deepEqual(await reader.get(id, encode('old')), noise(5, 9000));
    reader.abort();
    await sim.clock.sleep(30_000);
    assert.deepEqual(await valueOf(engine, id, 'slow'), noise(6, 9000));
    assert.deepEqual((await engine.verify()).problems, []);
  });
}

/** A load with large values is there after a power failure, as soon as it was answered. */
async function loaded(open: OpenEnvironment): Promise<void> {
  const images: { readonly sim: SimEnv; readonly isDone: boolean }[] = [];
  await withEngine(open, options, async (engine, id, sim) => {
    let isDone = false;
    sim.files.onOperation = () => {
      if (isDone && images.length < 12) images.push({ sim: sim.crash(), isDone });
    };
    const load = engine.load(id);
    for (let i = 20; i > 0; i--) await load.add(encode(`k${String(i).padStart(3, '0')}`), noise(i, i % 2 === 0 ? 3000 : 100));
    await load.finish();
    isDone = true;
    for (let i = 0; i < 6; i++) await put(engine, id, 'other', 'v');
    sim.files.onOperation = undefined;
  });
  assert.ok(images.length > 5);
  for (const { sim } of images) {
    await sim.run(async () => {
      const engine = await open(sim, '/data', options);
      for (let i = 20; i > 0; i--) assert.deepEqual(await valueOf(engine, 2 as DictionaryId, `k${String(i).padStart(3, '0')}`), noise(i, i % 2 === 0 ? 3000 : 100));
      assert.deepEqual((await engine.verify()).problems, []);
      await engine.close();
    });
  }
}

/** A backup has the large values of every commit before it, while others go on and segments would go. */
async function backedUp(open: OpenEnvironment): Promise<void> {
  const sim = await withEngine(open, options, async (engine, id, machine) => {
    for (let i = 0; i < 20; i++) await put(engine, id, `k${i}`, noise(i, 3000));
    await machine.clock.sleep(5000);
    const backup = engine.backup('/copy');
    for (let i = 0; i < 20; i++) await put(engine, id, `k${i}`, noise(i + 50, 3000));
    await backup;
  });
  await sim.run(async () => {
    const engine = await open(sim, '/copy', options);
    for (let i = 0; i < 20; i++) {
      const value = await valueOf(engine, 2 as DictionaryId, `k${i}`);
      assert.ok([noise(i, 3000), noise(i + 50, 3000)].some((known) => Buffer.compare(known, value ?? known.subarray(1)) === 0), `k${i}`);
    }
    assert.deepEqual((await engine.verify()).problems, []);
    await engine.close();
  });
}

/** On a full disk a large put is refused before anything is logged, removals get through, and their space is used again. */
async function fullDisk(open: OpenEnvironment): Promise<void> {
  await withEngine(open, options, async (engine, id, sim) => {
    for (let i = 0; i < 40; i++) await put(engine, id, `k${i}`, noise(i, 5000));
    await sim.clock.sleep(5000);
    sim.files.setCapacity(0);
    const refused = engine.begin('statement');
    assert.equal(await codeOf(() => refused.put(id, encode('more'), noise(1, 5000))), 'no-space');
    refused.abort();
    for (let i = 0; i < 40; i++) assert.deepEqual(await valueOf(engine, id, `k${i}`), noise(i, 5000));
    for (let i = 0; i < 40; i++) if (i % 8 !== 0) await remove(engine, id, `k${i}`);
    sim.files.setCapacity(2 ** 30);
    await sim.clock.sleep(30_000);
    assert.ok(engine.statistics().blobFileBytes < 5 * 5100 * 2, `${engine.statistics().blobFileBytes} bytes of files`);
    await put(engine, id, 'more', noise(1, 5000));
    assert.deepEqual(await valueOf(engine, id, 'more'), noise(1, 5000));
    for (let i = 0; i < 40; i += 8) assert.deepEqual(await valueOf(engine, id, `k${i}`), noise(i, 5000));
  });
}

/** Rows whose updates remove them are known to be gone when their values are there: what the batch lacks then comes from behind. */
async function fullBatches(open: OpenEnvironment): Promise<void> {
  await withEngine(open, { ...options, updates: updateTable }, async (engine, id) => {
    for (let i = 0; i < 20; i++) await put(engine, id, `key ${String(i + 10)}`, noise(i, 1200));
    await engine.checkpoint();
    for (const i of [11, 12, 15, 21]) {
      const transaction = engine.begin('statement');
      await transaction.update(id, encode(`key ${String(i)}`), testFunctions.cap, Uint8Array.of(5));
      await transaction.commit();
    }
    const read = engine.begin('read');
    for (const direction of [1, -1] as const) {
      const cursor = read.cursor(id, {}, direction);
      const lengths: number[] = [];
      for (;;) {
        const { length } = await cursor.nextBatch({ rows: 7, bytes: MiB });
        if (length === 0) break;
        lengths.push(length);
      }
      assert.deepEqual(lengths, [7, 7, 2]);
    }
    read.abort();
  });
}

export const largeValueScenarios: Readonly<Record<string, Scenario>> = {
  'large values of any size come back as they were put': sizes,
  'a damaged large value is named and costs itself alone': damagedValue,
  'large values that are overwritten or deleted give their space back': spaceComesBack,
  'what is not committed of large values is garbage': uncommitted,
  'a segment stays while somebody may read it': heldSegments,
  'a load with large values outlives a power failure': loaded,
  'a backup has the large values': backedUp,
  'a full disk refuses large values and takes removals': fullDisk,
  'a batch is full though updates have removed rows of it': fullBatches,
};
