import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Binary, BsonArray, DateTime, describeValue, Document, Double, maxKey, ObjectId, Timestamp } from '../../src/bson/index.ts';
import type { Value } from '../../src/bson/index.ts';

const cases: [Value, string][] = [
  [Document.of({ a: 1, b: 'x', c: ObjectId.from('65a1b2c3d4e5f60718293a4b') }), "{ a: 1, b: \"x\", c: ObjectId('65a1b2c3d4e5f60718293a4b') }"],
  [Document.empty, '{}'],
  [BsonArray.of([1, 2n, new Double(3)]), '[ 1, 2, 3.0 ]'],
  [new Double(0.1), '0.1'],
  [new Double(1.5e300), '1.5e+300'],
  [new Double(1e16), '1e+16'],
  [new Double(123456789012345), '123456789012345.0'],
  [new Double(0.00001), '1e-05'],
  [new Double(-0.0001), '-0.0001'],
  [new Double(Number.NaN), 'nan.0'],
  [new DateTime(5), 'new Date(5)'],
  [new Timestamp(1, 2), 'Timestamp(1, 2)'],
  [new Binary(new Uint8Array([171, 1])), 'BinData(0, AB01)'],
  [new Binary(Uint8Array.from({ length: 16 }, (_, n) => 16 * n + n), 4), 'UUID("00112233-4455-6677-8899-aabbccddeeff")'],
  ['x'.repeat(159), `"${'x'.repeat(159)}"`],
  ['x'.repeat(160), `"${'x'.repeat(150)}..."`],
  ['é'.repeat(90), `"${'é'.repeat(75)}..."`],
  [maxKey, 'MaxKey'],
  [null, 'null'],
];

describe('describeValue', () => {
  for (const [value, text] of cases) {
    it(`writes ${text.slice(0, 60)}`, () => {
      assert.equal(describeValue(value), text);
    });
  }
});
