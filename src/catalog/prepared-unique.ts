// An index that is prepared to be made unique (`collMod` with `prepareUnique`): duplicates that are there stay, and no further one comes. Its rows
// stand as those of any index that is not unique, so writers of one key meet at the lock of that key's fields, and look then at what is there now.
// Follows the manual's page "collMod", section "Convert an Existing Index to a Unique Index".

import { equalBytes } from '../base/bytes.ts';
import { CommandError } from '../base/errors.ts';
import { BsonArray, Document, keyAfter } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';
import type { Cursor, Soon, Transaction } from '../engine/index.ts';
import type { ChangedCollection } from './changed-collection.ts';
import type { IndexRow } from './index-row.ts';
import { duplicateKey } from './refusal.ts';
import type { StoredIndex } from './stored-index.ts';
import type { StoredTransaction } from './transaction.ts';
import type { CatalogTransaction, Collection, RecordKey } from './types.ts';

const scanLimit = { rows: 256, bytes: 1 << 20 };

/** Takes the lock under which a key of the index comes and goes. */
export function lockPrepared(txn: StoredTransaction, index: StoredIndex, row: IndexRow): Soon<void> {
  return txn.engine.lock(index.dictionary, index.entry(row.key, row.value).fields);
}

/** Under that lock: 11000 where another document has the key, as this transaction sees it or as it is committed. */
export async function checkPrepared(txn: StoredTransaction, collection: ChangedCollection, index: StoredIndex, row: IndexRow): Promise<void> {
  const { fields, recordKey } = index.entry(row.key, row.value);
  const isOther = (key: Uint8Array): boolean => !equalBytes(key.subarray(fields.length), recordKey);
  const reader = collection.beginRead();
  try {
    // What this transaction has removed is there for others until it commits.
    const found = (await holds(txn.engine, index, fields, isOther)) || (await holds(reader, index, fields, (key) => isOther(key) && !txn.hasRemoved(index.dictionary, key)));
    if (found) throw duplicateKey(collection.ns, index, index.keyValue(row));
  } finally {
    reader.abort();
  }
}

async function holds(engine: Transaction, index: StoredIndex, fields: Uint8Array, wanted: (key: Uint8Array) => boolean): Promise<boolean> {
  const end = keyAfter(fields);
  let found = false;
  for await (const { key } of rowsOf(engine.cursor(index.dictionary, { from: fields, ...(end === undefined ? {} : { to: end }) }, 1))) found ||= wanted(key);
  return found;
}

async function* rowsOf(cursor: Cursor): AsyncGenerator<IndexRow, void> {
  try {
    for (let batch = await cursor.nextBatch(scanLimit); batch.length > 0; batch = await cursor.nextBatch(scanLimit)) {
      for (let i = 0; i < batch.length; i++) yield { key: batch.key(i), value: batch.value(i) };
    }
  } finally {
    cursor.close();
  }
}

/** Throws 359 with the `_id`s of documents that share a key, where there are any. */
export async function checkConvertible(txn: CatalogTransaction, collection: Pick<Collection, 'get'>, index: StoredIndex): Promise<void> {
  const violations: Document[] = [];
  let group: { readonly fields: Uint8Array; readonly keys: RecordKey[] } | undefined;
  const end = async (): Promise<void> => {
    if (group === undefined || group.keys.length < 2) return;
    const ids: Value[] = [];
    for (const key of group.keys) ids.push((await collection.get(txn, key))?.get('_id') ?? null);
    violations.push(Document.of({ ids: BsonArray.of(ids) }));
  };
  for await (const { key, value } of rowsOf(index.scan(txn, {}, 1))) {
    const { fields, recordKey } = index.entry(key, value);
    if (group === undefined || !equalBytes(group.fields, fields)) {
      await end();
      group = { fields: fields.slice(), keys: [] };
    }
    group.keys.push(recordKey.slice());
  }
  await end();
  if (violations.length === 0) return;
  const text = 'Cannot convert the index to unique. Please resolve conflicting documents before running collMod again.';
  throw new CommandError(359, 'CannotConvertIndexToUnique', text, { details: new Map([['violations', BsonArray.of(violations)]]) });
}
