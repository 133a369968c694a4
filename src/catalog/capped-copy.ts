// Copies a collection, in its natural order, into a capped one (manual: "convertToCapped", "cloneCollectionAsCapped"), and, where asked, puts the
// copy in its place. Copying is a series of transactions; a copy takes the original's place only if nobody has written that meanwhile, else
// it is made again.

import { Document } from '../bson/index.ts';
import { CommandError } from '../base/errors.ts';
import type { Namespace } from './namespace.ts';
import { attemptsMax, noCollection } from './refusal.ts';
import { StoredCollection } from './stored-collection.ts';
import type { StoredTransaction } from './transaction.ts';
import type { CappedCopy, Catalog, CatalogTransaction, CollectionOptions } from './types.ts';

const batchLimit = { rows: 256, bytes: 1 << 20 };

/** The catalog with transactions as it makes them. */
interface CopyingCatalog extends Catalog {
  begin(mode: 'read' | 'statement' | 'snapshot'): StoredTransaction;
  run<T>(work: (txn: StoredTransaction) => Promise<T>): Promise<T>;
}

/** Makes the copy; 26 where there is nothing to copy, 166 a view, 48 where the name is taken. */
export async function copyAsCapped(catalog: CopyingCatalog, copy: CappedCopy): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const reader = catalog.begin('read');
    try {
      const source = await sourceOf(catalog, reader, copy.from);
      await catalog.run((txn) => catalog.create(txn, copy.to, optionsOf(source.options, copy)));
      await fill(catalog, reader, source, copy);
      if (!copy.replaces || (await replace(catalog, reader, source, copy))) return;
    } finally {
      reader.abort();
    }
    await catalog.run((txn) => catalog.drop(txn, copy.to));
    if (attempt === attemptsMax) throw new CommandError(117, 'ConflictingOperationInProgress', `others write to ${copy.from.text} all the time`);
  }
}

async function sourceOf(catalog: CopyingCatalog, txn: CatalogTransaction, ns: Namespace): Promise<StoredCollection> {
  const source = await catalog.collection(txn, ns);
  if (!(source instanceof StoredCollection)) throw noCollection(ns);
  return source;
}

/** The options of the original that a capped collection can have. */
function optionsOf({ shown }: CollectionOptions, { replaces, sizeBytes }: CappedCopy): Document {
  const kept = replaces ? shown.fields.filter(([name]) => !['capped', 'size', 'max', 'clusteredIndex', 'expireAfterSeconds', 'primaryKey', 'partitioned'].includes(name)) : [];
  return Document.fromEntries([['capped', true], ['size', BigInt(sizeBytes)], ...kept]);
}

async function fill(catalog: CopyingCatalog, reader: CatalogTransaction, source: StoredCollection, { to, checkInterrupt }: CappedCopy): Promise<void> {
  const cursor = source.scan(reader, {}, 1);
  try {
    for (;;) {
      await checkInterrupt();
      const batch = await cursor.nextBatch(batchLimit);
      if (batch.length === 0) return;
      const documents = Array.from({ length: batch.length }, (_, i) => Document.fromBytes(batch.value(i).slice()));
      await catalog.run(async (txn) => {
        const target = await catalog.ensureCollection(txn, to);
        for (const document of documents) await target.insert(txn, target.prepare(document), { bypassValidation: true });
      });
    }
  } finally {
    cursor.close();
  }
}

/** Puts the copy in the original's place; false: somebody wrote that since it was read. */
async function replace(catalog: CopyingCatalog, reader: CatalogTransaction, source: StoredCollection, { from, to }: CappedCopy): Promise<boolean> {
  const { state } = source;
  return catalog.run(async (txn) => {
    if (state.lastWrite > reader.snapshot || state.committing.size > 0) return false;
    await catalog.rename(txn, to, from, { dropTarget: true });
    txn.requireQuiet(state);
    return true;
  });
}
