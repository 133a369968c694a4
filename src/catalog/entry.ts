// The rows of dictionary 1: how names, collections and index flags are kept. Keys are one letter and the name, so that a database's
// collections are one range; values are BSON. `f`: the format. `c` db 00 collection: a collection or view. `m` dictionary field component:
// that component of an indexed path was an array in some document (only ever added, with an equal value, so it needs no lock).
// An index that is being built is in its collection's row, marked; what is still marked at open is left over from a crash and is dropped.
// `o` dictionary: a piece of the oplog. `l` dictionary: what a bulk load fills, until a collection has it.

import { EngineError } from '../base/errors.ts';
import { decodeUtf8, encodeUtf8 } from '../base/text.ts';
import { Binary, BsonArray, Document } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';
import type { DictionaryId, KeyRange } from '../engine/index.ts';
import { decodePartition, encodePartition } from './partition/partition-row.ts';
import type { PartitionRow } from './partition/partition-row.ts';
import { Namespace } from './namespace.ts';

export const catalogFormat = 1;

/** An index as it is kept. */
export interface IndexEntryRow {
  readonly spec: Document;
  readonly dictionary: DictionaryId;
  /** It is being built: known to writers only, and taken back at the next opening. */
  readonly building: boolean;
  /** Of a unique index that is being built: where writers keep it meanwhile. */
  readonly side: DictionaryId | undefined;
}

/** The row of an index that is whole. */
export const readyIndex = (spec: Document, dictionary: DictionaryId): IndexEntryRow => ({ spec, dictionary, building: false, side: undefined });

/** A collection or view as it is kept. */
export type NameEntry =
  | {
      readonly kind: 'collection';
      readonly uuid: Binary;
      readonly dictionary: DictionaryId;
      /** Of a capped collection, whose documents are keyed by a number, and of one with a primary key of its own: its index on `_id`. */
      readonly idIndex: DictionaryId | undefined;
      readonly options: Document;
      readonly indexes: readonly IndexEntryRow[];
      /** Of a partitioned collection: where its documents and entries are, in the order of their keys. */
      readonly partitions?: readonly PartitionRow[];
    }
  | { readonly kind: 'view'; readonly options: Document };

const letter = (text: string): number => text.charCodeAt(0);
const nameLetter = letter('c');
const multikeyLetter = letter('m');
const segmentLetter = letter('o');
const loadLetter = letter('l');
const unsizedLetter = letter('s');

export const formatKey: Uint8Array = encodeUtf8('f');

/** Key of a collection or view. */
export function nameKey(ns: Namespace): Uint8Array {
  return encodeUtf8(`c${ns.db}\0${ns.collection}`);
}

/** The namespace of a row's key. */
export function namespaceOfKey(key: Uint8Array): Namespace {
  const text = decodeUtf8(key, 1, key.length);
  const end = text.indexOf('\0');
  return new Namespace(text.slice(0, end), text.slice(end + 1));
}

/** All names, or those of one database. */
export function nameRange(db?: string): KeyRange {
  if (db === undefined) return { from: Uint8Array.of(nameLetter), to: Uint8Array.of(nameLetter + 1) };
  return { from: encodeUtf8(`c${db}\0`), to: encodeUtf8(`c${db}\x01`) };
}

function idKey(first: number, id: DictionaryId, rest: readonly number[]): Uint8Array {
  const high = Math.floor(id / 0x1_0000_0000);
  return Uint8Array.of(first, high >>> 8, high, id >>> 24, id >>> 16, id >>> 8, id, ...rest);
}

const idOfKey = (key: Uint8Array): DictionaryId => {
  let id = 0;
  for (let i = 1; i < 7; i++) id = id * 256 + (key[i] as number);
  return id as DictionaryId;
};

/** Which component of which path of an index was an array. */
export interface MultikeyFlag {
  readonly dictionary: DictionaryId;
  readonly field: number;
  readonly component: number;
}

export const multikeyKey = (flag: MultikeyFlag): Uint8Array => idKey(multikeyLetter, flag.dictionary, [flag.field, flag.component]);
export const multikeyRange: KeyRange = { from: Uint8Array.of(multikeyLetter), to: Uint8Array.of(multikeyLetter + 1) };
/** The flags of one index. */
export const multikeyRangeOf = (id: DictionaryId): KeyRange => ({
  from: idKey(multikeyLetter, id, []),
  to: idKey(multikeyLetter, (id + 1) as DictionaryId, []),
});

