// The parts of a partitioned collection as its entry keeps them (TokuMX: "Partitioned Collections"). A part has dictionaries of its own: its
// documents, its index on `_id` where the primary key is another, and its share of every index, in the order of the collection's indexes.
// The collection's own dictionaries are empty then and only say which collection and which index it is.

import { EngineError } from '../../base/errors.ts';
import { BsonArray, DateTime, Document } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import type { DictionaryId } from '../../engine/index.ts';

/** A part as it is kept. */
export interface PartitionRow {
  readonly id: number;
  /** Its largest key as a document of the key's paths; undefined: there is no bound, it is the last. */
  readonly max: Document | undefined;
  readonly created: DateTime;
  readonly dictionary: DictionaryId;
  readonly idIndex: DictionaryId | undefined;
  readonly indexes: readonly DictionaryId[];
}

/** All dictionaries of a part. */
export function dictionariesOf({ dictionary, idIndex, indexes }: PartitionRow): readonly DictionaryId[] {
  return [dictionary, ...(idIndex === undefined ? [] : [idIndex]), ...indexes];
}

/** The row as it is stored in the catalog: identities of dictionaries, the pivot, and when it was made. */
export function encodePartition({ id, max, created, dictionary, idIndex, indexes }: PartitionRow): Document {
  return Document.of({
    id,
    ...(max === undefined ? {} : { max }),
    created,
    dictionary: BigInt(dictionary),
    ...(idIndex === undefined ? {} : { idIndex: BigInt(idIndex) }),
    indexes: BsonArray.of(indexes.map((index) => BigInt(index))),
  });
}

/** What `encodePartition` made. */
export function decodePartition(row: Value): PartitionRow {
  if (!(row instanceof Document)) throw damaged();
  const [id, max, created, indexes] = [row.get('id'), row.get('max'), row.get('created'), row.get('indexes')];
  if (typeof id !== 'number' || !(created instanceof DateTime) || !(indexes instanceof BsonArray)) throw damaged();
  return {
    id,
    max: max instanceof Document ? max : undefined,
    created,
    dictionary: idOf(row.get('dictionary')),
    idIndex: row.has('idIndex') ? idOf(row.get('idIndex')) : undefined,
    indexes: indexes.items().map(idOf),
  };
}

const damaged = (): EngineError => new EngineError('corruption', 'a partition in the catalog cannot be read');

function idOf(value: Value | undefined): DictionaryId {
  if (typeof value !== 'bigint') throw damaged();
  return Number(value) as DictionaryId;
}
