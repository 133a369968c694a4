// Scripts for the laws of space: what is deleted, overwritten or dropped makes the file shorter by itself, once nobody writes.

import assert from 'node:assert/strict';
import type { DictionaryId, EngineOptions, Environment } from '../../src/engine/index.ts';
import type { OpenEnvironment } from './history.ts';
import { encode, MiB, withEngine } from './scenario-engine.ts';
import type { Scenario } from './scenario-engine.ts';

const rows = 3000;
const valueBytes = 400;
const options: Partial<EngineOptions> = {
  cacheBytes: 2 * MiB, frontBytes: 20_000, bufferBytes: 30_000, dictionary: { compression: 'none', pageBytes: 32_768, readPageBytes: 4096, fanout: 16 },
};

const keyOf = (n: number): Uint8Array => encode(String((n * 7919) % 100_003).padStart(6, '0'));

/** Does something to every row, fifty a commit, in random order. */
async function each(engine: Environment, act: (transaction: ReturnType<Environment['begin']>, n: number) => unknown): Promise<void> {
  for (let n = 0; n < rows; ) {
    const transaction = engine.begin('statement');
    for (const end = n + 50; n < end; n++) await act(transaction, n);
    await transaction.commit();
  }
}

async function load(engine: Environment, id: DictionaryId, round: number): Promise<void> {
  await each(engine, (transaction, n) => {
    if (round === 0) transaction.count(id, 1, valueBytes);
    return transaction.putCovered(id, keyOf(n), new Uint8Array(valueBytes).fill(n + round));
  });
}

/** Space that the engine keeps for a full disk and for superblocks, whatever it holds, and what the header of a small leaf takes, twice. */
const kept = 700_000;
const headerBytes = 2 * 4096;

/** After deleting nine rows of ten and some idle time the file is no longer than twice what is left; the tree has shrunk too, and is whole. */
async function deletedRows(open: OpenEnvironment): Promise<void> {
  await withEngine(open, options, async (engine, id, sim) => {
    await load(engine, id, 0);
    await sim.clock.sleep(20_000);
    const before = engine.dictionaryStatistics(id);
    await each(engine, async (transaction, n) => {
      if (n % 10 === 0) return;
      await transaction.removeCovered(id, keyOf(n));
      transaction.count(id, -1, -valueBytes);
    });
    await sim.clock.sleep(20_000);
    const after = engine.dictionaryStatistics(id);
    const live = (rows / 10) * (valueBytes + 6);
    assert.ok(after.diskBytes < live * 1.5, `${after.diskBytes} bytes for ${live} of live rows`);
    assert.ok(after.leaves * 4 < before.leaves && after.height < before.height, `${before.leaves} leaves became ${after.leaves}, height ${before.height} ${after.height}`);
    assert.ok(engine.statistics().dataFileBytes < live * 2 + kept, `a file of ${engine.statistics().dataFileBytes} bytes for ${live} of live rows`);
    const read = engine.begin('read');
    for (let n = 0; n < rows; n++) assert.equal((await read.get(id, keyOf(n)))?.length, n % 10 === 0 ? valueBytes : undefined);
    read.abort();
    assert.deepEqual((await engine.verify()).problems, []);
  });
}

/** Law 15: where full leaves in which a few changes wait lie beside emptied ones, joining them keeps the changes. */
async function joinedNeighbours(open: OpenEnvironment): Promise<void> {
  await withEngine(open, options, async (engine, id, sim) => {
    await load(engine, id, 0);
    await sim.clock.sleep(20_000);
    const isEmptied = (n: number): boolean => Math.floor(((n * 7919) % 100_003) / 9000) % 2 === 1;
    const lengthOf = (n: number): number | undefined => {
      if (isEmptied(n)) return n % 20 === 0 ? valueBytes : undefined;
      if (n % 5 > 1) return undefined;
      return n % 40 === 0 ? 77 : valueBytes;
    };
    await each(engine, (transaction, n) => (lengthOf(n) === undefined && !isEmptied(n) ? transaction.removeCovered(id, keyOf(n)) : undefined));
    await sim.clock.sleep(20_000);
    await each(engine, (transaction, n) => {
      const length = lengthOf(n);
      if (length === undefined) return isEmptied(n) ? transaction.removeCovered(id, keyOf(n)) : undefined;
      return length === valueBytes ? undefined : transaction.putCovered(id, keyOf(n), new Uint8Array(length));
    });
    await sim.clock.sleep(20_000);
    const read = engine.begin('read');
    for (let n = 0; n < rows; n++) assert.equal((await read.get(id, keyOf(n)))?.length, lengthOf(n), `row ${n}`);
    read.abort();
    assert.deepEqual((await engine.verify()).problems, []);
  });
}

/** Rows that are written again and again leave the file as long as rows that are written once. */
async function overwrittenRows(open: OpenEnvironment): Promise<void> {
  await withEngine(open, options, async (engine, id, sim) => {
    for (let round = 0; round < 6; round++) await load(engine, id, round);
    await sim.clock.sleep(20_000);
    const live = rows * (valueBytes + 6);
    const { dataFileBytes } = engine.statistics();
    // Live rows, what is kept, and gaps of up to a quarter of all that; without using space again it would be six times the rows.
    assert.ok(dataFileBytes < live * 1.9 + kept + engine.dictionaryStatistics(id).leaves * headerBytes * 1.5, `a file of ${dataFileBytes} bytes for ${live} of live rows`);
    // What is tidy stays as it is: idle time writes nothing more.
    const written = engine.statistics().dataBytesWritten;
    await sim.clock.sleep(20_000);
    assert.equal(engine.statistics().dataBytesWritten, written);
    assert.deepEqual((await engine.verify()).problems, []);
  });
}

/** A dropped dictionary makes the file shorter by what it held. */
async function droppedRows(open: OpenEnvironment): Promise<void> {
  await withEngine(open, options, async (engine, id, sim) => {
    await load(engine, id, 0);
    await sim.clock.sleep(20_000);
    const before = engine.statistics().dataFileBytes;
    const transaction = engine.begin('statement');
    transaction.dropDictionary(id);
    await transaction.commit();
    await sim.clock.sleep(20_000);
    const after = engine.statistics().dataFileBytes;
    assert.ok(after < kept && before > after + rows * valueBytes * 0.9, `a file of ${before} bytes became ${after}`);
  });
}

/** Thousands of dictionaries with a few rows each: their fronts together fill the budget, and no writer waits for ever. */
async function manySmallFronts(open: OpenEnvironment): Promise<void> {
  await withEngine(open, { cacheBytes: MiB }, async (engine) => {
    const ids: DictionaryId[] = [];
    while (ids.length < 2000) {
      const transaction = engine.begin('statement');
      for (let i = 0; i < 100; i++) {
        const made = transaction.createDictionary();
        ids.push(made);
        await transaction.putCovered(made, keyOf(1), encode(String(made)));
      }
      await transaction.commit();
    }
    const read = engine.begin('read');
    for (const id of ids) assert.deepEqual(await read.get(id, keyOf(1)), encode(String(id)));
    read.abort();
    assert.ok(engine.statistics().frontBytes < MiB / 2);
  });
}

export const spaceScenarios: Readonly<Record<string, Scenario>> = {
  'deleting most rows makes tree and file small by itself': deletedRows,
  'joining neighbours keeps what waits for them': joinedNeighbours,
  'rows that are overwritten leave the file as it was': overwrittenRows,
  'the fronts of many small dictionaries make room': manySmallFronts,
  'a dropped dictionary makes the file shorter': droppedRows,
};
