// Scripts for range deletes (law 12): what they must cost, what they must not take, and whom they wait for.

import assert from 'node:assert/strict';
import type { DictionaryId, EngineOptions, Environment } from '../../src/engine/index.ts';
import type { SimEnv } from '../sim/sim-env.ts';
import { allRows } from './history.ts';
import type { OpenEnvironment } from './history.ts';
import { assertCode, codeOf, encode, put, withEngine } from './scenario-engine.ts';

/** Trees of three levels out of few rows. */
const small: Partial<EngineOptions> = {
  frontBytes: 4000, bufferBytes: 4000, checkpointPeriodMs: 1_000_000, dictionary: { compression: 'none', pageBytes: 2048, readPageBytes: 512, fanout: 4 },
};

/** Until the background has nothing to do. */
const idleMs = 30_000;

const keyOf = (i: number): Uint8Array => encode(`key ${String(i).padStart(6, '0')}`);

async function fill(engine: Environment, id: DictionaryId, rows: number): Promise<void> {
  for (let from = 0; from < rows; from += 100) {
    const transaction = engine.begin('statement');
    for (let i = from; i < from + 100; i++) await transaction.put(id, keyOf(i), encode('x'.repeat(60)));
    transaction.count(id, 100, 6000);
    await transaction.commit();
  }
}

async function deleteRange(engine: Environment, id: DictionaryId, [from, to]: readonly [number | undefined, number | undefined], rows: number): Promise<void> {
  const transaction = engine.begin('statement');
  await transaction.deleteRange(id, { ...(from === undefined ? {} : { from: keyOf(from) }), ...(to === undefined ? {} : { to: keyOf(to) }) }, rows, rows * 60);
  await transaction.commit();
}

async function firstKey(engine: Environment, id: DictionaryId, direction: 1 | -1 = 1): Promise<string | undefined> {
  const read = engine.begin('read');
  const batch = await read.cursor(id, {}, direction).nextBatch({ rows: 1, bytes: 1 });
  read.abort();
  return batch.length === 0 ? undefined : Buffer.from(batch.key(0)).toString();
}

/** Deleting everything reads no leaf, neither by itself nor in the read after it, and gives the space back. */
export async function deleteAllUnread(open: OpenEnvironment): Promise<void> {
  await withEngine(open, small, async (engine, id, sim) => {
    await fill(engine, id, 3000);
    await sim.clock.sleep(idleMs);
    await engine.checkpoint();
    const before = engine.statistics();
    assert.ok(engine.dictionaryStatistics(id).height >= 2);
    await deleteRange(engine, id, [undefined, undefined], 3000);
    assert.equal(await firstKey(engine, id), undefined);
    assert.equal(await firstKey(engine, id, -1), undefined);
    assert.equal(engine.statistics().dataBytesRead, before.dataBytesRead);
    await sim.clock.sleep(idleMs);
    const { leaves, height, rawBytes, rows } = engine.dictionaryStatistics(id);
    assert.deepEqual({ leaves, height, rawBytes, rows }, { leaves: 1, height: 0, rawBytes: 0, rows: 0 });
    // Node headers alone were read: a few hundred bytes a leaf, which has 2 KiB.
    assert.ok(engine.statistics().dataBytesRead - before.dataBytesRead < before.dataFileBytes / 3, 'leaves were read');
    await engine.checkpoint();
    await engine.checkpoint();
    const { dataFileBytes, freeableBytes } = engine.statistics();
    assert.ok(dataFileBytes - freeableBytes < before.dataFileBytes / 10, `${dataFileBytes - freeableBytes} bytes of ${before.dataFileBytes} are in use`);
    await put(engine, id, 'new');
    assert.equal(await firstKey(engine, id), 'new');
  });
}

/** A range in the middle frees the leaves and subtrees in it; what stands beside it stays, and the next reads do not walk through what is gone. */
export async function deletePart(open: OpenEnvironment): Promise<void> {
  await withEngine(open, small, async (engine, id, sim) => {
    await fill(engine, id, 3000);
    await sim.clock.sleep(idleMs);
    await engine.checkpoint();
    const { leaves } = engine.dictionaryStatistics(id);
    await deleteRange(engine, id, [500, 2500], 2000);
    const read = engine.begin('read');
    const cursor = read.cursor(id, { from: keyOf(499) }, 1);
    const { dataBytesRead } = engine.statistics();
    const batch = await cursor.nextBatch({ rows: 2, bytes: 1000 });
    assert.deepEqual([batch.key(0), batch.key(1)], [keyOf(499), keyOf(2500)]);
    assert.ok(engine.statistics().dataBytesRead - dataBytesRead < 40_000, 'a read walks through what is gone');
    read.abort();
    await sim.clock.sleep(idleMs);
    const after = engine.dictionaryStatistics(id);
    assert.ok(after.leaves < leaves / 2, `${after.leaves} of ${leaves} leaves are left`);
    assert.equal(after.rows, 1000);
    const all = engine.begin('read');
    assert.equal((await allRows(all, id, 1)).length, 1000);
    assert.equal((await allRows(all, id, -1)).length, 1000);
    all.abort();
  });
}

