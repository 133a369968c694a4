// Indexes whose entries are not simply the values at the key's paths: hashed, wildcard, text, 2d, 2dsphere. Each kind makes lists of values of
// a document, one for each entry; from there on entries are like those of other indexes.

import type { Document, Value } from '../../bson/index.ts';
import type { Direction } from '../../engine/index.ts';

/** One entry of a document. */
export interface SpecialKey {
  /** What is encoded; texts already replaced by sort keys where the index has a collation. */
  readonly values: readonly Value[];
  /** The same without a collation; absent: `values`. */
  readonly plain?: readonly Value[];
}

/** The entries of one document. */
export interface SpecialDocumentKeys {
  readonly keys: readonly SpecialKey[];
  /** Whether the document could have given several. */
  readonly isMultikey: boolean;
}

/** How one index makes its entries. */
export interface SpecialKeys {
  /** Of the fields of an entry, which need not be those of the key pattern. */
  readonly directions: readonly Direction[];
  /** Throws CommandError for a document that the index cannot have. */
  keysOf(document: Document): SpecialDocumentKeys;
}
