// The catalog as builds of indexes see it: what they need to change definitions. Contract only; catalog.ts keeps it.

import type { DictionaryId } from '../engine/index.ts';
import type { NameEntry } from './entry.ts';
import type { Named } from './name-table.ts';
import type { Namespace } from './namespace.ts';
import type { StoredCollection } from './stored-collection.ts';
import type { StoredTransaction } from './transaction.ts';

/** The catalog, as far as builds change definitions. */
export interface DefinitionChanges {
  begin(mode: 'statement' | 'read'): StoredTransaction;
  run<T>(work: (txn: StoredTransaction) => Promise<T>): Promise<T>;
  collection(txn: StoredTransaction, ns: Namespace): StoredCollection | undefined | Promise<StoredCollection | undefined>;
  ensureCollection(txn: StoredTransaction, ns: Namespace): Promise<StoredCollection>;
  lockName(txn: StoredTransaction, ns: Namespace): Promise<Named | undefined>;
  dropIndex(txn: StoredTransaction, id: DictionaryId): Promise<void>;
  replaceEntry(txn: StoredTransaction, before: StoredCollection, entry: NameEntry): Promise<Named>;
}
