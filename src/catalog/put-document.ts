// A document of the server's own, as it shall be from now on: settings, times, chunks of an upload.

import type { Document } from '../bson/index.ts';
import type { CatalogTransaction, Collection } from './types.ts';

/** Inserts a document, or puts it in the place of the one with its `_id`, under the lock of its key. */
export async function putDocument(txn: CatalogTransaction, collection: Collection, after: Document): Promise<void> {
  const key = collection.keyOf(after.get('_id') ?? null);
  await collection.lock(txn, key);
  const before = await collection.getLatest(txn, key);
  if (before === undefined) await collection.insert(txn, collection.prepare(after));
  else await collection.update(txn, key, { before, after });
}
