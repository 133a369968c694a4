// Adding and dropping parts (TokuMX: `addPartition`, `dropPartition`). A new part takes what comes behind the bound that the last one gets with
// it: the bound that was asked for, or its largest key. Nobody may write to the collection between the look at that key and the commit;
// writers under the older definition do not commit (law 29), so every document is in the part that its key belongs to.

import { must } from '../../base/assert.ts';
import { compareBytes } from '../../base/bytes.ts';
import { BsonArray, bsonUndefined, decodeValue, describeValue, Document, Regex } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import type { DefinitionChanges } from '../definition-changes.ts';
import type { NameEntry } from '../entry.ts';
import type { Namespace } from '../namespace.ts';
import { notePartitions } from '../oplog/definition-notes.ts';
import { indexPath, SlotFinder } from '../slot.ts';
import { invalidOptions, location } from '../refusal.ts';
import type { StoredCollection } from '../stored-collection.ts';
import type { StoredTransaction } from '../transaction.ts';
import type { Index, RecordKey } from '../types.ts';
import { boundKey } from './make-partitions.ts';
import { asOnePart, withoutPart, withPart } from './partition-entry.ts';

/** The catalog, as far as parts come and go. */
export type PartitionChanges = Pick<DefinitionChanges, 'lockName' | 'replaceEntry'>;

async function partitioned(catalog: PartitionChanges, txn: StoredTransaction, ns: Namespace): Promise<StoredCollection> {
  const named = await catalog.lockName(txn, ns);
  if (named?.kind !== 'collection') throw location(17306, 'no such collection');
  if (named.partitions === undefined) throw location(17307, 'collection must be partitioned');
  return named;
}

/** Adds a part with the transaction. 17249, 17250, 17306, 17307; 17248 where the last part is empty and no bound is given. */
export async function addPartition(catalog: PartitionChanges, txn: StoredTransaction, work: { readonly ns: Namespace; readonly newMax: Document | undefined; readonly nowMs: number }): Promise<void> {
  const collection = await partitioned(catalog, txn, work.ns);
  txn.requireQuiet(collection.state);
  const primary = must(collection.indexes.find((index) => index.isPrimary), 'a primary key');
  const largest = await largestKey(txn, collection);
  const max = work.newMax === undefined ? largest && maxOf(primary, largest.document) : givenMax(primary, work.newMax);
  if (max === undefined) throw location(17248, 'can only cap a partition with no pivot if it is non-empty');
  checkBound(collection, primary, max, largest);
  await write(catalog, txn, collection, withPart(txn, collection.entry, max, work.nowMs));
  notePartitions(txn, collection, Document.of({ addPartition: work.ns.collection, newMax: max }));
}

/** Drops a part and all its documents with the transaction. 17252, 17253, 17306, 17307. */
export async function dropPartition(catalog: PartitionChanges, txn: StoredTransaction, work: { readonly ns: Namespace; readonly id: number }): Promise<void> {
  const collection = await partitioned(catalog, txn, work.ns);
  await write(catalog, txn, collection, withoutPart(txn, collection.entry, work.id));
  notePartitions(txn, collection, Document.of({ dropPartition: work.ns.collection, id: work.id }));
}

/** Makes a collection with documents a partitioned one of one part, with the transaction; nothing is copied. 17268, 17269, 17271 to 17274. */
export async function convertToPartitioned(catalog: PartitionChanges, txn: StoredTransaction, work: { readonly ns: Namespace; readonly nowMs: number }): Promise<void> {
  const named = await catalog.lockName(txn, work.ns);
  if (named?.kind !== 'collection') throw location(17268, 'Cannot find collection to convert to partitioned');
  checkConvertible(named);
  txn.requireQuiet(named.state);
  await write(catalog, txn, named, asOnePart(txn, named.entry, work.nowMs));
  notePartitions(txn, named, Document.of({ convertToPartitioned: work.ns.collection }));
}

function checkConvertible({ ns, entry, partitions }: StoredCollection): void {
  const { options, indexes } = entry;
  if (partitions !== undefined) throw location(17269, 'Collection already partitioned');
  if (indexes.some(({ building }) => building)) throw location(17271, 'Cannot convert to partitioned collection with a background index build in progress');
  if (options.get('capped') === true) throw location(17272, 'Cannot convert a capped collection to partitioned');
  for (const other of ['timeseries', 'clusteredIndex']) if (options.has(other)) throw invalidOptions(`the options 'partitioned' and '${other}' exclude each other`);
  if (indexes.length > 0) throw location(17273, 'no secondary indexes allowed when converting to partitioned collection');
  if (options.has('primaryKey')) throw location(17274, `Partitioned Collection cannot have a defined primary key: ${ns.text}`);
}

async function write(catalog: PartitionChanges, txn: StoredTransaction, before: StoredCollection, entry: NameEntry): Promise<void> {
  await catalog.replaceEntry(txn, before, entry);
}

interface Largest {
  readonly key: RecordKey;
  readonly document: Document;
}

/** The last document of the last part. */
async function largestKey(txn: StoredTransaction, { partitions }: StoredCollection): Promise<Largest | undefined> {
  const last = must(partitions?.parts.at(-1), 'a part');
  const cursor = txn.engine.cursor(last.dictionary, {}, -1);
  try {
    const batch = await cursor.nextBatch({ rows: 1, bytes: 1 });
    return batch.length === 0 ? undefined : { key: batch.key(0).slice(), document: Document.fromBytes(batch.value(0).slice()) };
  } finally {
    cursor.close();
  }
}

/** The values of a document's primary key, by path. */
function maxOf({ paths }: Index, document: Document): Document {
  const { bytes } = document.raw;
  const values = new Map<string, Value>();
  new SlotFinder(paths.map(indexPath)).find(bytes, document.raw.start, {
    key: (slots) => {
      slots.forEach(({ bytes: from, type, at }, i) => values.set(paths[i] ?? '', decodeValue(from, type, at)));
    },
    array: () => undefined,
  });
  return Document.fromEntries(paths.map((path) => [path, values.get(path) ?? null]));
}

/** What a client gave as a bound, with null for what it left out. */
function givenMax({ paths, key }: Index, given: Document): Document {
  const unknown = given.keys().find((path) => !paths.includes(path));
  if (unknown !== undefined || given.isEmpty) {
    throw invalidOptions(`newMax has fields of the primary key ${describeValue(key)} and no others: ${describeValue(given)}`);
  }
  for (const [, value] of given.fields) {
    if (value instanceof BsonArray) throw location(17205, `primary key ${describeValue(given)} cannot be multi-key`);
    if (value instanceof Regex) throw location(17208, "can't use a regex for any portion of the primary key");
    if (value === bsonUndefined) throw location(17210, "can't use undefined for any portion of the primary key");
  }
  return Document.fromEntries(paths.map((path) => [path, given.get(path) ?? null]));
}

function checkBound({ partitions }: StoredCollection, primary: Index, max: Document, largest: Largest | undefined): void {
  const bound = boundKey(primary, max);
  const before = partitions?.parts.at(-2)?.row.max;
  if (before !== undefined && compareBytes(bound, boundKey(primary, before)) <= 0) {
    throw location(17249, `new max must be greater than last max, newMax: ${describeValue(max)} lastMax: ${describeValue(before)}`);
  }
  if (largest === undefined || compareBytes(bound, largest.key) >= 0) return;
  throw location(17250, `new max must be greater than or equal to max element in collection, newMax: ${describeValue(max)} max element: ${describeValue(maxOf(primary, largest.document))}`);
}
