// Write sets that spill into the data file (law 7): transactions many times the cache, their own reads and scans, marks, commits and crashes.

import assert from 'node:assert/strict';
import type { DictionaryId, EngineOptions, Environment, Transaction } from '../../src/engine/index.ts';
import { SimEnv } from '../sim/sim-env.ts';
import { allRows, hex } from './history.ts';
import type { OpenEnvironment } from './history.ts';
import { codeOf, encode, put, withEngine } from './scenario-engine.ts';

const keyOf = (i: number): Uint8Array => encode(`key ${String((i * 7919) % 100_003).padStart(6, '0')}`);
const small: Partial<EngineOptions> = { cacheBytes: 1024 * 1024, checkpointPeriodMs: 1_000_000, dictionary: { compression: 'lz4', pageBytes: 16_384, readPageBytes: 4096, fanout: 8 } };

async function rowsOf(transaction: Transaction, id: DictionaryId, direction: 1 | -1 = 1): Promise<string[]> {
  return allRows(transaction, id, direction);
}

const used = (engine: Environment): number => engine.statistics().dataFileBytes - engine.statistics().freeableBytes;

/** Ten times the cache in one transaction: memory is kept, own reads are right, the commit is one, and it is there after a crash. */
export async function spillMuch(open: OpenEnvironment): Promise<void> {
  const rows = 9000;
  const value = (i: number): Uint8Array => new Uint8Array(1100).fill(i);
  const check = async (transaction: Transaction, id: DictionaryId): Promise<void> => {
    for (let i = 0; i < rows; i += 371) assert.deepEqual(await transaction.get(id, keyOf(i)), i % 10 === 3 ? undefined : value(i % 10 === 4 ? i + 1 : i));
    assert.equal(transaction.totals(id).rows, rows * 0.9);
  };
  const sim = await withEngine(open, small, async (engine, id) => {
    const transaction = engine.begin('statement');
    for (let i = 0; i < rows; i++) {
      await transaction.put(id, keyOf(i), value(i));
      transaction.count(id, 1, 1100);
    }
    for (let i = 3; i < rows; i += 10) {
      await transaction.remove(id, keyOf(i));
      await transaction.put(id, keyOf(i + 1), value(i + 2));
      transaction.count(id, -1, -1100);
    }
    const { cacheBytesUsed } = engine.statistics();
    assert.ok(cacheBytesUsed < 1024 * 1024 * 1.5, `${cacheBytesUsed} bytes are held`);
    await check(transaction, id);
    assert.equal((await rowsOf(transaction, id)).length, rows * 0.9);
    const other = engine.begin('read');
    assert.equal((await rowsOf(other, id)).length, 0);
    const { logBytesWritten } = engine.statistics();
    await transaction.commit();
    assert.ok(engine.statistics().logBytesWritten - logBytesWritten < 100_000, 'what was spilled went through the log');
    assert.equal((await rowsOf(other, id)).length, 0);
    other.abort();
    const after = engine.begin('read');
    await check(after, id);
    after.abort();
  });
  const crashed = sim.crash();
  await crashed.run(async () => {
    const engine = await open(crashed, '/data', small);
    const read = engine.begin('read');
    await check(read, 2 as DictionaryId);
    const backwards = await rowsOf(read, 2 as DictionaryId, -1);
    assert.equal(backwards.length, rows * 0.9);
    read.abort();
    assert.deepEqual((await engine.verify()).problems, []);
    await engine.close();
  });
}

/** A mark takes back what was spilled after it, and a range delete hides what was spilled before it. */
export async function spilledMarks(open: OpenEnvironment): Promise<void> {
  await withEngine(open, { ...small, spillBytes: 1000 }, async (engine, id) => {
    await put(engine, id, 'old', 'old');
    const transaction = engine.begin('snapshot');
    const expected = new Map([[hex(encode('old')), hex(encode('old'))]]);
    const write = async (from: number, to: number, text: string, counts: boolean): Promise<void> => {
      for (let i = from; i < to; i++) {
        await transaction.put(id, keyOf(i), encode(text));
        if (counts) expected.set(hex(keyOf(i)), hex(encode(text)));
      }
    };
    const check = async (of: Transaction): Promise<void> => {
      const wanted = [...expected].map(([key, value]) => `${key}=${value}`).sort();
      assert.deepEqual(await rowsOf(of, id), wanted);
      assert.deepEqual(await rowsOf(of, id, -1), wanted.toReversed());
      for (let i = 0; i < 260; i += 13) {
        const found = await of.get(id, keyOf(i));
        assert.equal(found === undefined ? undefined : hex(found), expected.get(hex(keyOf(i))));
      }
    };
    await write(0, 100, 'first', true);
    const mark = transaction.mark();
    await write(50, 200, 'taken back', false);
    await transaction.remove(id, keyOf(7));
    transaction.rollbackTo(mark);
    await check(transaction);
    await write(90, 220, 'second', true);
    await check(transaction);
    const late = transaction.cursor(id, {}, 1);
    const before = transaction.mark();
    await transaction.deleteRange(id, { from: encode('key 03'), to: encode('key 06') }, 0, 0);
    await write(220, 240, 'third', false);
    transaction.rollbackTo(before);
    await transaction.deleteRange(id, { from: encode('key 05') }, 0, 0);
    for (const key of [...expected.keys()]) if (key >= hex(encode('key 05'))) expected.delete(key);
    await write(10, 40, 'fourth', true);
    await check(transaction);
    const seen: string[] = [];
    for (let batch = await late.nextBatch({ rows: 50, bytes: 100_000 }); batch.length > 0; batch = await late.nextBatch({ rows: 50, bytes: 100_000 })) {
      for (let i = 0; i < batch.length; i++) seen.push(Buffer.from(batch.value(i)).toString());
    }
    assert.equal(seen.length, 221, 'a scan sees the writes as they were when it began');
    assert.ok(!seen.includes('fourth') && !seen.includes('taken back'));
    await transaction.commit();
    const read = engine.begin('read');
    await check(read);
    read.abort();
  });
}

