// Numbers in command fields: whatever numeric type a client sends, as the 64-bit integer that MongoDB makes of it. A double loses its
// fraction; a decimal is rounded.

import { Decimal128, Double, isZero, roundNumber, wholeNumber, type NumberValue } from '../bson/index.ts';

const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);

function clampToInt64(value: bigint): bigint {
  if (value > INT64_MAX) return INT64_MAX;
  return value < INT64_MIN ? INT64_MIN : value;
}

function doubleToInt64(value: number): bigint {
  if (Number.isNaN(value)) return 0n;
  if (!Number.isFinite(value)) return value > 0 ? INT64_MAX : INT64_MIN;
  return clampToInt64(BigInt(Math.trunc(value)));
}

/** To the nearest integer, to the even one of two; all 34 digits count. */
function decimalToInt64(value: Decimal128): bigint {
  const whole = value.isFinite ? wholeNumber(roundNumber(value, 0, 'half-even') ?? value) : undefined;
  return whole === undefined ? doubleToInt64(asDouble(value)) : clampToInt64(whole);
}

function asDouble(value: NumberValue): number {
  return value instanceof Double ? value.value : Number(value.toString());
}

/** The number as an integer, clamped to 64 bits; NaN is 0. */
export function toInt64Truncated(value: NumberValue): bigint {
  if (typeof value === 'number') return BigInt(value);
  if (typeof value === 'bigint') return value;
  if (value instanceof Decimal128) return decimalToInt64(value);
  return doubleToInt64(value.value);
}

/** Whether it counts as true: everything but zero does, NaN too. */
export function isTruthy(value: NumberValue): boolean {
  return typeof value === 'bigint' ? value !== 0n : !isZero(value);
}

/** Whether it is NaN. */
export function isNan(value: NumberValue): boolean {
  return Number.isNaN(asDouble(value));
}

/** Whether it is a finite number without a fraction. */
export function isIntegral(value: NumberValue): boolean {
  return Number.isInteger(asDouble(value));
}

/** Whether it lies within 64 bits. */
export function isInt64(value: NumberValue): boolean {
  return Math.abs(asDouble(value)) <= 2 ** 63;
}
