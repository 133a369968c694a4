// The BSON layer where the server spends its time: validating what comes in, finding and decoding fields, encoding, making keys. The
// document is of the kind users store: 16 fields, some nested, about 400 bytes. The official codec runs beside ours.

import * as driver from 'bson';
import {
  BsonArray,
  ByteSink,
  compareRaw,
  DateTime,
  Document,
  Double,
  elementValue,
  encodeKey,
  encodeRawKeyPart,
  FieldName,
  findField,
  getField,
  ObjectId,
  parsePath,
  readInt32,
  validateDocument,
} from '../../src/bson/index.ts';
import type { Value } from '../../src/bson/index.ts';
import { bench } from '../support/bench.ts';
import type { Bench, Run } from '../support/bench.ts';

interface Count {
  readonly count: number;
}

function makeDocument(n: number): Document {
  const id = new Uint8Array(12);
  id.set([n >> 24, n >> 16, n >> 8, n]);
  return Document.fromEntries([
    ['_id', new ObjectId(id)],
    ['name', `customer number ${n}`],
    ['email', `customer.${n}@mail.example.com`],
    ['age', 18 + (n % 70)],
    ['balance', new Double(n * 1.25)],
    ['visits', BigInt(n) * 1000003n],
    ['active', n % 3 === 0],
    ['created', new DateTime(1700000000000 + n * 1000)],
    ['address', Document.of({ street: 'Hauptstraße 12', city: 'Köln', zip: '50667', country: 'DE' })],
    ['tags', BsonArray.of(['alpha', 'beta', 'gamma'])],
    ['scores', BsonArray.of([1, 2, 3, 4, 5])],
    ['note', null],
    ['ratio', new Double(0.1 * n)],
    ['rank1', n % 1000],
    ['rank2', (n * 7) % 1000],
    ['last', 'end'],
  ]);
}

function documents(count: number): readonly Uint8Array[] {
  return Array.from({ length: count }, (_, n) => makeDocument(n).toBytes());
}

/** A run over all documents; `step` returns a number for the checksum. */
function overDocuments({ count }: Count, step: (bytes: Uint8Array) => number): Run {
  const all = documents(count);
  let bytes = 0;
  for (const one of all) bytes += one.length;
  return () => {
    let checksum = 0;
    for (const one of all) checksum = (checksum + step(one)) | 0;
    return { operations: count, bytes, checksum };
  };
}

/** A run over values made beforehand. */
function overValues<T>({ count }: Count, make: (n: number) => T, step: (value: T) => number): Run {
  const values = Array.from({ length: count }, (_, n) => make(n));
  return () => {
    let checksum = 0;
    for (const value of values) checksum = (checksum + step(value)) | 0;
    return { operations: count, bytes: 0, checksum };
  };
}

const sizes = { small: { count: 20 }, large: [{ count: 20000 }] };

function documentBench(name: string, step: (bytes: Uint8Array) => number): Bench {
  return bench({ name: `bson/${name}`, ...sizes, prepare: (parameters: Count) => overDocuments(parameters, step) });
}

function valueBench<T>(name: string, make: (n: number) => T, step: (value: T) => number): Bench {
  return bench({ name: `bson/${name}`, ...sizes, prepare: (parameters: Count) => overValues(parameters, make, step) });
}

const rank2 = new FieldName('rank2');
const city = parsePath('address.city');
const sink = new ByteSink(4096);

function keyOf(value: Value): number {
  return encodeKey([value]).length;
}

export const benches: readonly Bench[] = [
  documentBench('validate', (bytes) => {
    validateDocument(bytes, 0, bytes.length);
    return bytes.length;
  }),
  documentBench('find and read an int32 in field 15', (bytes) => readInt32(bytes, elementValue(bytes, findField(bytes, 0, rank2)))),
  documentBench('get an int32 in field 15 by name', (bytes) => Document.fromBytes(bytes).get('rank2') as number),
  documentBench('get a nested string by path', (bytes) => (getField(Document.fromBytes(bytes), city) as string).length),
  documentBench('decode all fields', (bytes) => {
    const doc = Document.fromBytes(bytes);
    return doc.fields.length + (doc.get('address') as Document).fields.length + (doc.get('tags') as BsonArray).length;
  }),
  documentBench('decode all fields, official codec', (bytes) => Object.keys(driver.deserialize(bytes)).length),
  documentBench('compare with an equal document', (bytes) => compareRaw({ bytes, start: 0, end: 0 }, { bytes, start: 0, end: 0 }, true)),
  valueBench(
    'encode from values',
    (n) => makeDocument(n).fields,
    (fields) => Document.fromEntries(fields).toBytes().length,
  ),
  valueBench(
    'encode from objects, official codec',
    (n) => driver.deserialize(makeDocument(n).toBytes(), { promoteValues: true }),
    (object) => driver.serialize(object).length,
  ),
  valueBench('key of an int32', (n) => n * 97, keyOf),
  valueBench('key of a double', (n) => new Double(n * 0.37), keyOf),
  valueBench('key of a string', (n) => `customer number ${n}`, keyOf),
  valueBench('key of an ObjectId', (n) => makeDocument(n).get('_id') as ObjectId, keyOf),
  documentBench('raw key of an int32', (bytes) => {
    const at = findField(bytes, 0, rank2);
    sink.length = 0;
    encodeRawKeyPart(sink, bytes, bytes[at] as number, elementValue(bytes, at), 1);
    return sink.length;
  }),
];
