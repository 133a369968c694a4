import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { compareBytes } from '../../src/base/bytes.ts';
import {
  BsonArray,
  ByteSink,
  classOf,
  compareStrings,
  compareValues,
  decodeKey,
  Document,
  elementValue,
  encodeKey,
  encodeRawKeyPart,
  encodeStringPrefix,
  keyAfter,
  KeyBitsWriter,
  keyTypeBits,
  skipKeyField,
  typeBracket,
} from '../../src/bson/index.ts';
import type { KeyDirection, Value } from '../../src/bson/index.ts';
import { anyNumber, anyValue } from '../support/bson-values.ts';

const direction: fc.Arbitrary<KeyDirection> = fc.constantFrom(1, -1);

function sign(order: number): -1 | 0 | 1 {
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

/** The bytes of values in a document: equal only if types and values are exactly the same. */
function exact(values: readonly Value[]): Uint8Array {
  return BsonArray.of(values).toBytes();
}

describe('a key', () => {
  it('orders numbers of all types by value', () => {
    fc.assert(
      fc.property(anyNumber, anyNumber, (a, b) => {
        assert.equal(sign(compareBytes(encodeKey([a]), encodeKey([b]))), sign(compareValues(a, b)));
      }),
      { numRuns: 8000 },
    );
  });

  it('orders values of all types as compareValues does', () => {
    fc.assert(
      fc.property(anyValue, anyValue, (a, b) => {
        assert.equal(sign(compareBytes(encodeKey([a]), encodeKey([b]))), sign(compareValues(a, b)));
      }),
      { numRuns: 4000 },
    );
  });

  it('orders compound values field by field, each in its direction', () => {
    const pair = fc.tuple(anyValue, anyValue);
    fc.assert(
      fc.property(pair, pair, fc.boolean(), fc.tuple(direction, direction), (a, other, same, directions) => {
        const b: [Value, Value] = same ? [a[0], other[1]] : other;
        const expected = compareValues(a[0], b[0]) * directions[0] || compareValues(a[1], b[1]) * directions[1];
        assert.equal(sign(compareBytes(encodeKey(a, directions), encodeKey(b, directions))), sign(expected));
      }),
      { numRuns: 2000 },
    );
  });

  it('gives back the exact values with its type bits, and says where each field ends', () => {
    const fields = fc.array(fc.tuple(anyValue, direction), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(fields, (pairs) => {
        const values = pairs.map(([value]) => value);
        const directions = pairs.map(([, way]) => way);
        const key = encodeKey(values, directions);
        assert.deepEqual(exact(decodeKey(key, directions, keyTypeBits(values))), exact(values));
        let offset = 0;
        for (const [index, way] of directions.entries()) {
          const end = skipKeyField(key, offset, way);
          assert.deepEqual(key.slice(offset, end), encodeKey([values[index] as Value], [way]));
          offset = end;
        }
        assert.equal(offset, key.length);
      }),
      { numRuns: 4000 },
    );
  });

  it('is the same made from raw bytes, and so are its type bits', () => {
    fc.assert(
      fc.property(anyValue, direction, (value, way) => {
        const { bytes } = Document.of({ a: value });
        const at = elementValue(bytes, 4);
        const sink = new ByteSink(1);
        encodeRawKeyPart(sink, bytes, bytes[4] as number, at, way);
        assert.deepEqual(sink.toBytes(), encodeKey([value], [way]));
        const bits = new KeyBitsWriter();
        bits.addRaw(bytes, bytes[4] as number, at);
        assert.deepEqual(bits.finish(), keyTypeBits([value]));
      }),
      { numRuns: 2000 },
    );
  });

  it('lies in the bracket of its class and in no other', () => {
    fc.assert(
      fc.property(anyValue, anyValue, direction, (a, b, way) => {
        const key = encodeKey([a], [way]);
        const { low, high } = typeBracket(classOf(b), way);
        const inside = compareBytes(low, key) <= 0 && compareBytes(key, high) < 0;
        assert.equal(inside, classOf(a) === classOf(b));
      }),
    );
  });

  it('of a string begins with the prefix key exactly if the string begins with the prefix', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '\0', 'é', '\u{1f33f}'), maxLength: 5 });
    fc.assert(
      fc.property(text, text, direction, (whole, prefix, way) => {
        const low = encodeStringPrefix(prefix, way);
        const key = encodeKey([whole], [way]);
        assert.equal(compareBytes(key.slice(0, low.length), low) === 0, whole.startsWith(prefix));
        const high = keyAfter(low);
        assert.ok(high !== undefined);
        assert.equal(compareBytes(low, key) <= 0 && compareBytes(key, high) < 0, whole.startsWith(prefix));
      }),
    );
  });
});

describe('compareStrings', () => {
  it('orders as the UTF-8 bytes do', () => {
    const text = fc.string({ unit: 'binary', maxLength: 8 });
    const encoder = new TextEncoder();
    fc.assert(
      fc.property(text, text, (a, b) => {
        assert.equal(sign(compareStrings(a, b)), sign(compareBytes(encoder.encode(a), encoder.encode(b))));
      }),
    );
  });
});
