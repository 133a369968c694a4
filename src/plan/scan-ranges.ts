// From the bounds of an index to ranges of keys: the product of the points of its first fields with the intervals of the next, in the order of
// the index. What further fields ask is tested on each entry's bytes, without decoding.

import { compareBytes, concatBytes } from '../base/bytes.ts';
import { must } from '../base/assert.ts';
import { mappedItems } from '../base/long-lists.ts';
import { encodeKey, keyAfter, skipKeyField } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';
import type { Direction, KeyRange } from '../catalog/index.ts';
import type { IndexBounds } from './index-bounds.ts';
import { isEverything, isPoint } from './interval.ts';
import type { Interval, Intervals } from './interval.ts';

/** More combinations of points than this become one interval and a test. */
const prefixesMax = 1000;

/** A range with both ends. */
export interface ByteRange {
  readonly from: Uint8Array;
  readonly to: Uint8Array;
}

/** How an index is scanned. */
export interface ScanRanges {
  /** Ascending by bytes, apart. */
  readonly ranges: readonly KeyRange[];
  /** Tests the encoded fields of an entry in the ranges. */
  readonly test: ((key: Uint8Array) => boolean) | undefined;
  /** How many leading fields are points in every range. */
  readonly pointFields: number;
}

const after = (bytes: Uint8Array): Uint8Array => must(keyAfter(bytes), 'an encoded value is not all ones');
const encode = (value: Value, direction: Direction): Uint8Array => encodeKey([value], [direction]);

/** The bytes of one field that lie in an interval. */
function rangeOf({ low, lowInside, high, highInside }: Interval, direction: Direction): ByteRange {
  const lowBytes = encode(low, direction);
  const highBytes = encode(high, direction);
  if (direction > 0) return { from: lowInside ? lowBytes : after(lowBytes), to: highInside ? after(highBytes) : highBytes };
  return { from: highInside ? highBytes : after(highBytes), to: lowInside ? after(lowBytes) : lowBytes };
}

/** The intervals of one field as ranges, ascending by bytes. */
function fieldRanges(intervals: Intervals, direction: Direction): readonly ByteRange[] {
  if (intervals.length <= FEW) return madeRanges(intervals, direction);
  const known = rangesOfMany[direction].get(intervals) ?? madeRanges(intervals, direction);
  rangesOfMany[direction].set(intervals, known);
  return known;
}

/** Ranges of more intervals are kept: a planner asks for them several times. */
const FEW = 64;
const rangesOfMany: Readonly<Record<Direction, WeakMap<Intervals, readonly ByteRange[]>>> = { [1]: new WeakMap(), [-1]: new WeakMap() };

function madeRanges(intervals: Intervals, direction: Direction): readonly ByteRange[] {
  const ranges = mappedItems(intervals, (interval) => rangeOf(interval, direction));
  return direction > 0 ? ranges : ranges.toReversed();
}

/** The ranges and tests for the bounds of an index. */
export function scanRanges({ index, fields }: IndexBounds): ScanRanges {
  const { directions } = index;
  let prefixes: Uint8Array[] = [new Uint8Array(0)];
  let field = 0;
  for (; field < fields.length; field++) {
    const intervals = fields[field] as Intervals;
    if (prefixes.length * intervals.length > prefixesMax || !intervals.every(isPoint)) break;
    const points = fieldRanges(intervals, directions[field] as Direction).map(({ from }) => from);
    prefixes = prefixes.flatMap((prefix) => points.map((bytes) => concatBytes([prefix, bytes])));
  }
  const pointFields = field;
  const test = entryTest(fields, directions, field + 1);
  const intervals = fields[field];
  if (intervals === undefined || isEverything(intervals)) {
    const ranges = prefixes.map((prefix): KeyRange => (prefix.length === 0 ? {} : { from: prefix, to: after(prefix) }));
    return { ranges, test, pointFields };
  }
  const ranges = fieldRanges(intervals, directions[field] as Direction);
  if (ranges.length * prefixes.length <= prefixesMax) {
    return { ranges: prefixes.flatMap((prefix) => ranges.map((range) => prefixed(prefix, range))), test, pointFields };
  }
  const whole = { from: (ranges[0] as ByteRange).from, to: (ranges[ranges.length - 1] as ByteRange).to };
  return { ranges: prefixes.map((prefix) => prefixed(prefix, whole)), test: entryTest(fields, directions, field), pointFields };
}

const prefixed = (prefix: Uint8Array, { from, to }: ByteRange): KeyRange => ({
  from: concatBytes([prefix, from]),
  to: concatBytes([prefix, to]),
});

/** Tests the fields from `first` on; undefined where they may be anything. */
function entryTest(
  fields: readonly Intervals[],
  directions: readonly Direction[],
  first: number,
): ((key: Uint8Array) => boolean) | undefined {
  const wanted = fields.map((intervals, field) =>
    field < first || isEverything(intervals) ? undefined : fieldRanges(intervals, directions[field] as Direction),
  );
  const last = wanted.findLastIndex((ranges) => ranges !== undefined);
  if (last < 0) return undefined;
  return (key) => {
    let at = 0;
    for (let field = 0; field <= last; field++) {
      const end = skipKeyField(key, at, directions[field] as Direction);
      const ranges = wanted[field];
      if (ranges !== undefined && !isInside(ranges, key.subarray(at, end))) return false;
      at = end;
    }
    return true;
  };
}

function isInside(ranges: readonly ByteRange[], bytes: Uint8Array): boolean {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareBytes((ranges[middle] as ByteRange).to, bytes) <= 0) low = middle + 1;
    else high = middle;
  }
  const range = ranges[low];
  return range !== undefined && compareBytes(range.from, bytes) <= 0;
}
