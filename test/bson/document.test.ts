import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as driver from 'bson';
import {
  Binary,
  BsonArray,
  BsonSymbol,
  bsonUndefined,
  BsonWriter,
  Code,
  CodeWithScope,
  DateTime,
  DbPointer,
  Decimal128,
  Document,
  Double,
  findElement,
  maxKey,
  minKey,
  ObjectId,
  Regex,
  Timestamp,
  typeNameOf,
  typeOf,
  validateDocument,
} from '../../src/bson/index.ts';
import type { Value } from '../../src/bson/index.ts';

const idHex = '65a1b2c3d4e5f60718293a4b';

const everyType: [string, Value][] = [
  ['double', new Double(1.5)],
  ['string', 'grüße 🌿'],
  ['object', Document.of({ a: 1, b: 'x' })],
  ['array', BsonArray.of([1, 'two', BsonArray.of([])])],
  ['binData', new Binary(new Uint8Array([1, 2, 3]), 128)],
  ['undefined', bsonUndefined],
  ['objectId', ObjectId.from(idHex)],
  ['bool', true],
  ['date', new DateTime(1700000000123)],
  ['null', null],
  ['regex', new Regex('^a.b', 'im')],
  ['dbPointer', new DbPointer('db.c', ObjectId.from(idHex).bytes)],
  ['javascript', new Code('return 1')],
  ['symbol', new BsonSymbol('sym')],
  ['javascriptWithScope', new CodeWithScope('x', Document.of({ x: 1n }))],
  ['int', -2147483648],
  ['timestamp', new Timestamp(4294967295, 7)],
  ['long', -9223372036854775808n],
  ['decimal', Decimal128.parse('-1.50') as Decimal128],
  ['minKey', minKey],
  ['maxKey', maxKey],
];

describe('a BSON document', () => {
  it('keeps every type, and writes it back byte for byte', () => {
    const bytes = Document.fromEntries(everyType).toBytes();
    validateDocument(bytes, 0, bytes.length);
    const read = Document.fromBytes(bytes);
    for (const [name, value] of read) assert.equal(typeNameOf(typeOf(value)), name);
    assert.deepEqual(Document.fromEntries([...read]).toBytes(), bytes);
  });

  it('is what the official codec reads and writes', () => {
    const bytes = Document.fromEntries(everyType.filter(([name]) => name !== 'undefined')).toBytes();
    const options = { promoteValues: false, bsonRegExp: true, promoteLongs: false };
    const object = driver.deserialize(bytes, options);
    assert.equal((object['double'] as driver.Double).value, 1.5);
    assert.equal(String(object['decimal']), '-1.50');
    assert.equal(String(object['long']), '-9223372036854775808');
    assert.equal(object['string'], 'grüße 🌿');
    const again = driver.serialize({ ...object, dbPointer: undefined }, { ignoreUndefined: true });
    validateDocument(again, 0, again.length);
    assert.deepEqual(Document.fromBytes(again).get('timestamp'), new Timestamp(4294967295, 7));
  });

  it('finds fields in its bytes without decoding the others', () => {
    const doc = Document.fromBytes(Document.fromEntries(everyType).toBytes());
    assert.equal(doc.get('int'), -2147483648);
    assert.equal(doc.get('no such field'), undefined);
    assert.equal(doc.has('maxKey'), true);
    assert.equal(doc.has('max'), false);
    assert.equal(findElement(doc.bytes, doc.start, 'double'), 4);
    assert.equal((doc.get('object') as Document).get('b'), 'x');
  });

  it('keeps the order of number-like names, repeated names and __proto__', () => {
    const entries: [string, Value][] = [['10', 1], ['2', 2], ['__proto__', 3], ['2', 4], ['', 5], ['ü', 6]];
    const doc = Document.fromBytes(Document.fromEntries(entries).toBytes());
    assert.deepEqual([...doc], entries);
    assert.equal(doc.get('2'), 2);
    assert.equal(doc.get('__proto__'), 3);
    assert.equal(doc.get('constructor'), undefined);
    assert.equal(doc.get('ü'), 6);
  });

  it('is a view: a nested document shares the bytes of the outer one', () => {
    const outer = Document.fromBytes(Document.of({ a: Document.of({ b: 1 }) }).toBytes());
    const inner = outer.get('a') as Document;
    assert.equal(inner.bytes, outer.bytes);
    assert.deepEqual(inner.toBytes(), Document.of({ b: 1 }).toBytes());
    assert.equal(inner.byteLength, 12);
  });

  it('refuses a plain number that is no int32, and a zero in a name', () => {
    assert.throws(() => Document.of({ a: 1.5 }).toBytes(), { name: 'AssertionError' });
    assert.throws(() => Document.of({ a: 2147483648 }).toBytes(), { name: 'AssertionError' });
    assert.throws(() => Document.of({ 'a\0b': 1 }).toBytes(), { name: 'CommandError', code: 2 });
  });
});

describe('BsonWriter', () => {
  it('writes the same bytes as building the document from values', () => {
    const writer = new BsonWriter(8);
    writer.writeElement('a', 1).startDocument('b').writeElement('c', 'text').end();
    writer.startArray('d').writeElement('0', new Double(2)).end();
    const expected = Document.of({ a: 1, b: Document.of({ c: 'text' }), d: BsonArray.of([new Double(2)]) });
    assert.deepEqual(writer.finish(), expected.toBytes());
  });
});

it('a search in bytes that are no document ends', () => {
  const text = (length: number): Uint8Array => Uint8Array.of(0, 0, 0, 0, 2, 97, 0, ...new Uint8Array(Int32Array.of(length).buffer), 0, 0, 0);
  for (const bytes of [text(-11), text(1_000_000), Uint8Array.of(9, 0, 0, 0, 2, 97, 97, 97), new Uint8Array(0)]) assert.throws(() => findElement(bytes, 0, 'b'), /these bytes are no document/);
});
