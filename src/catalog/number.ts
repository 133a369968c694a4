// Numbers of options, of whatever type the client sent them.

import { Decimal128, Double, isNumber, roundNumber } from '../bson/index.ts';
import type { NumberValue, Value } from '../bson/index.ts';

/** The nearest double. */
export function toDouble(value: NumberValue): number {
  if (typeof value === 'number') return value;
  if (value instanceof Double) return value.value;
  return value instanceof Decimal128 ? Number(value.toString()) : Number(value);
}

/** The nearest double of what should be a number; NaN where it is none. */
export function numberOf(value: Value | undefined): number {
  return value !== undefined && isNumber(value) ? toDouble(value) : Number.NaN;
}

const longMax = 2n ** 63n - 1n;
const longMin = -(2n ** 63n);

/** The number as an int64: doubles are cut, decimals rounded to even, NaN is 0, and what is too large or small is the largest or least. */
export function wholeOf(value: NumberValue): bigint {
  if (typeof value === 'number') return BigInt(value);
  if (typeof value === 'bigint') return value;
  const rounded = value instanceof Decimal128 ? (roundNumber(value, 0, 'half-even') ?? value) : value;
  const number = toDouble(rounded);
  if (Number.isNaN(number)) return 0n;
  if (number >= 2 ** 63) return longMax;
  return number <= -(2 ** 63) ? longMin : BigInt(Math.trunc(number));
}
