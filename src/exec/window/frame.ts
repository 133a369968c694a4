// Windows of `$setWindowFields`: which neighbours of a document, in the order of its partition, an operator sees. By position
// (`documents`), or by how far the value that the partition is sorted by lies from the document's own (`range`).
// Follows the manual's page "$setWindowFields (aggregation)", section "Window Bounds".

import { addNumbers, BsonArray, compareValues, DateTime, Document, isNumber, toDouble } from '../../bson/index.ts';
import type { NumberValue, Value } from '../../bson/index.ts';
import { addDateUnits, isDateUnit, nameOf, refuse } from '../../query/index.ts';
import type { DateUnit } from '../../query/index.ts';

/** The documents of one partition in order, and what they are sorted by where that is one field. */
export interface Partition {
  readonly documents: readonly Document[];
  /** True if the document at `index` sorts equal to the one before it. */
  tiesWithLast(index: number): boolean;
  /** The value of the one field it is sorted by. */
  sortValue(index: number): Value | undefined;
}

/** Gives the values of a partition's documents, in their order; undefined, any number of times before a value: more work is to be done. */
export type WindowFunction = (partition: Partition) => Iterator<Value | undefined>;

/** From `from` up to, but not with, `to`. */
export interface Frame {
  readonly from: number;
  readonly to: number;
}

/** Gives the window of each document, asked in order. */
export type Frames = (partition: Partition) => (index: number) => Frame;

/** How a stage sorts its partitions. */
export interface WindowOrder {
  /** Undefined where no order is given. */
  readonly sortBy: Document | undefined;
}

type Bound = NumberValue | 'unbounded';

interface Bounds {
  readonly lower: Bound;
  readonly upper: Bound;
}

/** A compiled window. */
export interface Window {
  readonly frames: Frames;
  /** True if documents leave it as it goes on. */
  readonly loses: boolean;
}

const whole: Window = {
  frames: ({ documents }) => {
    const frame = { from: 0, to: documents.length };
    return () => frame;
  },
  loses: false,
};

function parseBound(value: Value, integral: boolean): Bound {
  if (value === 'unbounded') return value;
  if (value === 'current') return 0;
  if (!isNumber(value)) throw refuse(9, `Window bounds must be 'unbounded', 'current', or a number, but found ${nameOf(value)}`);
  if (integral && !Number.isInteger(toDouble(value))) throw refuse(9, 'Numeric document-based bounds must be an integer');
  return value;
}

function parseBounds(value: Value, integral: boolean): Bounds {
  const items = value instanceof BsonArray ? value.items() : [];
  const [first, second] = items;
  if (first === undefined || second === undefined || items.length > 2) throw refuse(9, 'Window bounds must be a 2-element array');
  const lower = parseBound(first, integral);
  const upper = parseBound(second, integral);
  if (lower !== 'unbounded' && upper !== 'unbounded' && compareValues(lower, upper) > 0) {
    throw refuse(5339900, 'Lower bound must not exceed upper bound');
  }
  return { lower, upper };
}

function byPosition({ lower, upper }: Bounds): Window {
  const before = lower === 'unbounded' ? -Infinity : toDouble(lower);
  const after = upper === 'unbounded' ? Infinity : toDouble(upper);
  const frames: Frames = ({ documents }) => {
    const within = (index: number): number => Math.min(Math.max(0, index), documents.length);
    return (index) => {
      const from = within(index + before);
      return { from, to: Math.max(from, within(index + after + 1)) };
    };
  };
  return { frames, loses: lower !== 'unbounded' };
}

function offsetNumber(value: Value | undefined, bound: NumberValue): Value {
  if (value instanceof DateTime) throw refuse(5429413, 'For windows that involve date or time ranges, a unit must be provided.');
  if (value === undefined || !isNumber(value)) {
    throw refuse(5429414, `Invalid range: Expected the sortBy field to be a number, but it was ${nameOf(value)}`);
  }
  return addNumbers(value, bound);
}

function offsetDate(value: Value | undefined, bound: NumberValue, unit: DateUnit): Value {
  if (!(value instanceof DateTime)) {
    throw refuse(5429513, `Invalid range: Expected the sortBy field to be a Date, but it was ${nameOf(value)}`);
  }
  return addDateUnits(value, unit, toDouble(bound));
}

function byValue({ lower, upper }: Bounds, unit: DateUnit | undefined): Window {
  if (lower === 'unbounded' && upper === 'unbounded') return whole;
  const offset = (value: Value | undefined, bound: NumberValue): Value =>
    unit === undefined ? offsetNumber(value, bound) : offsetDate(value, bound, unit);
  const frames: Frames = (partition) => {
    const { length } = partition.documents;
    let from = 0;
    let to = 0;
    const isBefore = (index: number, limit: Value, orEqual: boolean): boolean => {
      const order = compareValues(partition.sortValue(index) ?? null, limit);
      return order < 0 || (orEqual && order === 0);
    };
    return (index) => {
      const value = partition.sortValue(index);
      if (lower !== 'unbounded') {
        const least = offset(value, lower);
        while (from < length && isBefore(from, least, false)) from += 1;
      }
      if (upper === 'unbounded') {
        to = length;
      } else {
        const most = offset(value, upper);
        while (to < length && isBefore(to, most, true)) to += 1;
      }
      return { from, to: Math.max(from, to) };
    };
  };
  return { frames, loses: lower !== 'unbounded' };
}

function unitOf(value: Value | undefined): DateUnit | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'string') throw refuse(9, `'unit' must be a string, but found ${nameOf(value)}`);
  if (!isDateUnit(value)) throw refuse(9, `unknown time unit value: ${value}`);
  return value;
}

function rangeFrames(range: Value, unit: DateUnit | undefined, { sortBy }: WindowOrder): Window {
  const bounds = parseBounds(range, unit !== undefined);
  const [field, second] = sortBy?.fields ?? [];
  if (field === undefined || second !== undefined) throw refuse(5339902, 'Range-based bounds require sortBy a single field');
  if (compareValues(field[1], 1) !== 0) throw refuse(8947401, 'Range-based bounds require an ascending sortBy');
  return byValue(bounds, unit);
}

/** Compiles a window; undefined is the whole partition. */
export function compileWindow(window: Value | undefined, order: WindowOrder): Window {
  if (window === undefined) return whole;
  if (!(window instanceof Document)) throw refuse(9, `'window' field must be an object, but found ${nameOf(window)}`);
  const unknown = window.keys().find((name) => name !== 'documents' && name !== 'range' && name !== 'unit');
  if (unknown !== undefined) throw refuse(9, `'window' field contains an unknown argument: ${unknown}`);
  const documents = window.get('documents');
  const range = window.get('range');
  const unit = unitOf(window.get('unit'));
  if (documents !== undefined && range !== undefined) throw refuse(9, 'Window bounds can specify either documents or range, not both.');
  if (unit !== undefined && range === undefined) throw refuse(9, `Window bounds can only specify 'unit' with range-based bounds.`);
  if (range !== undefined) return rangeFrames(range, unit, order);
  if (documents === undefined) return whole;
  const bounds = parseBounds(documents, true);
  if (bounds.lower === 'unbounded' && bounds.upper === 'unbounded') return whole;
  if (order.sortBy === undefined) throw refuse(5339901, 'Document-based bounds require a sortBy');
  return byPosition(bounds);
}
