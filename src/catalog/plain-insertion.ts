// The insertion of a document that has one row at most in each index of its collection, as most documents have. No list of rows is made: each key goes
// from where it is put together into the write set. Whatever may refuse the document was asked before; nothing here does.

import type { Document } from '../bson/index.ts';
import type { Soon } from '../engine/index.ts';
import type { ChangedCollection } from './changed-collection.ts';
import { keyMaker } from './slot-key.ts';
import type { StoredIndex } from './stored-index.ts';
import type { StoredTransaction } from './transaction.ts';
import type { RecordKey } from './types.ts';

/** A document that is new, under a key that its transaction has locked. */
export interface PlainInsertion {
  readonly txn: StoredTransaction;
  /** All its indexes are plain. */
  readonly collection: ChangedCollection;
  readonly key: RecordKey;
  readonly document: Document;
}

/** Whether a document has one row at most in each of some plain indexes. */
export function hasPlainRows(indexes: readonly StoredIndex[], document: Document): boolean {
  const { raw } = document;
  for (let i = 0; i < indexes.length; i++) if ((indexes[i] as StoredIndex).meetsArray(raw)) return false;
  return true;
}

/** Writes the document and its rows, and states the deltas. */
export function writePlain(insertion: PlainInsertion): Soon<void> {
  const { txn: { engine }, collection: { dictionary }, key, document } = insertion;
  engine.count(dictionary, 1, document.byteLength);
  const putting = engine.put(dictionary, key, document.toBytes());
  return putting === undefined ? writeRows(insertion, 0) : putting.then(() => writeRows(insertion, 0));
}

/** Writes the rows from that of index number `from` on. */
function writeRows(insertion: PlainInsertion, from: number): Soon<void> {
  const { txn: { engine }, collection: { kept }, key, document } = insertion;
  for (let i = from; i < kept.length; i++) {
    const index = kept[i] as StoredIndex;
    const value = index.makePlain(document.raw, key);
    if (value === undefined) continue;
    engine.count(index.dictionary, 1, keyMaker.end + value.length);
    const putting = engine.putCoveredPart(index.dictionary, keyMaker, value);
    if (putting !== undefined) return putting.then(() => writeRows(insertion, i + 1));
  }
  return undefined;
}