/** What the key of a multikey row says: one index, one of its fields, one component of that field's path. */
export function multikeyOfKey(key: Uint8Array): MultikeyFlag {
  return { dictionary: idOfKey(key), field: key[7] as number, component: key[8] as number };
}

/** A row that is there from the first update on that was written without a read: bytes of the collection's documents are not counted since. */
export const unsizedKey = (id: DictionaryId): Uint8Array => idKey(unsizedLetter, id, []);

export const segmentKey = (id: DictionaryId): Uint8Array => idKey(segmentLetter, id, []);
export const segmentRange: KeyRange = { from: Uint8Array.of(segmentLetter), to: Uint8Array.of(segmentLetter + 1) };
export const segmentOfKey: (key: Uint8Array) => DictionaryId = idOfKey;

export const loadKey = (id: DictionaryId): Uint8Array => idKey(loadLetter, id, []);
export const loadRange: KeyRange = { from: Uint8Array.of(loadLetter), to: Uint8Array.of(loadLetter + 1) };

/** The value of a load's row: its dictionaries. */
export function encodeLoad(dictionaries: readonly DictionaryId[]): Uint8Array {
  return Document.of({ dictionaries: BsonArray.of(dictionaries.map((id) => BigInt(id))) }).toBytes();
}

/** What `encodeLoad` made. */
export function decodeLoad(bytes: Uint8Array): readonly DictionaryId[] {
  const dictionaries = Document.fromBytes(bytes.slice()).get('dictionaries');
  return dictionaries instanceof BsonArray ? dictionaries.items().map((id) => Number(id) as DictionaryId) : [];
}

/** The value of a name's row. */
export function encodeEntry(entry: NameEntry): Uint8Array {
  if (entry.kind === 'view') return Document.of({ kind: 'view', options: entry.options }).toBytes();
  return Document.of({
    kind: 'collection',
    uuid: entry.uuid,
    dictionary: BigInt(entry.dictionary),
    idIndex: entry.idIndex === undefined ? undefined : BigInt(entry.idIndex),
    options: entry.options,
    indexes: BsonArray.of(
      entry.indexes.map(({ spec, dictionary, building, side }) =>
        Document.of({
          spec, dictionary: BigInt(dictionary),
          ...(building ? { building: true } : {}),
          ...(side === undefined ? {} : { side: BigInt(side) }),
        }),
      ),
    ),
    partitions: entry.partitions === undefined ? undefined : BsonArray.of(entry.partitions.map(encodePartition)),
  }).toBytes();
}

const damaged = (ns: Namespace): EngineError => new EngineError('corruption', `the catalog's entry of ${ns.text} cannot be read`);

/** What `encodeEntry` made. */
export function decodeEntry(ns: Namespace, bytes: Uint8Array): NameEntry {
  const row = Document.fromBytes(bytes.slice());
  const options = row.get('options');
  if (!(options instanceof Document)) throw damaged(ns);
  if (row.get('kind') === 'view') return { kind: 'view', options };
  const indexes = row.get('indexes');
  const uuid = row.get('uuid');
  const partitions = row.get('partitions');
  if (!(indexes instanceof BsonArray) || !(uuid instanceof Binary)) throw damaged(ns);
  return {
    kind: 'collection',
    uuid,
    dictionary: idOf(ns, row, 'dictionary'),
    idIndex: row.has('idIndex') ? idOf(ns, row, 'idIndex') : undefined,
    options,
    indexes: indexes.items().map((item) => decodeIndex(ns, item)),
    ...(partitions instanceof BsonArray ? { partitions: partitions.items().map(decodePartition) } : {}),
  };
}

function decodeIndex(ns: Namespace, item: Value): IndexEntryRow {
  const spec = item instanceof Document ? item.get('spec') : undefined;
  if (!(item instanceof Document) || !(spec instanceof Document)) throw damaged(ns);
  const side = item.has('side') ? idOf(ns, item, 'side') : undefined;
  return { spec, dictionary: idOf(ns, item, 'dictionary'), building: item.get('building') === true, side };
}

function idOf(ns: Namespace, row: Document, name: 'dictionary' | 'idIndex' | 'side'): DictionaryId {
  const id = row.get(name);
  if (typeof id !== 'bigint') throw damaged(ns);
  return Number(id) as DictionaryId;
}
