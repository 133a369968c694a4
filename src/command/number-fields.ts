// Numbers in command fields: whatever numeric type a client sends, as the 64-bit integer that MongoDB makes of it.

import { Decimal128, Double, type NumberValue } from '../bson/index.ts';

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

/** The number without its fraction, clamped to 64 bits; NaN is 0. */
export function toInt64Truncated(value: NumberValue): bigint {
  if (typeof value === 'number') return BigInt(value);
  if (typeof value === 'bigint') return value;
  if (value instanceof Double) return doubleToInt64(value.value);
  return value instanceof Decimal128 ? doubleToInt64(Number(value.toString())) : 0n;
}