/** What is aborted, refused or cut off gives its space back. */
export async function spillGivenBack(open: OpenEnvironment): Promise<void> {
  await withEngine(open, { ...small, spillBytes: 4000 }, async (engine, id, sim) => {
    const before = used(engine);
    const fill = async (transaction: Transaction): Promise<void> => {
      for (let i = 0; i < 3000; i++) await transaction.put(id, keyOf(i), sim.random.bytes(100));
    };
    const aborted = engine.begin('statement');
    await fill(aborted);
    assert.ok(used(engine) > before + 200_000);
    aborted.abort();
    const refused = engine.begin('snapshot');
    await fill(refused);
    const drop = engine.begin('statement');
    drop.dropDictionary(id);
    await drop.commit();
    assert.equal(await codeOf(() => refused.commit()), 'write-conflict');
    await sim.clock.sleep(2000);
    await engine.checkpoint();
    await engine.checkpoint();
    assert.ok(used(engine) < before + 60_000, `${used(engine) - before} bytes more are in use`);
    assert.deepEqual((await engine.verify()).problems, []);
  });
}

/** Locks on keys become one on the dictionary: memory is kept, and others still meet them. */
export async function spilledLocks(open: OpenEnvironment): Promise<void> {
  await withEngine(open, { ...small, spillBytes: 20_000 }, async (engine, id) => {
    const old = engine.begin('snapshot');
    const transaction = engine.begin('statement');
    for (let i = 0; i < 5000; i++) await transaction.put(id, keyOf(i), encode('1'));
    const other = engine.begin('snapshot');
    assert.equal(await codeOf(() => other.put(id, keyOf(1), encode('2'))), 'write-conflict');
    other.abort();
    await transaction.commit();
    assert.equal(await codeOf(() => old.put(id, keyOf(2), encode('2'))), 'write-conflict');
    old.abort();
    await put(engine, id, 'free');
  });
}

/** A crash at any I/O of a spilled transaction and its commit leaves all of it or nothing. */
export async function spillCrashes(open: OpenEnvironment): Promise<void> {
  const options: Partial<EngineOptions> = { ...small, spillBytes: 6000, frontBytes: 3000, bufferBytes: 3000 };
  const sim = await SimEnv.create({ seed: 21 });
  const images: { readonly sim: SimEnv; readonly isCommitted: boolean }[] = [];
  let [isWriting, isCommitted, operation] = [false, false, 0];
  sim.files.onOperation = () => {
    operation += 1;
    if (isWriting && operation % 5 === 0) images.push({ sim: sim.crash(), isCommitted });
  };
  await sim.run(async () => {
    const engine = await open(sim, '/data', options);
    const first = engine.begin('statement');
    const id = first.createDictionary();
    await first.commit();
    await put(engine, id, 'before');
    isWriting = true;
    const transaction = engine.begin('statement');
    const made = transaction.createDictionary();
    await transaction.deleteRange(id, {}, 1, 1);
    for (let i = 0; i < 250; i++) {
      await transaction.put(id, keyOf(i), sim.random.bytes(60));
      await transaction.put(made, keyOf(i), encode('made'));
      transaction.count(id, 1, 60);
    }
    await transaction.commit();
    isCommitted = true;
    await put(engine, id, 'after');
    await sim.clock.sleep(1000);
    await engine.checkpoint();
    await put(engine, id, 'late');
    isWriting = false;
    await engine.close();
  });
  assert.ok(images.length > 20, `${images.length} images`);
  let [without, withIt] = [0, 0];
  for (const image of images) {
    await image.sim.run(async () => {
      const engine = await open(image.sim, '/data', options);
      const read = engine.begin('read');
      const rows = await rowsOf(read, 2 as DictionaryId);
      const keys = new Set(rows.map((row) => row.split('=')[0]));
      const has = (text: string): boolean => keys.has(hex(encode(text)));
      const count = rows.length - [has('before'), has('after'), has('late')].filter(Boolean).length;
      assert.ok(count === 0 || count === 250, `${count} rows of a transaction of 250`);
      assert.ok(count === 250 || !image.isCommitted, 'a commit that was acknowledged is gone');
      assert.equal(has('before'), count === 0);
      assert.equal(read.totals(2 as DictionaryId).rows, count === 0 ? 0 : 249);
      if (count === 250) assert.equal((await rowsOf(read, 3 as DictionaryId)).length, 250);
      else assert.equal(await codeOf(() => rowsOf(read, 3 as DictionaryId)), 'unknown-dictionary');
      if (count === 0) without += 1;
      else withIt += 1;
      read.abort();
      assert.deepEqual((await engine.verify()).problems, []);
      await engine.close();
      const again = await open(image.sim, '/data', options);
      assert.ok(again.statistics().dataFileBytes - again.statistics().freeableBytes < 200_000);
      await again.close();
    });
  }
  assert.ok(without > 0 && withIt > 0);
}
