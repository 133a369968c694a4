// The range of `$densify`: how far apart values are to be, from where to where. Numbers go by their step, dates by calendar units.
// Follows the manual's page "$densify (aggregation)".

import { addNumbers, BsonArray, compareValues, DateTime, Document, isNumber, toDouble, typeOf, wholeNumber } from '../bson/index.ts';
import type { NumberValue, Value } from '../bson/index.ts';
import { addDateUnits, isDateUnit, nameOf, refuse } from '../query/index.ts';
import type { DateUnit } from '../query/index.ts';

/** A place in the range. */
export type Place = NumberValue | DateTime;

/** A compiled range; `bounds` is where it lies, the upper one outside. */
export interface DensifyRange {
  readonly bounds: 'full' | 'partition' | { readonly low: Place; readonly high: Place };
  /** The next place of the grid. */
  next(place: Place): Place;
  /** The value as a place; undefined for null and missing. Refuses what is of another kind than the step. */
  placeOf(value: Value | undefined): Place | undefined;
}

const FIELDS: ReadonlySet<string> = new Set(['step', 'unit', 'bounds']);
const MIXED = 'A bounding array must contain either both dates or both numeric types';

function stepOf(value: Value | undefined): NumberValue {
  if (value === undefined) throw refuse(40414, `BSON field '$densify.range.step' is missing but a required field`);
  if (isNumber(value) && toDouble(value) > 0) return value;
  throw refuse(5733401, 'The step parameter in a range statement must be a strictly positive numeric value');
}

function unitOf(value: Value, step: NumberValue): DateUnit | undefined {
  if (value === null) return undefined;
  if (typeof value !== 'string') throw refuse(14, `BSON field '$densify.range.unit' is the wrong type '${nameOf(value)}', expected type 'string'`);
  if (wholeNumber(step) === undefined) {
    throw refuse(6586400, 'The step parameter in a range statement must be a whole number when densifying a date range');
  }
  if (!isDateUnit(value)) throw refuse(9, `unknown time unit value: ${value}`);
  return value;
}

function explicitBounds(items: readonly Value[], step: NumberValue, unit: DateUnit | undefined): DensifyRange['bounds'] {
  const [low, high] = items;
  if (low === undefined || high === undefined || items.length !== 2) {
    throw refuse(5733403, 'A bounding array in a range statement must have exactly two elements');
  }
  if (compareValues(low, high) > 0) throw refuse(5733402, 'A bounding array must be an ascending array of either two dates or two numbers');
  if (isNumber(low)) {
    if (unit !== undefined) throw refuse(5733409, 'Numeric bounds may not have unit parameter');
    if (!isNumber(high)) throw refuse(5733406, MIXED);
    if (typeOf(low) !== typeOf(high) || typeOf(low) !== typeOf(step)) throw refuse(5876900, 'Upper bound, lower bound, and step must all have the same type');
    return { low, high };
  }
  if (!(low instanceof DateTime)) throw refuse(5946800, 'Explicit bounds must be numeric or dates');
  if (!(high instanceof DateTime)) throw refuse(5733405, MIXED);
  if (unit === undefined) throw refuse(5733410, 'A bounding array of dates must specify a unit');
  return { low, high };
}

function boundsOf(value: Value | undefined, step: NumberValue, unit: DateUnit | undefined): DensifyRange['bounds'] {
  if (value === undefined) throw refuse(40414, `BSON field '$densify.range.bounds' is missing but a required field`);
  if (value instanceof BsonArray) return explicitBounds(value.items(), step, unit);
  if (value === 'full' || value === 'partition') return value;
  if (typeof value === 'string') throw refuse(5946802, "Bounds string must either be 'full' or 'partition'");
  throw refuse(5733404, "The bounds in a range statement must be the string 'full', 'partition', or an ascending array of two numbers or two dates");
}

/** Compiles the range of a `$densify`. */
export function compileDensifyRange(range: Value | undefined): DensifyRange {
  if (range === undefined || range === null) throw refuse(40414, `BSON field '$densify.range' is missing but a required field`);
  if (!(range instanceof Document)) throw refuse(14, `BSON field '$densify.range' is the wrong type '${nameOf(range)}', expected type 'object'`);
  const unknown = range.keys().find((name) => !FIELDS.has(name));
  if (unknown !== undefined) throw refuse(40415, `BSON field '$densify.range.${unknown}' is an unknown field.`);
  const step = stepOf(range.get('step'));
  const unit = unitOf(range.get('unit') ?? null, step);
  return {
    bounds: boundsOf(range.get('bounds'), step, unit),
    next: (place) => (place instanceof DateTime ? addDateUnits(place, unit ?? 'millisecond', toDouble(step)) : addNumbers(place, step)),
    placeOf: (value) => {
      if (value === undefined || value === null) return undefined;
      const isDate = value instanceof DateTime;
      if (!isDate && !isNumber(value)) throw refuse(5733201, 'Densify field type must be numeric or a date');
      if (isDate && unit === undefined) throw refuse(6053601, 'Encountered date densify value in collection when step does not have a date unit.');
      if (!isDate && unit !== undefined) throw refuse(6053600, 'Encountered numeric densify value in collection when step has a date unit.');
      return value;
    },
  };
}
