// Intervals of values in BSON's order, and lists of them: ascending, apart from each other. They say which values of an indexed field a
// condition can match. Brackets of types are intervals too, as MongoDB prints them: numbers `[-inf.0, inf.0]`, strings `["", {})`.

import { overItems } from '../base/long-lists.ts';
import { sortedOf } from '../base/long-sort.ts';
import { looped } from '../base/long-work.ts';
import {
  Binary,
  BsonArray,
  compareValues,
  DateTime,
  describeValue,
  Document,
  Double,
  maxKey,
  minKey,
  ObjectId,
  Timestamp,
  typeClass,
} from '../bson/index.ts';
import type { TypeClass, Value } from '../bson/index.ts';

export interface Interval {
  readonly low: Value;
  readonly lowInside: boolean;
  readonly high: Value;
  readonly highInside: boolean;
}

/** Ascending and apart. Empty: no value. */
export type Intervals = readonly Interval[];

export const point = (value: Value): Interval => ({ low: value, lowInside: true, high: value, highInside: true });
export const everything: Intervals = [{ low: minKey, lowInside: true, high: maxKey, highInside: true }];
const closed = (low: Value, high: Value): Interval => ({ low, lowInside: true, high, highInside: true });
const below = (low: Value, high: Value): Interval => ({ low, lowInside: true, high, highInside: false });

export const isPoint = ({ low, lowInside, high, highInside }: Interval): boolean =>
  lowInside && highInside && compareValues(low, high) === 0;

export const isEverything = (intervals: Intervals): boolean =>
  intervals.length === 1 && intervals[0]?.low === minKey && intervals[0].high === maxKey && intervals[0].lowInside && intervals[0].highInside;

const emptyDocument = Document.empty;
const emptyArray = BsonArray.empty;
const leastBinary = new Binary(new Uint8Array(0), 0);

const brackets: ReadonlyMap<TypeClass, Interval> = new Map<TypeClass, Interval>([
  [typeClass.minKey, point(minKey)],
  [typeClass.null, point(null)],
  [typeClass.number, closed(new Double(Number.NEGATIVE_INFINITY), new Double(Number.POSITIVE_INFINITY))],
  [typeClass.string, below('', emptyDocument)],
  [typeClass.object, below(emptyDocument, emptyArray)],
  [typeClass.array, below(emptyArray, leastBinary)],
  [typeClass.binData, below(leastBinary, new ObjectId(new Uint8Array(12)))],
  [typeClass.objectId, closed(new ObjectId(new Uint8Array(12)), new ObjectId(new Uint8Array(12).fill(0xff)))],
  [typeClass.bool, closed(false, true)],
  [typeClass.date, closed(new DateTime(-(2n ** 63n)), new DateTime(2n ** 63n - 1n))],
  [typeClass.timestamp, closed(new Timestamp(0, 0), new Timestamp(0xffffffff, 0xffffffff))],
  [typeClass.maxKey, point(maxKey)],
]);

/** All values of a class of types, NaN left out; undefined for rare classes that have no printable ends. */
export function bracketOf(of: TypeClass): Interval | undefined {
  return brackets.get(of);
}

/** NaN, which is a number below all others. */
export const nanPoint: Interval = point(new Double(Number.NaN));

/** Negative: `a` begins lower. */
function compareLows(a: Interval, b: Interval): number {
  return compareValues(a.low, b.low) || Number(b.lowInside) - Number(a.lowInside);
}

function compareHighs(a: Interval, b: Interval): number {
  return compareValues(a.high, b.high) || Number(a.highInside) - Number(b.highInside);
}

const isEmpty = ({ low, lowInside, high, highInside }: Interval): boolean => {
  const order = compareValues(low, high);
  return order > 0 || (order === 0 && !(lowInside && highInside));
};

/** Values in both. */
export function intersect(a: Intervals, b: Intervals): Intervals {
  if (isEverything(a)) return b;
  if (isEverything(b)) return a;
  const state: Meeting = { both: [], i: 0, j: 0 };
  if (a.length + b.length <= FEW) {
    while (!meet(a, b, state));
    return state.both;
  }
  return looped(() => state, (meeting) => meet(a, b, meeting))?.both ?? [];
}

/** Lists of no more intervals are intersected in one go. */
const FEW = 32;

interface Meeting {
  readonly both: Interval[];
  i: number;
  j: number;
}

/** Intersects the next two; true: there are no more. */
function meet(a: Intervals, b: Intervals, meeting: Meeting): boolean {
  const left = a[meeting.i];
  const right = b[meeting.j];
  if (left === undefined || right === undefined) return true;
  const from = compareLows(left, right) >= 0 ? left : right;
  const leftEndsFirst = compareHighs(left, right) <= 0;
  const to = leftEndsFirst ? left : right;
  const common = { low: from.low, lowInside: from.lowInside, high: to.high, highInside: to.highInside };
  if (!isEmpty(common)) meeting.both.push(common);
  if (leftEndsFirst) meeting.i += 1;
  else meeting.j += 1;
  return false;
}

/** Values in any. */
export function unite(intervals: Intervals): Intervals {
  return overItems(sortedOf(intervals, compareLows), (): Interval[] => [], (united, next) => {
    const last = united[united.length - 1];
    if (last === undefined || areApart(last, next)) {
      united.push(next);
    } else if (compareHighs(last, next) < 0) {
      united[united.length - 1] = { ...last, high: next.high, highInside: next.highInside };
    }
  });
}

/** Whether there is room between `a` and `b`, which begins at or after `a`. */
function areApart(a: Interval, b: Interval): boolean {
  const order = compareValues(a.high, b.low);
  return order < 0 || (order === 0 && !a.highInside && !b.lowInside);
}

/** Values in none. */
export function complement(intervals: Intervals): Intervals {
  const begin = (): { readonly rest: Interval[]; low: Value; lowInside: boolean } => ({ rest: [], low: minKey, lowInside: true });
  const { rest, low, lowInside } = overItems(intervals, begin, (state, interval) => {
    const gap = { low: state.low, lowInside: state.lowInside, high: interval.low, highInside: !interval.lowInside };
    if (!isEmpty(gap)) state.rest.push(gap);
    state.low = interval.high;
    state.lowInside = !interval.highInside;
  });
  const gap = { low, lowInside, high: maxKey, highInside: true };
  if (!isEmpty(gap)) rest.push(gap);
  return rest;
}

/** As MongoDB prints it: `[5, 7)`; downwards the ends change places. Texts of collated bounds are sort keys. */
export function describeInterval({ low, lowInside, high, highInside }: Interval, direction: 1 | -1, isCollated: boolean): string {
  const lowText = describeEnd(low, isCollated);
  const highText = describeEnd(high, isCollated);
  return direction > 0
    ? `${lowInside ? '[' : '('}${lowText}, ${highText}${highInside ? ']' : ')'}`
    : `${highInside ? '[' : '('}${highText}, ${lowText}${lowInside ? ']' : ')'}`;
}

function describeEnd(value: Value, isCollated: boolean): string {
  if (isCollated && typeof value === 'string' && value !== '') {
    return `CollationKey(0x${Array.from(value, (byte) => byte.charCodeAt(0).toString(16).padStart(2, '0')).join('')})`;
  }
  if (value instanceof Double && !Number.isFinite(value.value) && !Number.isNaN(value.value)) return value.value < 0 ? '-inf.0' : 'inf.0';
  return describeValue(value);
}
