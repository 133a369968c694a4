// Parts of strings and positions in them, counted in UTF-8 bytes or in code points.
// Follows the manual's pages "$substrBytes", "$substrCP", "$indexOfBytes" and "$indexOfCP".

import { decodeUtf8, encodeUtf8, utf8Length } from '../../base/text.ts';
import { Decimal128, isNumber, roundNumber, toInt64 } from '../../bson/index.ts';
import { refuse } from '../refuse.ts';
import { codePointIndex, countCodePoints, unitIndex } from './code-points.ts';
import { describeMaybe, fixed, isNullish, nameOf, ranged } from './define.ts';
import type { Maybe } from './define.ts';
import type { OperatorTable } from './compiler.ts';
import { int32Of } from './number-kind.ts';
import { coerceToText } from './to-text.ts';

/** A number as a whole one within int64: a double is cut, a decimal rounded; a decimal beyond int64 counts as the least int64. */
function longOf(value: Maybe, code: number, what: string): number {
  if (!isNumber(value)) throw refuse(code, `$substrBytes: ${what} must be a numeric type (is BSON type ${nameOf(value)})`);
  if (value instanceof Decimal128) {
    const rounded = roundNumber(value, 0, 'half-even');
    return rounded === undefined ? -(2 ** 63) : Number(toInt64(rounded) ?? -(2n ** 63n));
  }
  const whole = toInt64(value);
  if (whole === undefined) throw refuse(31109, `Can't coerce out of range value ${describeMaybe(value)} to long`);
  return Number(whole);
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

function substrBytes([input, first, count]: readonly Maybe[]): Maybe {
  const bytes = encodeUtf8(coerceToText(input));
  const start = longOf(first, 16034, ' starting index');
  const length = longOf(count, 16035, ' length');
  if (start < 0) throw refuse(50752, `$substrBytes:  starting index must be non-negative (got: ${start})`);
  const end = length < 0 ? bytes.length : Math.min(start + length, bytes.length);
  if (isContinuation(bytes[start])) {
    throw refuse(28656, '$substrBytes:  Invalid range, starting index is a UTF-8 continuation byte.');
  }
  if (isContinuation(bytes[end])) {
    throw refuse(28657, '$substrBytes:  Invalid range, ending index is in the middle of a UTF-8 character.');
  }
  return start >= end ? '' : decodeUtf8(bytes, start, end);
}

function codePointBound(value: Maybe, codes: readonly [number, number], what: string): number {
  if (!isNumber(value)) throw refuse(codes[0], `$substrCP: ${what} must be a numeric type (is BSON type ${nameOf(value)})`);
  const bound = int32Of(value);
  if (bound === undefined) {
    throw refuse(codes[1], `$substrCP: ${what} cannot be represented as a 32-bit integral value: ${describeMaybe(value)}`);
  }
  return bound;
}

function substrCP([input, first, count]: readonly Maybe[]): Maybe {
  const text = coerceToText(input);
  const start = codePointBound(first, [34450, 34451], 'starting index');
  const length = codePointBound(count, [34452, 34453], 'length');
  if (length < 0) throw refuse(34454, '$substrCP: length must be a nonnegative integer.');
  if (start < 0) throw refuse(34455, '$substrCP: the starting index must be nonnegative integer.');
  const from = unitIndex(text, start);
  const rest = text.slice(from);
  return rest.slice(0, unitIndex(rest, length));
}

interface Measure {
  readonly name: string;
  readonly codes: readonly [number, number];
  readonly length: (text: string) => number;
  /** The UTF-16 index of a position. */
  readonly unitOf: (text: string, position: number) => number;
  readonly positionOf: (text: string, unit: number) => number;
  /** Whether what was found at a position, so long, lies before `stop`. */
  readonly within: (position: number, length: number, stop: number) => boolean;
}

/** The UTF-16 index of the first character that begins at or behind a byte. */
function unitOfByte(text: string, position: number): number {
  const bytes = encodeUtf8(text);
  let at = position;
  while (isContinuation(bytes[at])) at += 1;
  return decodeUtf8(bytes, 0, Math.min(at, bytes.length)).length;
}

const byBytes: Measure = {
  name: '$indexOfBytes',
  codes: [40091, 40092],
  length: utf8Length,
  unitOf: unitOfByte,
  positionOf: (text, unit) => utf8Length(text.slice(0, unit)),
  within: (position, length, stop) => position + length <= stop,
};
const byCodePoints: Measure = {
  name: '$indexOfCP',
  codes: [40093, 40094],
  length: countCodePoints,
  unitOf: unitIndex,
  positionOf: codePointIndex,
  // Only the beginning has to lie before the end.
  within: (position, _length, stop) => position < stop,
};

function bound(value: Maybe, name: string, what: string): number {
  const whole = int32Of(value);
  if (whole === undefined) {
    const found = `found a value of type: ${nameOf(value)}, with value: ${describeMaybe(value)}`;
    throw refuse(40096, `${name} requires an integral ${what}, ${found}`);
  }
  if (whole < 0) throw refuse(40097, `${name} requires a nonnegative ${what}, found: ${whole}`);
  return whole;
}

function indexOf(measure: Measure): (values: readonly Maybe[]) => Maybe {
  return (values) => {
    const [text, part] = values;
    const { codes, name } = measure;
    if (isNullish(text)) return null;
    if (typeof text !== 'string') throw refuse(codes[0], `${name} requires a string as the first argument, found: ${nameOf(text)}`);
    if (typeof part !== 'string') throw refuse(codes[1], `${name} requires a string as the second argument, found: ${nameOf(part)}`);
    const start = values.length > 2 ? bound(values[2], name, 'starting index') : 0;
    const length = measure.length(text);
    const stop = values.length > 3 ? Math.min(bound(values[3], name, 'ending index'), length) : length;
    if (start > length || stop < start) return -1;
    const at = text.indexOf(part, measure.unitOf(text, start));
    if (at < 0) return -1;
    const position = measure.positionOf(text, at);
    return measure.within(position, measure.length(part), stop) ? position : -1;
  };
}

/** The operators, by name. */
export const substringOperators: OperatorTable = {
  $substr: fixed(3, substrBytes),
  $substrBytes: fixed(3, substrBytes),
  $substrCP: fixed(3, substrCP),
  $indexOfBytes: ranged(2, 4, indexOf(byBytes)),
  $indexOfCP: ranged(2, 4, indexOf(byCodePoints)),
};
