// The order of numbers of all four types by exact value: nothing is rounded to compare. NaN is less than every number and equal to
// itself whatever its type, and -0 equals 0, as the page "Comparison/Sort Order" of the MongoDB manual says.

import { Decimal128, digitCount, powerOfTen } from './decimal128.ts';
import { readDoubleParts } from './double-parts.ts';
import { Double } from './scalar.ts';
import type { NumberValue } from './scalar-codec.ts';

/** Negative, zero or positive as `a` is less than, equal to or greater than `b`. */
export function compareNumbers(a: NumberValue, b: NumberValue): number {
  if (a instanceof Decimal128) return b instanceof Decimal128 ? compareDecimals(a, b) : compareDecimalTo(a, primitive(b));
  if (b instanceof Decimal128) return 0 - compareDecimalTo(b, primitive(a));
  return comparePrimitives(primitive(a), primitive(b));
}

function primitive(value: number | Double | bigint): number | bigint {
  return value instanceof Double ? value.value : value;
}

function comparePrimitives(a: number | bigint, b: number | bigint): number {
  // JavaScript compares a bigint with a number by exact value.
  if (a < b) return -1;
  if (a > b) return 1;
  return Number(Number.isNaN(b)) - Number(Number.isNaN(a));
}

/** Order of two decimals by value; cohort members are equal. */
function compareDecimals(a: Decimal128, b: Decimal128): number {
  if (a.kind === 'nan' || b.kind === 'nan') return Number(b.kind === 'nan') - Number(a.kind === 'nan');
  const aSign = decimalSign(a);
  const bSign = decimalSign(b);
  if (aSign !== bSign) return aSign < bSign ? -1 : 1;
  if (aSign === 0) return 0;
  return aSign < 0 ? compareMagnitudes(b, a) : compareMagnitudes(a, b);
}

function decimalSign(value: Decimal128): number {
  if (value.kind === 'finite' && value.coefficient === 0n) return 0;
  return value.negative ? -1 : 1;
}

function compareMagnitudes(a: Decimal128, b: Decimal128): number {
  if (a.kind === 'infinity' || b.kind === 'infinity') return Number(a.kind === 'infinity') - Number(b.kind === 'infinity');
  const scale = a.exponent + digitCount(a.coefficient) - (b.exponent + digitCount(b.coefficient));
  if (scale !== 0) return scale;
  const shift = a.exponent - b.exponent;
  const left = shift > 0 ? a.coefficient * powerOfTen(shift) : a.coefficient;
  const right = shift < 0 ? b.coefficient * powerOfTen(-shift) : b.coefficient;
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Order of a decimal and a number of another type. */
export function compareDecimalTo(a: Decimal128, b: number | bigint): number {
  if (a.kind === 'nan') return Number.isNaN(b) ? 0 : -1;
  if (Number.isNaN(b)) return 1;
  if (typeof b === 'bigint') return compareDecimals(a, Decimal128.fromBigInt(b));
  const nearest = decimalToDouble(a);
  if (nearest !== b) return nearest < b ? -1 : 1;
  // The nearest double is this one: both are infinite, both are about zero, or the rest decides. (Rounding keeps order, so the
  // comparison above was exact.)
  if (b === 0) return decimalSign(a);
  if (!Number.isFinite(b)) return a.kind === 'infinity' ? 0 : b > 0 ? -1 : 1;
  return compareFinite(a, b);
}

function compareFinite(a: Decimal128, b: number): number {
  const parts = readDoubleParts(b);
  // |a| = left / scale and |b| = right / scale for some common positive scale.
  let left = a.coefficient;
  let right = parts.mantissa;
  if (a.exponent >= 0) left *= powerOfTen(a.exponent);
  else right *= powerOfTen(-a.exponent);
  if (parts.exponent >= 0) right <<= BigInt(parts.exponent);
  else left <<= BigInt(-parts.exponent);
  const order = left < right ? -1 : left > right ? 1 : 0;
  return b < 0 ? 0 - order : order;
}

/** The nearest double, ties to even; infinities and NaN as such. */
export function decimalToDouble(value: Decimal128): number {
  if (value.kind === 'nan') return Number.NaN;
  const sign = value.negative ? '-' : '';
  if (value.kind === 'infinity') return value.negative ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return Number(`${sign}${value.coefficient.toString()}E${String(value.exponent)}`);
}
