// Capped collections: documents in the order of their insertion, the oldest gone when size or number is exceeded (manual: "Capped
// Collections"). Keys are numbers, eight bytes big-endian, given in order; the newest is found in the dictionary when the first is asked for.

import type { Soon } from '../engine/index.ts';
import type { Document } from '../bson/index.ts';
import { DocumentChange } from './document-change.ts';
import type { ChangedCollection } from './changed-collection.ts';
import type { CollectionState, StoredTransaction } from './transaction.ts';
import type { CollectionOptions, RecordKey } from './types.ts';

const scanLimit = { rows: 64, bytes: 1 << 20 };

/** A capped collection, as far as its order and limits go. */
export interface CappedCollection extends ChangedCollection {
  readonly state: CollectionState;
  lock(txn: StoredTransaction, key: RecordKey): Soon<void>;
  getLatest(txn: StoredTransaction, key: RecordKey): Soon<Document | undefined>;
}

/** The key of the next document. */
export async function nextRecordKey(txn: StoredTransaction, { dictionary, state }: CappedCollection): Promise<RecordKey> {
  if (state.lastRecord === undefined) {
    const cursor = txn.engine.cursor(dictionary, {}, -1, true);
    const batch = await cursor.nextBatch({ rows: 1, bytes: 1 });
    const found = batch.length === 0 ? 0 : numberOfKey(batch.key(0));
    cursor.close();
    return numberAbove(state, found);
  }
  return numberAbove(state, 0);
}

/** The next number, above what others have been given and what was found. */
function numberAbove(state: CollectionState, found: number): RecordKey {
  state.lastRecord = Math.max(state.lastRecord ?? 0, found) + 1;
  return keyOfNumber(state.lastRecord);
}

function keyOfNumber(number: number): RecordKey {
  const key = new Uint8Array(8);
  const view = new DataView(key.buffer);
  view.setUint32(0, Math.floor(number / 0x1_0000_0000));
  view.setUint32(4, number >>> 0);
  return key;
}

function numberOfKey(key: RecordKey): number {
  const view = new DataView(key.buffer, key.byteOffset, key.length);
  return view.getUint32(0) * 0x1_0000_0000 + view.getUint32(4);
}

/** Removes documents from the oldest on while the collection is beyond its limits. */
export async function removeOldest(
  txn: StoredTransaction,
  collection: CappedCollection,
  limits: CollectionOptions['capped'],
): Promise<void> {
  const { sizeBytes = Infinity, documentsMax = Infinity } = limits ?? {};
  const isBeyond = (): boolean => {
    const { rows, bytes } = txn.engine.totals(collection.dictionary);
    return rows > 1 && (rows > documentsMax || bytes > sizeBytes);
  };
  if (!isBeyond()) return;
  const cursor = txn.engine.cursor(collection.dictionary, {}, 1, true);
  try {
    while (isBeyond()) {
      const batch = await cursor.nextBatch(scanLimit);
      if (batch.length === 0) return;
      const keys = Array.from({ length: batch.length }, (_, i) => batch.key(i).slice());
      for (const key of keys) {
        if (!isBeyond()) return;
        await collection.lock(txn, key);
        const oldest = await collection.getLatest(txn, key);
        if (oldest !== undefined) await new DocumentChange(collection, key, oldest, undefined).write(txn);
      }
    }
  } finally {
    cursor.close();
  }
}

