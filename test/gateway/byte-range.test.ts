// Ranges against RFC 9110, section 14: 14.1.1 (ranges-specifier, lists with empty elements by 5.6.1.2), 14.1.2 (byte ranges, suffixes, clamping),
// 14.2 (what does not apply is ignored), 15.5.17 (416), and the limits of CVE-2011-3192. A model in BigInt checks every header of a small grammar.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { rangesMax, readRange } from '../../src/gateway/byte-range.ts';

const N = 8193;
type Expected = 'whole' | 'none' | readonly (readonly [number, number])[];

function shown(header: string | undefined, length = N): Expected {
  const answer = readRange(header, length);
  return answer.kind === 'ranges' ? answer.ranges.map(({ first, last }) => [first, last] as const) : answer.kind;
}

const table: readonly (readonly [string, Expected, string])[] = [
  ['bytes=0-', [[0, 8192]], 'the whole as a range is still a range'],
  ['bytes=0-0', [[0, 0]], 'one byte: an end of 0 is there'],
  ['bytes=0-1', [[0, 1]], "Safari's probe"],
  ['bytes=8192-', [[8192, 8192]], 'the last byte'],
  ['bytes=8191-8192', [[8191, 8192]], 'the last two'],
  ['bytes=4000-4099', [[4000, 4099]], 'in the middle'],
  ['bytes=0-8192', [[0, 8192]], 'exactly all'],
  ['bytes=0-8193', [[0, 8192]], 'clamped by one'],
  ['bytes=0-99999', [[0, 8192]], 'clamped'],
  ['bytes=0-99999999999999999999999999', [[0, 8192]], 'an end beyond 2^64 is clamped before it is a number'],
  ['bytes=0-9223372036854775808', [[0, 8192]], 'an end of 2^63'],
  ['bytes=00000000000000000000000000000-00000000000000000000000000001', [[0, 1]], 'leading zeros'],
  ['bytes=8193-', 'none', 'begins at the end'],
  ['bytes=9000-', 'none', 'begins beyond the end'],
  ['bytes=99999999999999999999999999-', 'none', 'begins beyond 2^64'],
  ['bytes=99999999999999999999999998-99999999999999999999999999', 'none', 'both beyond 2^64, in order'],
  ['bytes=99999999999999999999999999-99999999999999999999999998', 'whole', 'both beyond 2^64, out of order: not a range'],
  ['bytes=-1', [[8192, 8192]], 'suffix of one'],
  ['bytes=-5', [[8188, 8192]], 'suffix of five'],
  ['bytes=-8193', [[0, 8192]], 'suffix of all'],
  ['bytes=-9000', [[0, 8192]], 'a suffix longer than the file is the file'],
  ['bytes=-99999999999999999999', [[0, 8192]], 'a suffix beyond 2^64'],
  ['bytes=-0', 'none', 'a suffix of nothing cannot be satisfied'],
  ['bytes=-000', 'none', 'a suffix of nothing, with zeros'],
  ['bytes=5-2', 'whole', 'last before first is not a range'],
  ['bytes=0-1,5-2', 'whole', 'one that is none spoils the set'],
  ['bytes=', 'whole', 'no range'],
  ['bytes=,', 'whole', 'only empty elements'],
  ['bytes=-', 'whole', 'no digits'],
  ['bytes=abc', 'whole', 'no digits'],
  ['bytes=1', 'whole', 'no dash'],
  ['bytes=1-2-3', 'whole', 'two dashes'],
  ['bytes=--1', 'whole', 'two dashes'],
  ['bytes=+1-2', 'whole', 'a sign'],
  ['bytes=1 -2', 'whole', 'a space inside'],
  ['bytes=1- 2', 'whole', 'a space inside'],
  ['bytes=0x1-2', 'whole', 'hexadecimal'],
  ['bytes=1.0-2', 'whole', 'a point'],
  ['bytes=1e2-', 'whole', 'an exponent'],
  ['bytes=٣-٤', 'whole', 'digits of another script'],
  ['bytes', 'whole', 'no equals sign'],
  ['bytes =0-1', 'whole', 'a space before the equals sign'],
  ['', 'whole', 'empty'],
  ['seconds=0-1', 'whole', 'another unit is ignored'],
  ['none', 'whole', 'none'],
  ['BYTES=0-1', [[0, 1]], 'units are case-insensitive'],
  ['Bytes=0-1', [[0, 1]], 'units are case-insensitive'],
  ['bytes= 0-1', [[0, 1]], 'white space around elements of a list'],
  ['bytes=0-1 ', [[0, 1]], 'white space around elements of a list'],
  ['bytes=0-1 ,\t3-4', [[0, 1], [3, 4]], 'white space around commas'],
  ['bytes=,0-1,,3-4,', [[0, 1], [3, 4]], 'empty elements of a list'],
  ['bytes=3-4,0-1', [[3, 4], [0, 1]], 'in the order asked'],
  ['bytes=0-1,9000-9001', [[0, 1]], 'what cannot be satisfied is left out'],
  ['bytes=9000-9001,-0', 'none', 'none of them can'],
  ['bytes=0-0,-1', [[0, 0], [8192, 8192]], 'first and last'],
  ['bytes=0-100,50-150', [[0, 100], [50, 150]], 'one overlap is let through'],
  ['bytes=0-100,50-150,140-160', 'whole', 'more than one overlap'],
  ['bytes=0-,0-', 'whole', 'more than the file has'],
  ['bytes=0-8000,0-8000', 'whole', 'more than the file has'],
  [`bytes=${Array.from({ length: rangesMax }, (_, i) => `${i * 2}-${i * 2}`).join()}`, Array.from({ length: rangesMax }, (_, i) => [i * 2, i * 2] as const), 'fifty'],
  [`bytes=${Array.from({ length: rangesMax + 1 }, (_, i) => `${i * 2}-${i * 2}`).join()}`, 'whole', 'fifty-one'],
  [`bytes=${Array.from({ length: 1300 }, (_, i) => `5-${i + 5}`).join()}`, 'whole', 'the attack of CVE-2011-3192'],
];

