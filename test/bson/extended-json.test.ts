import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EJSON } from 'bson';
import fc from 'fast-check';
import { CommandError } from '../../src/base/errors.ts';
import { decodeBase64, encodeBase64 } from '../../src/base/base64.ts';
import { DateTime, Document, Double, fromExtendedJson, toExtendedJson } from '../../src/bson/index.ts';
import type { Value } from '../../src/bson/index.ts';
import { anyValue } from '../support/bson-values.ts';

function bytesOf(value: Value): Uint8Array {
  return Document.of({ v: value }).toBytes();
}

describe('canonical extended JSON', () => {
  it('keeps every value exactly, flags of regular expressions sorted', () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const text = toExtendedJson(value, 'canonical');
        // Odd decimals are written as what they mean, names that say a type are read as that type: once read, nothing changes any more.
        const read = fromExtendedJson(text);
        assert.equal(toExtendedJson(read, 'canonical'), text);
        assert.deepEqual(bytesOf(fromExtendedJson(toExtendedJson(read, 'canonical'))), bytesOf(read));
      }),
      { numRuns: 3000 },
    );
  });

  it('is what the official library writes', () => {
    const texts = [
      '{"$oid":"65a1b2c3d4e5f60718293a4b"}',
      '{"$numberInt":"-1"}',
      '{"$numberLong":"9223372036854775807"}',
      '{"$numberDouble":"1.5"}',
      '{"$numberDouble":"-Infinity"}',
      '{"$numberDecimal":"1.50E+10"}',
      '{"$binary":{"base64":"AQI=","subType":"80"}}',
      '{"$date":{"$numberLong":"-5"}}',
      '{"$regularExpression":{"pattern":"a/b","options":"im"}}',
      '{"$timestamp":{"t":4294967295,"i":1}}',
      '{"$code":"x","$scope":{"a":{"$numberInt":"1"}}}',
      '{"$minKey":1}',
      '{"a":[null,true,"\u00e9\\n"]}',
    ];
    for (const text of texts) {
      assert.equal(EJSON.stringify(EJSON.parse(text, { relaxed: false }), { relaxed: false }), text);
      assert.equal(toExtendedJson(fromExtendedJson(text), 'canonical'), text);
    }
  });
});

const relaxed: [Value, string][] = [
  [1, '1'],
  [5000000000n, '5000000000'],
  [new Double(2), '2.0'],
  [new Double(0.5), '0.5'],
  [new Double(Infinity), '{"$numberDouble":"Infinity"}'],
  [new DateTime(0), '{"$date":"1970-01-01T00:00:00Z"}'],
  [new DateTime(1356351330501), '{"$date":"2012-12-24T12:15:30.501Z"}'],
  [new DateTime(-1), '{"$date":{"$numberLong":"-1"}}'],
];

describe('relaxed extended JSON', () => {
  for (const [value, text] of relaxed) {
    it(`writes ${text}`, () => {
      assert.equal(toExtendedJson(value, 'relaxed'), text);
      assert.deepEqual(bytesOf(fromExtendedJson(text)), bytesOf(value));
    });
  }
});

const read: [string, string][] = [
  ['{"$date": "2012-12-24T12:15:30.501+0100"}', '{"$date":{"$numberLong":"1356347730501"}}'],
  ['{"$uuid": "73ffd264-44b3-4c69-90e8-e7d1dfc035d4"}', '{"$binary":{"base64":"c//SZESzTGmQ6OfR38A11A==","subType":"04"}}'],
  ['{"$binary": "//8=", "$type": "00"}', '{"$binary":{"base64":"//8=","subType":"00"}}'],
  ['{"$regex": "a", "$options": "xi"}', '{"$regularExpression":{"pattern":"a","options":"ix"}}'],
  ['{"$regex": {"a": null}}', '{"$regex":{"a":null}}'],
  ['{"10": 1e2, "2": -0, "__proto__": [true]}', '{"10":{"$numberDouble":"100.0"},"2":{"$numberDouble":"-0.0"},"__proto__":[true]}'],
  ['"\\u00e9\\n\\ud83c\\udf3f"', '"\u00e9\\n\u{1f33f}"'],
  ['99999999999999999999', '{"$numberDouble":"100000000000000000000.0"}'],
];

describe('reading extended JSON', () => {
  for (const [text, canonical] of read) {
    it(`takes ${text}`, () => {
      assert.equal(toExtendedJson(fromExtendedJson(text), 'canonical'), canonical);
    });
  }

  for (const text of ['', '{', '[1,]', '{"a":1,}', '{"a" 1}', '01', '"a', '"\\x"', '"\n"', 'nul', '1 2', '{"$oid":"x"}', '{"$numberInt":"2147483648"}', '{"$minKey":1,"a":1}']) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      assert.throws(() => fromExtendedJson(text), (error) => error instanceof CommandError && error.code === 9);
    });
  }

  it('refuses endless nesting', () => {
    assert.throws(() => fromExtendedJson('['.repeat(100000)), { name: 'CommandError' });
  });
});

describe('base64', () => {
  it('is read back, and is what Node writes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const text = encodeBase64(bytes);
        assert.equal(text, Buffer.from(bytes).toString('base64'));
        assert.deepEqual(decodeBase64(text), bytes);
        assert.deepEqual(decodeBase64(text.replaceAll('=', '')), bytes);
      }),
    );
    for (const text of ['a', 'ab=', 'a-b_', 'ab==c']) assert.equal(decodeBase64(text), undefined);
  });
});
