// Changes of a collection's entry that concern its parts: the first part, another one, one less, an index more or less in each. All within
// the transaction that writes the entry, so that dictionaries and entry come and go together.

import { must } from '../../base/assert.ts';
import { DateTime, Document } from '../../bson/index.ts';
import type { DictionaryId } from '../../engine/index.ts';
import type { IndexEntryRow, NameEntry } from '../entry.ts';
import { dictionaryOptionsOf, indexDictionaryOptionsOf, smallValues } from '../dictionary-option.ts';
import { location } from '../refusal.ts';
import type { StoredTransaction } from '../transaction.ts';
import { dictionariesOf } from './partition-row.ts';
import type { PartitionRow } from './partition-row.ts';

type CollectionEntry = Extract<NameEntry, { readonly kind: 'collection' }>;

/** A new part without a bound, with dictionaries made by the transaction. */
function newPart(txn: StoredTransaction, entry: Omit<CollectionEntry, 'partitions'>, id: number, nowMs: number): PartitionRow {
  const { engine } = txn;
  return {
    id,
    max: undefined,
    created: new DateTime(nowMs),
    dictionary: engine.createDictionary(dictionaryOptionsOf(entry.options)),
    idIndex: entry.idIndex === undefined ? undefined : engine.createDictionary(smallValues),
    indexes: entry.indexes.map(({ spec }) => engine.createDictionary(indexDictionaryOptionsOf(spec))),
  };
}

/** The entry of a new collection with its first part. */
export function withFirstPart(txn: StoredTransaction, entry: CollectionEntry, nowMs: number): CollectionEntry {
  return { ...entry, partitions: [newPart(txn, entry, 0, nowMs)] };
}

/** The entry of a collection whose documents become a part; it gets an empty dictionary of its own. */
export function asOnePart(txn: StoredTransaction, entry: CollectionEntry, nowMs: number): CollectionEntry {
  const { dictionary, idIndex, options } = entry;
  const part: PartitionRow = { id: 0, max: undefined, created: new DateTime(nowMs), dictionary, idIndex, indexes: [] };
  const own = txn.engine.createDictionary(dictionaryOptionsOf(options));
  return { ...entry, dictionary: own, options: Document.fromEntries([...options.fields, ['partitioned', true]]), partitions: [part] };
}

/** The entry with the last part bounded and another behind it. */
export function withPart(txn: StoredTransaction, entry: CollectionEntry, max: Document, nowMs: number): CollectionEntry {
  const parts = entry.partitions ?? [];
  const last = must(parts.at(-1), 'a part');
  return { ...entry, partitions: [...parts.slice(0, -1), { ...last, max }, newPart(txn, entry, last.id + 1, nowMs)] };
}

/** The entry without a part, whose dictionaries the transaction drops. 17252, 17253. */
export function withoutPart(txn: StoredTransaction, entry: CollectionEntry, id: number): CollectionEntry {
  const parts = entry.partitions ?? [];
  if (parts.length === 1) throw location(17252, 'cannot drop partition if only one exists');
  const gone = parts.find((part) => part.id === id);
  if (gone === undefined) throw location(17253, `could not find partition ${String(id)}`);
  dropPart(txn, gone);
  const left = parts.filter((part) => part !== gone);
  // Where the last one goes, the one before it has no bound any more.
  return { ...entry, partitions: left.map((part, i) => (i === left.length - 1 ? { ...part, max: undefined } : part)) };
}

/** Drops the dictionaries of a part with the transaction. */
export function dropPart(txn: StoredTransaction, part: PartitionRow): void {
  for (const dictionary of dictionariesOf(part)) txn.engine.dropDictionary(dictionary);
}

/** The entry with more indexes, which every part gets its share of. */
export function withIndexes(txn: StoredTransaction, entry: CollectionEntry, rows: readonly IndexEntryRow[]): CollectionEntry {
  const indexes = [...entry.indexes, ...rows];
  if (entry.partitions === undefined) return { ...entry, indexes };
  const share = ({ spec }: IndexEntryRow): DictionaryId => txn.engine.createDictionary(indexDictionaryOptionsOf(spec));
  return { ...entry, indexes, partitions: entry.partitions.map((part) => ({ ...part, indexes: [...part.indexes, ...rows.map(share)] })) };
}

/** The entry without these indexes; the shares that parts have of them are dropped with the transaction. */
export function withoutIndexes(txn: StoredTransaction, entry: CollectionEntry, gone: ReadonlySet<DictionaryId>): CollectionEntry {
  const stays = entry.indexes.map(({ dictionary }) => !gone.has(dictionary));
  const indexes = entry.indexes.filter((_, i) => stays[i]);
  if (entry.partitions === undefined) return { ...entry, indexes };
  for (const part of entry.partitions) for (const [i, dictionary] of part.indexes.entries()) if (stays[i] === false) txn.engine.dropDictionary(dictionary);
  return { ...entry, indexes, partitions: entry.partitions.map((part) => ({ ...part, indexes: part.indexes.filter((_, i) => stays[i]) })) };
}
