// The rows of dictionary 1 as salvage reads them from a damaged directory: names with what is needed to make them again elsewhere. A row that
// cannot be read is a fault in words, never the end.

import { isDamage } from '../engine/index.ts';
import type { Document } from '../bson/index.ts';
import type { DictionaryId } from '../engine/index.ts';
import { decodeEntry, nameRange, namespaceOfKey } from './entry.ts';
import type { NameEntry } from './entry.ts';
import type { Namespace } from './namespace.ts';
import { dictionariesOf } from './partition/partition-row.ts';

/** A collection or view of a damaged directory. */
export interface SalvagedName {
  readonly ns: Namespace;
  /** Where its documents are, keyed by record key; absent: a view. */
  readonly dictionary: DictionaryId | undefined;
  /** Where its documents are beside that, in the parts of a partitioned collection. */
  readonly partDictionaries: readonly DictionaryId[];
  /** Dictionaries of its indexes, whose rows are made anew. */
  readonly indexDictionaries: readonly DictionaryId[];
  /** The options of `create`. */
  readonly options: Document;
  /** Specifications of its indexes beside `_id_`. */
  readonly indexes: readonly Document[];
}

/** The name in a row of the catalog; undefined where the row is not a name; a text where it is one that cannot be read. */
export function salvagedName(key: Uint8Array, value: Uint8Array): SalvagedName | string | undefined {
  const { from } = nameRange();
  if (key[0] !== from?.[0]) return undefined;
  let ns: Namespace | undefined;
  try {
    ns = namespaceOfKey(key);
    return nameOf(ns, decodeEntry(ns, value));
  } catch (error) {
    if (!isDamage(error)) throw error;
    return `the catalog's entry of ${ns?.text ?? 'a collection'} cannot be read`;
  }
}

function nameOf(ns: Namespace, entry: NameEntry): SalvagedName {
  if (entry.kind === 'view') return { ns, dictionary: undefined, partDictionaries: [], indexDictionaries: [], options: entry.options, indexes: [] };
  const { dictionary, idIndex, indexes, options, partitions = [] } = entry;
  const indexDictionaries = [...indexes.flatMap((index) => (index.side === undefined ? [index.dictionary] : [index.dictionary, index.side])), ...(idIndex === undefined ? [] : [idIndex]), ...partitions.flatMap((part) => dictionariesOf(part).slice(1))];
  const partDictionaries = partitions.map((part) => part.dictionary);
  return { ns, dictionary, partDictionaries, indexDictionaries, options, indexes: indexes.filter(({ building }) => !building).map(({ spec }) => spec) };
}
