// From the entry of a partitioned collection to the objects of one version of it: each index with its shares, each part as a place for changes.
// The shares of an index have its multikey flags: what was an array in one part counts for all.

import { must } from '../../base/assert.ts';
import { collated, encodeKey } from '../../bson/index.ts';
import type { Document } from '../../bson/index.ts';
import type { DictionaryId, Transaction } from '../../engine/index.ts';
import type { QueryOptions } from '../../query/index.ts';
import type { NameEntry } from '../entry.ts';
import type { Namespace } from '../namespace.ts';
import { StoredIndex } from '../stored-index.ts';
import type { IndexDefinition, RecordKey } from '../types.ts';
import type { PartitionRow } from './partition-row.ts';
import { PartitionRouter } from './partition-router.ts';
import { Partitions } from './partitions.ts';

/** What the objects are made of. `indexes`: `_id_`, the chosen primary key where there is one, then those of the entry. */
export interface PartitionedParts {
  readonly ns: Namespace;
  readonly entry: Extract<NameEntry, { readonly kind: 'collection' }>;
  readonly partitions: readonly PartitionRow[];
  readonly indexes: readonly StoredIndex[];
  readonly catalogDictionary: DictionaryId;
  readonly beginRead: () => Transaction;
  readonly queryOptions: QueryOptions;
}

/** The record key of a part's bound: the values of its fields in the order of the primary key. */
export function boundKey({ directions, collation }: Pick<IndexDefinition, 'directions' | 'collation'>, max: Document): RecordKey {
  return encodeKey(max.fields.map(([, value]) => collated(value, collation)), directions);
}

/** The indexes with their shares, and the parts. */
export function partitionsOf({ ns, entry, partitions, indexes, catalogDictionary, beginRead, queryOptions }: PartitionedParts): { readonly indexes: readonly StoredIndex[]; readonly partitions: Partitions } {
  const primary = must(indexes.find((index) => index.isPrimary), 'a primary key');
  const router = new PartitionRouter(partitions.slice(0, -1).map(({ max }) => boundKey(primary, must(max, 'a bound'))));
  const shares = indexes.map((index) => partitions.map((row) => shareOf(index, dictionaryIn(row, index, entry), queryOptions)));
  const whole = indexes.map((index, i) => {
    const { dictionary, isPrimary, flags } = index;
    return new StoredIndex(index, { dictionary, isPrimary, flags, shares: { router, indexes: shares[i] ?? [] } }, queryOptions);
  });
  const parts = partitions.map((row, at) => {
    const kept = shares.map((ofIndex) => must(ofIndex[at], 'a share in every part')).filter((share) => !share.isPrimary);
    return { ns, row, dictionary: row.dictionary, catalogDictionary, kept, beginRead };
  });
  return { indexes: whole, partitions: new Partitions(parts, router) };
}

/** Where an index is in a part. */
function dictionaryIn(row: PartitionRow, index: StoredIndex, entry: PartitionedParts['entry']): DictionaryId {
  if (index.isPrimary) return row.dictionary;
  if (index.name === '_id_') return must(row.idIndex, 'an index on _id beside another primary key');
  const at = entry.indexes.findIndex(({ dictionary }) => dictionary === index.dictionary);
  return must(row.indexes[at], 'a share of every index');
}

function shareOf(index: StoredIndex, dictionary: DictionaryId, options: QueryOptions): StoredIndex {
  return new StoredIndex(index, { dictionary, isPrimary: index.isPrimary, flags: index.flags, shareOf: index.dictionary }, options);
}
