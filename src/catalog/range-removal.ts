// Removing all documents of a range of record keys with one message a dictionary (law 12). The range is locked in the collection, and all
// of each index, before anything is counted, so the number that is answered is exact. Of a part of a collection only where no index needs the
// documents; of all of it with the indexes.

import { AssertionError } from '../base/errors.ts';
import type { DictionaryId, Environment, KeyRange, Soon, Totals, Transaction } from '../engine/index.ts';
import type { StoredCollection } from './stored-collection.ts';
import type { StoredTransaction } from './transaction.ts';

const batchLimit = { rows: 4096, bytes: 1 << 20 };

/** Whether the documents of a range can go without being looked at. */
export function canRemoveRange(collection: StoredCollection, range: KeyRange): boolean {
  if (collection.options.capped !== undefined || collection.partitions !== undefined || collection.kept !== collection.secondaries) return false;
  return isEverything(range) || collection.secondaries.length === 0;
}

/** What is to be removed. */
interface RangeRemoval {
  readonly collection: StoredCollection;
  readonly range: KeyRange;
  readonly engine: Environment;
  readonly checkInterrupt: () => Soon<void>;
}

/** Removes them with the commit; how many they are. EngineError `locked` or `write-conflict`: others are writing to the collection. */
export async function removeRange(txn: StoredTransaction, work: RangeRemoval): Promise<number> {
  const { collection, range } = work;
  if (txn.mode !== 'statement' || !canRemoveRange(collection, range)) throw new AssertionError('a statement removes a range that it may remove');
  await txn.willWrite(collection);
  const dictionaries = [collection.dictionary, ...collection.secondaries.map(({ dictionary }) => dictionary)];
  for (const dictionary of dictionaries) await txn.engine.lockRange(dictionary, range);
  // What is there now, under the locks.
  const reader = work.engine.begin('read');
  try {
    let removed = 0;
    const noted = txn.logs(collection.ns.db) ? await noteEach(txn, reader, work) : undefined;
    for (const dictionary of dictionaries) {
      const gone = dictionary === collection.dictionary && noted !== undefined ? noted : isEverything(range) ? reader.totals(dictionary) : await countRange(reader, dictionary, work);
      if (dictionary === collection.dictionary) removed = gone.rows;
      await txn.engine.deleteRange(dictionary, range, gone.rows, gone.bytes);
    }
    return removed;
  } finally {
    reader.abort();
  }
}

/** Notes the removal of each document, for the log tells of each: in order, and out of memory as they become many. */
async function noteEach(txn: StoredTransaction, reader: Transaction, { collection, range, checkInterrupt }: RangeRemoval): Promise<Totals> {
  const cursor = reader.cursor(collection.dictionary, range, 1);
  let [rows, bytes] = [0, 0];
  try {
    for (let batch = await cursor.nextBatch(batchLimit); batch.length > 0; batch = await cursor.nextBatch(batchLimit)) {
      await checkInterrupt();
      rows += batch.length;
      for (let i = 0; i < batch.length; i++) {
        const value = batch.value(i);
        bytes += value.length;
        collection.noteGone(txn, value);
      }
      await txn.willWrite(collection);
    }
  } finally {
    cursor.close();
  }
  return { rows, bytes };
}

async function countRange(reader: Transaction, id: DictionaryId, { range, checkInterrupt }: { range: KeyRange; checkInterrupt: () => Soon<void> }): Promise<Totals> {
  const cursor = reader.cursor(id, range, 1, true);
  let [rows, bytes] = [0, 0];
  try {
    for (let batch = await cursor.nextBatch(batchLimit); batch.length > 0; batch = await cursor.nextBatch(batchLimit)) {
      await checkInterrupt();
      rows += batch.length;
      for (let i = 0; i < batch.length; i++) bytes += batch.valueLength?.(i) ?? batch.value(i).length;
    }
  } finally {
    cursor.close();
  }
  return { rows, bytes };
}

function isEverything({ from, to }: KeyRange): boolean {
  return from === undefined && to === undefined;
}
