// What a key of the engine stands for, for whoever looks at locks: which index of which collection, and the values. Numbers whose type only the
// value of an entry tells come as the key has them; under a collation a key is no text.

import { decodeKey, Document } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';
import type { DictionaryId } from '../engine/index.ts';
import type { Named } from './name-table.ts';
import type { StoredIndex } from './stored-index.ts';

const noBits = new Uint8Array(0);

/** `db.collection.$index` and the values of its fields; undefined where no index of these has the dictionary. */
export function describeKey(named: readonly Named[], dictionary: DictionaryId, key: Uint8Array | undefined): { readonly index: string; readonly values: Document } | undefined {
  for (const one of named) {
    const index = one.kind === 'collection' ? one.indexes.find(({ dictionaries }) => dictionaries.includes(dictionary)) : undefined;
    if (index !== undefined) return { index: `${one.ns.text}.$${index.name}`, values: key === undefined ? Document.empty : valuesOf(index, key) };
  }
  return undefined;
}

function valuesOf(index: StoredIndex, key: Uint8Array): Document {
  if (index.collation !== undefined) return Document.of({ $key: hexOf(key) });
  const values: readonly Value[] = decodeKey(key, index.directions, noBits);
  return Document.fromEntries(index.paths.map((path, i) => [path, values[i] ?? null]));
}

const hexOf = (key: Uint8Array): string => Array.from(key, (byte) => byte.toString(16).padStart(2, '0')).join('');
