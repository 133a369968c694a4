// Scripts for the laws of reading: what a key that is not there costs, and what stays in memory.

import assert from 'node:assert/strict';
import type { DictionaryId, EngineOptions, Environment, Transaction } from '../../src/engine/index.ts';
import type { OpenEnvironment } from './history.ts';
import { encode, MiB, withEngine } from './scenario-engine.ts';
import type { Scenario } from './scenario-engine.ts';

/** Rows far beyond the cache, in an order that leaves runs on the way to every leaf. */
async function fill(engine: Environment, id: DictionaryId, rows: number): Promise<void> {
  for (let i = 0; i < rows; ) {
    const transaction = engine.begin('statement');
    for (const end = Math.min(rows, i + 50); i < end; i++) await transaction.putCovered(id, encode(`${(i * 7919) % 100_003}`), new Uint8Array(700).fill(i));
    await transaction.commit();
  }
}

/** Bytes read from the data file for each of `keys`. */
async function bytesRead(engine: Environment, read: Transaction, id: DictionaryId, keys: readonly string[]): Promise<number> {
  const before = engine.statistics().dataBytesRead;
  for (const key of keys) assert.equal(await read.get(id, encode(key)), undefined);
  return (engine.statistics().dataBytesRead - before) / keys.length;
}

const absent = (count: number, salt: number): string[] => Array.from({ length: count }, (_, i) => `${(i * 7919 + salt) % 100_003}-absent`);

/** Law 28: a key that is not there costs no block, for filters stay when all data goes; beside them only nodes do. */
async function absentKeys(open: OpenEnvironment): Promise<void> {
  const options: Partial<EngineOptions> = { cacheBytes: 2 * MiB, dictionary: { compression: 'none', pageBytes: 100_000, readPageBytes: 4096, fanout: 8 } };
  await withEngine(open, options, async (engine, id, sim) => {
    await fill(engine, id, 8000);
    await sim.clock.sleep(60_000);
    await engine.checkpoint();
    const read = engine.begin('read');
    await bytesRead(engine, read, id, absent(1500, 1));
    for (const direction of [1, -1, 1, -1] as const) {
      const cursor = read.cursor(id, {}, direction);
      while ((await cursor.nextBatch({ rows: 500, bytes: MiB })).length > 0);
    }
    // Scans displace nothing: gets of rows that are there do, and those of one part of the tree leave the filters of the other unused.
    const here = Array.from({ length: 8000 }, (_, i) => `${(i * 7919) % 100_003}`).filter((key) => key < '7');
    for (const key of here) assert.ok((await read.get(id, encode(key))) !== undefined);
    // Few keys: reading the filters again would show.
    const each = await bytesRead(engine, read, id, absent(40, 5));
    assert.ok(each < 100, `${each} bytes for each key that is not there`);
    read.abort();
  });
}

/** Law 28: where filters do not fit, a key that is not there costs a small read for each extent on its way, and no basement. */
async function absentKeysWithoutRoom(open: OpenEnvironment): Promise<void> {
  const options: Partial<EngineOptions> = { cacheBytes: MiB, dictionary: { compression: 'none', pageBytes: 200_000, readPageBytes: 65_536, fanout: 8 } };
  await withEngine(open, options, async (engine, id, sim) => {
    await fill(engine, id, 8000);
    await sim.clock.sleep(60_000);
    await engine.checkpoint();
    // Others hold the memory: what is left to the cache is an eighth, which one basement of two takes.
    const other = engine.begin('statement');
    for (let i = 0; i < 12; i++) await other.putCovered(id, encode(`other ${i}`), new Uint8Array(80_000));
    const read = engine.begin('read');
    const each = await bytesRead(engine, read, id, absent(400, 3));
    assert.ok(each < 10_000, `${each} bytes for each key that is not there`);
    read.abort();
    other.abort();
  });
}

/** Runs that wait in the nodes of a tree. */
async function waiting(engine: Environment, id: DictionaryId): Promise<number> {
  return (await engine.treeLevels(id)).filter(({ kind }) => kind === 'nodes').reduce((sum, { runs }) => sum + runs, 0);
}

/** Laws 10 and 11: what reads have paid for is merged into one run in its place, with every version that a snapshot sees; what nobody reads is left. */
async function readsThatPay(open: OpenEnvironment): Promise<void> {
  const options: Partial<EngineOptions> = { cacheBytes: 4 * MiB, frontBytes: 8000, bufferBytes: MiB, dictionary: { compression: 'none', pageBytes: 10_000, readPageBytes: 2048, fanout: 8 } };
  await withEngine(open, options, async (engine, id, sim) => {
    const value = (i: number, version: number): Uint8Array => new Uint8Array(100).fill((i + version) & 0xff);
    const write = async (version: number, rows: number): Promise<void> => {
      for (let i = 0; i < rows; ) {
        const transaction = engine.begin('statement');
        for (const end = i + 50; i < end; i++) await transaction.putCovered(id, encode(`${(i * 7919) % 1500}`), value((i * 7919) % 1500, version));
        await transaction.commit();
      }
    };
    await write(1, 1500);
    await sim.clock.sleep(200);
    const old = engine.begin('read');
    await write(2, 750);
    await sim.clock.sleep(200);
    const before = await waiting(engine, id);
    assert.ok(before > 10, `${before} runs wait`);
    const changed = new Set(Array.from({ length: 750 }, (_, i) => (i * 7919) % 1500));
    const now = (i: number): Uint8Array => value(i, changed.has(i) ? 2 : 1);
    const read = engine.begin('read');
    for (let round = 0; round < 20; round++) {
      for (let i = 0; i < 1500; i += 3) assert.deepEqual(await read.get(id, encode(`${i}`)), now(i));
      await sim.clock.sleep(5);
    }
    const after = await waiting(engine, id);
    assert.ok(after <= 4, `${after} runs wait, ${before} did`);
    for (let i = 0; i < 1500; i++) {
      assert.deepEqual(await old.get(id, encode(`${i}`)), value(i, 1));
      assert.deepEqual(await read.get(id, encode(`${i}`)), now(i));
    }
    old.abort();
    read.abort();
  });
}

export const readScenarios: Readonly<Record<string, Scenario>> = {
  'a key that is not there costs no block while filters fit': absentKeys,
  'a key that is not there costs small reads where filters do not fit': absentKeysWithoutRoom,
  'reads that pay have the runs that they look into merged': readsThatPay,
};