describe('a Range header', () => {
  for (const [header, expected, why] of table) {
    test(`${header.length > 60 ? `${header.slice(0, 57)}...` : JSON.stringify(header)}: ${why}`, () => assert.deepEqual(shown(header), expected));
  }

  test('that is not there asks for the whole', () => assert.equal(shown(undefined), 'whole'));

  test('is ignored for a file without bytes', () => {
    for (const header of ['bytes=0-', 'bytes=-1', 'bytes=0-0', 'bytes=5-']) assert.equal(shown(header, 0), 'whole');
  });

  test('of any digits agrees with the RFC in whole numbers of any size', () => {
    const digits = fc.oneof(fc.constant(''), fc.nat(20).map(String), fc.bigInt({ min: 0n, max: 2n ** 70n }).map(String));
    fc.assert(
      fc.property(digits, digits, fc.integer({ min: 1, max: 20 }), (first, last, length) => {
        assert.deepEqual(shown(`bytes=${first}-${last}`, length), model(first, last, BigInt(length)));
      }),
    );
  });
});

/** RFC 9110, 14.1.2, written down once more, without clamping. */
function model(first: string, last: string, length: bigint): Expected {
  if (first === '' && last === '') return 'whole';
  if (first === '') {
    const count = BigInt(last) > length ? length : BigInt(last);
    return count === 0n ? 'none' : [[Number(length - count), Number(length - 1n)]];
  }
  if (last !== '' && BigInt(last) < BigInt(first)) return 'whole';
  if (BigInt(first) >= length) return 'none';
  const end = last === '' || BigInt(last) >= length ? length - 1n : BigInt(last);
  return [[Number(first), Number(end)]];
}
