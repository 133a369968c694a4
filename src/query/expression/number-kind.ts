// Questions about numbers that operators ask of their arguments: zero or not, whole or not, within int32 or int64, and the widest type
// of several. The order of width is int, long, double, decimal.

import { Decimal128, Double } from '../../bson/index.ts';
import type { NumberValue, Value } from '../../bson/index.ts';

/** The types of numbers from the narrowest to the widest. */
export type Width = 'int' | 'long' | 'double' | 'decimal';

/** The bounds of int64. */
export const longMin: bigint = -(2n ** 63n);
export const longMax: bigint = 2n ** 63n - 1n;

/** The type of a number. */
export function widthOf(value: NumberValue): Width {
  if (typeof value === 'number') return 'int';
  if (typeof value === 'bigint') return 'long';
  return value instanceof Double ? 'double' : 'decimal';
}

const rank: Readonly<Record<Width, number>> = { int: 0, long: 1, double: 2, decimal: 3 };

/** The wider of a width so far and a number's. */
export function widest(width: Width, value: NumberValue): Width {
  const other = widthOf(value);
  return rank[other] > rank[width] ? other : width;
}

/** True for 0 of any type, also for a negative one. */
export function isZero(value: NumberValue): boolean {
  if (typeof value === 'number') return value === 0;
  if (typeof value === 'bigint') return value === 0n;
  if (value instanceof Double) return value.value === 0;
  return value.isFinite && value.coefficient === 0n;
}

/** A whole number in int64 as an int32 if it fits, else as an int64. */
export function narrow(value: bigint): Value {
  return BigInt.asIntN(32, value) === value ? Number(value) : value;
}

/** A whole number if int64 holds it. */
export function withinLong(value: bigint): bigint | undefined {
  return value >= longMin && value <= longMax ? value : undefined;
}

/** The whole number a decimal is cut to; `undefined` for infinities and NaN. */
export function truncateDecimal(value: Decimal128): bigint | undefined {
  if (!value.isFinite) return undefined;
  if (value.coefficient === 0n || value.exponent < -40) return 0n;
  const magnitude = value.exponent < 0 ? value.coefficient / 10n ** BigInt(-value.exponent) : value.coefficient * 10n ** BigInt(value.exponent);
  return value.negative ? -magnitude : magnitude;
}

/** The whole number of a number that is one, whatever its type; `undefined` if it has a fraction, is infinite or NaN. */
export function wholeOf(value: NumberValue): bigint | undefined {
  if (typeof value === 'number') return BigInt(value);
  if (typeof value === 'bigint') return value;
  if (value instanceof Double) return Number.isInteger(value.value) ? BigInt(value.value) : undefined;
  const whole = truncateDecimal(value);
  if (whole === undefined || value.exponent >= 0) return whole;
  return value.coefficient % 10n ** BigInt(Math.min(-value.exponent, 40)) === 0n ? whole : undefined;
}

/** The int32 that a number is, whatever its type; `undefined` if it is none. */
export function int32Of(value: Value | undefined): number | undefined {
  if (typeof value === 'number') return value;
  if (value instanceof Double) return (value.value | 0) === value.value ? value.value | 0 : undefined;
  if (typeof value !== 'bigint' && !(value instanceof Decimal128)) return undefined;
  const whole = wholeOf(value);
  return whole !== undefined && BigInt.asIntN(32, whole) === whole ? Number(whole) : undefined;
}