/** An open snapshot goes on seeing what was deleted; after its end the space comes back by itself. */
export async function deleteUnderReader(open: OpenEnvironment): Promise<void> {
  await withEngine(open, small, async (engine, id, sim) => {
    await fill(engine, id, 2000);
    await sim.clock.sleep(idleMs);
    const reader = engine.begin('read');
    await deleteRange(engine, id, [undefined, undefined], 2000);
    for (let i = 0; i < 50; i++) await put(engine, id, `new ${String(i).padStart(2, '0')}`, 'y'.repeat(200));
    await sim.clock.sleep(idleMs);
    assert.equal((await allRows(reader, id, 1)).length, 2000);
    assert.equal((await allRows(reader, id, -1)).length, 2000);
    assert.ok(engine.dictionaryStatistics(id).leaves > 50);
    assert.equal(await firstKey(engine, id), 'new 00');
    reader.abort();
    await sim.clock.sleep(idleMs);
    assert.ok(engine.dictionaryStatistics(id).leaves < 20, `${engine.dictionaryStatistics(id).leaves} leaves are left`);
    const read = engine.begin('read');
    assert.equal((await allRows(read, id, 1)).length, 50);
    read.abort();
  });
}

/** In a transaction that is older than the last commit a range delete removes what it sees, and nothing else. */
export async function deleteOlder(open: OpenEnvironment): Promise<void> {
  await withEngine(open, {}, async (engine, id) => {
    await put(engine, id, 'a');
    const old = engine.begin('snapshot');
    await put(engine, id, 'b');
    await old.deleteRange(id, {}, 1, 1);
    await old.commit();
    assert.equal(await firstKey(engine, id), 'b');
    const late = engine.begin('snapshot');
    await put(engine, id, 'b', 'changed');
    await assertCode(() => late.deleteRange(id, {}, 1, 1), 'write-conflict');
    late.abort();
  });
}

/** A statement waits for those who have written; those who come meanwhile wait for it; a snapshot has a conflict. */
export async function rangeLocks(open: OpenEnvironment): Promise<void> {
  await withEngine(open, { lockWaitMs: 500 }, async (engine, id, sim) => {
    const writer = engine.begin('statement');
    await writer.put(id, encode('m'), encode('1'));
    const range = engine.begin('statement');
    const locked = codeOf(() => range.lockRange(id, { from: encode('a'), to: encode('z') }));
    await sim.clock.sleep(1);
    const late = put(engine, id, 'late');
    await sim.clock.sleep(1);
    await writer.put(id, encode('n'), encode('1'));
    await writer.commit();
    assert.equal(await locked, 'none');
    const snapshot = engine.begin('snapshot');
    await assertCode(() => snapshot.put(id, encode('c'), encode('1')), 'write-conflict');
    await assertCode(() => snapshot.putCovered(id, encode('c'), encode('1')), 'write-conflict');
    await snapshot.put(id, encode('zz'), encode('outside'));
    await snapshot.commit();
    await range.deleteRange(id, { from: encode('a'), to: encode('z') }, 2, 2);
    await range.commit();
    await late;
    assert.equal(await firstKey(engine, id), 'late');
    assert.equal(await firstKey(engine, id, -1), 'zz');
    const holder = engine.begin('statement');
    await holder.lock(id, encode('m'));
    const waiting = engine.begin('statement');
    await assertCode(() => waiting.lockRange(id, {}), 'locked');
    waiting.abort();
    holder.abort();
    await put(engine, id, 'free again');
  });
}

/** A key that went with a range after the snapshot is a conflict, also one that was not there. */
export async function conflictWithRange(open: OpenEnvironment): Promise<void> {
  await withEngine(open, {}, async (engine, id) => {
    const old = engine.begin('snapshot');
    await deleteRange(engine, id, [0, 10], 0);
    await assertCode(() => old.put(id, keyOf(5), encode('1')), 'write-conflict');
    old.abort();
  });
}

/** What the same transaction puts behind its range delete stays, what it put before goes; at a restart too. */
export async function pointsBesideRange(open: OpenEnvironment): Promise<void> {
  const check = async (engine: Environment, id: DictionaryId): Promise<void> => {
    const read = engine.begin('read');
    assert.deepEqual(await allRows(read, id, 1), [`${Buffer.from('b').toString('hex')}=32`]);
    read.abort();
  };
  const act = async (engine: Environment, id: DictionaryId, sim: SimEnv): Promise<void> => {
    await put(engine, id, 'a');
    await put(engine, id, 'b');
    const transaction = engine.begin('statement');
    await transaction.put(id, encode('c'), encode('1'));
    await transaction.put(id, encode('b'), encode('1'));
    await transaction.deleteRange(id, {}, 3, 3);
    assert.equal(await transaction.get(id, encode('c')), undefined);
    await transaction.put(id, encode('b'), encode('2'));
    assert.equal((await allRows(transaction, id, 1)).length, 1);
    await transaction.commit();
    await check(engine, id);
    const crashed = sim.crash();
    await crashed.run(async () => {
      const again = await open(crashed, '/data', { cacheBytes: 1024 * 1024 });
      await check(again, id);
      await again.close();
    });
  };
  await withEngine(open, {}, act);
}
