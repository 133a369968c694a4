// A collection, or a part of one, as far as a change of a document must know it: where the document and its entries are. Contract only.

import type { DictionaryId, Transaction } from '../engine/index.ts';
import type { Namespace } from './namespace.ts';
import type { StoredIndex } from './stored-index.ts';

/** Where a document is changed. */
export interface ChangedCollection {
  readonly ns: Namespace;
  readonly dictionary: DictionaryId;
  readonly catalogDictionary: DictionaryId;
  readonly kept: readonly StoredIndex[];
  /** Begins to read what is committed now. */
  beginRead(): Transaction;
}
