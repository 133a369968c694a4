// An index that is prepared to be made unique (`collMod` with `prepareUnique`): duplicates that are there stay, and no further one comes. Its rows
// stand as those of any index that is not unique, so writers of one key meet at the lock of that key's fields, and look then at what is there now.
// Follows the manual's page "collMod", section "Convert an Existing Index to a Unique Index".

import { equalBytes } from '../base/bytes.ts';
import { keyAfter } from '../bson/index.ts';
import type { Soon, Transaction } from '../engine/index.ts';
import type { IndexRow } from './index-row.ts';
import type { Namespace } from './namespace.ts';
import { duplicateKey } from './refusal.ts';
import { eachRow } from './rows.ts';
import type { StoredIndex } from './stored-index.ts';
import type { StoredTransaction } from './transaction.ts';

/** The collection, as far as a check must know it. */
interface CheckedCollection {
  readonly ns: Namespace;
  /** Begins to read what is committed now. */
  beginRead(): Transaction;
}

/** Takes the lock under which a key of the index comes and goes. */
export function lockPrepared(txn: StoredTransaction, index: StoredIndex, row: IndexRow): Soon<void> {
  return txn.engine.lock(index.dictionary, index.entry(row.key, row.value).fields);
}

/** Under that lock: 11000 where another document has the key, as this transaction sees it or as it is committed. */
export async function checkPrepared(txn: StoredTransaction, collection: CheckedCollection, index: StoredIndex, row: IndexRow): Promise<void> {
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
  await eachRow(engine.cursor(index.dictionary, { from: fields, ...(end === undefined ? {} : { to: end }) }, 1), (key) => {
    found ||= wanted(key);
  });
  return found;
}
