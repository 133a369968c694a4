// Keys are on disk: these bytes are worked out from docs/file-format.md and never change within a format version.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  Binary,
  BsonArray,
  BsonSymbol,
  bsonUndefined,
  Code,
  CodeWithScope,
  DateTime,
  DbPointer,
  Decimal128,
  Document,
  Double,
  encodeKey,
  keyTypeBits,
  maxKey,
  minKey,
  ObjectId,
  Regex,
  Timestamp,
} from '../../src/bson/index.ts';
import type { KeyDirection, Value } from '../../src/bson/index.ts';

const idHex = '65a1b2c3d4e5f60718293a4b';

function dec(text: string): Decimal128 {
  const value = Decimal128.parse(text);
  assert.ok(value !== undefined);
  return value;
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

const keys: [string, readonly Value[], string, (readonly KeyDirection[])?][] = [
  ['minKey', [minKey], '08'],
  ['undefined', [bsonUndefined], '0c'],
  ['null', [null], '10'],
  ['NaN', [new Double(Number.NaN)], '20'],
  ['-Infinity', [dec('-Infinity')], '21'],
  ['-2^63', [-9223372036854775808n], '22 783fffffffffffff'],
  ['-1', [-1], '2a fd'],
  ['-1.5', [new Double(-1.5)], '2a fc 7fffffffffffff'],
  ['zero of any type', [dec('-0E+5')], '2c'],
  ['decimal 0.1', [dec('0.10')], '2d fee6666666666665 1b58 0b 00'],
  ['0.5', [new Double(0.5)], '2d ff80000000000000'],
  ['1', [1], '2e 02'],
  ['decimal 1.00', [dec('1.00')], '2e 02'],
  ['1.5', [new Double(1.5)], '2e 03 80000000000000'],
  ['decimal 19.99', [dec('19.99')], '2e 27 fd70a3d70a3d71 64 00'],
  ['127', [127], '2e fe'],
  ['128', [new Double(128)], '2f 0100'],
  ['2^31 - 1', [2147483647], '31 fffffffe'],
  ['2^31', [2147483648n], '32 01 00000000'],
  ['2^63 - 1', [9223372036854775807n], '35 fffffffffffffffe'],
  ['2^63', [new Double(9223372036854775808)], '36 87c0000000000000'],
  ['Infinity', [new Double(Infinity)], '37'],
  ['text', ['aé'], '40 61c3a9 00'],
  ['a symbol', [new BsonSymbol('a')], '40 61 00'],
  ['zeros and ones in text', ['\0\u0001'], '40 0101 0102 00'],
  ['a document', [Document.of({ a: 1, b: 'x' })], '48 20 61 00 2e02 40 62 00 407800 00'],
  ['an array', [BsonArray.of([1, 'x'])], '50 2e02 407800 00'],
  ['binary data', [new Binary(Uint8Array.of(0xaa), 5)], '58 00000001 05 aa'],
  ['old binary data', [new Binary(Uint8Array.of(0xaa), 2)], '58 00000005 02 aa'],
  ['an ObjectId', [ObjectId.from(idHex)], `60 ${idHex}`],
  ['false', [false], '68'],
  ['true', [true], '69'],
  ['a date', [new DateTime(0)], '70 8000000000000000'],
  ['a date before 1970', [new DateTime(-1)], '70 7fffffffffffffff'],
  ['a timestamp', [new Timestamp(1, 2)], '78 00000001 00000002'],
  ['a regular expression', [new Regex('a', 'i')], '80 61 00 69 00'],
  ['a pointer', [new DbPointer('a.b', ObjectId.from(idHex).bytes)], `88 00000003 612e62 ${idHex}`],
  ['code', [new Code('x')], '90 78 00'],
  ['code with a scope', [new CodeWithScope('x', Document.empty)], '98 78 00 00'],
  ['maxKey', [maxKey], 'f0'],
  ['two fields, the first descending', [1, 'a'], 'd1 fd 40 61 00', [-1, 1]],
];

describe('the key of', () => {
  for (const [what, values, expected, directions] of keys) {
    it(what, () => {
      assert.equal(hex(encodeKey(values, directions)), expected.replaceAll(' ', ''));
    });
  }
});

const typeBits: [string, readonly Value[], string][] = [
  ['int32, fractions, large int64 and text are none', [1, new Double(0.5), 5000000000n, 'x', null], ''],
  ['a small int64', [1n], '01'],
  ['a whole double', [new Double(1)], '02'],
  ['a negative zero', [new Double(-0)], '03'],
  ['a decimal', [dec('1.0')], '04 181f'],
  ['a negative decimal zero', [dec('-0')], '05 1820'],
  ['a NaN that is not the usual one', [new Decimal128(Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x7c))], '06 01 00000000000000 00000000000000 7c'],
  ['a symbol', [new BsonSymbol('x')], '07'],
  ['usual types before others', ['x', new Double(1), 1], '00 02'],
  ['values within values', [BsonArray.of([1, Document.of({ a: 1n })])], '00 01'],
];

describe('the type bits of', () => {
  for (const [what, values, expected] of typeBits) {
    it(what, () => {
      assert.equal(hex(keyTypeBits(values)), expected.replaceAll(' ', ''));
    });
  }
});
