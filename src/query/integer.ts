// Numbers of the four BSON types read as integers, for the operators whose operands are counts, positions, divisors and masks.

import { Decimal128, Double, readDouble, readInt32, readInt64, bsonType, decodeValue, isNumber } from '../bson/index.ts';
import type { NumberValue } from '../bson/index.ts';

export const int64Min: bigint = -(2n ** 63n);
export const int64Max: bigint = 2n ** 63n - 1n;

/** The number without its fraction, cut towards zero; undefined for NaN and the infinities. */
export function truncate(value: NumberValue): bigint | undefined {
  if (typeof value === 'number') return BigInt(value);
  if (typeof value === 'bigint') return value;
  if (value instanceof Double) return Number.isFinite(value.value) ? BigInt(Math.trunc(value.value)) : undefined;
  return truncateDecimal(value);
}

function truncateDecimal(value: Decimal128): bigint | undefined {
  if (!value.isFinite) return undefined;
  const { coefficient, exponent, negative } = value;
  const size = exponent >= 0 ? coefficient * 10n ** BigInt(exponent) : coefficient / 10n ** BigInt(-exponent);
  return negative ? -size : size;
}

/** The number as an integer; undefined if it has a fraction or is not finite. */
export function wholeNumber(value: NumberValue): bigint | undefined {
  if (typeof value === 'number') return BigInt(value);
  if (typeof value === 'bigint') return value;
  if (value instanceof Double) return Number.isInteger(value.value) ? BigInt(value.value) : undefined;
  const cut = truncateDecimal(value);
  if (cut === undefined || value.exponent >= 0) return cut;
  return value.coefficient % 10n ** BigInt(-value.exponent) === 0n ? cut : undefined;
}

/** Whether an int64 can hold the integer. */
export function fitsInt64(value: bigint): boolean {
  return value >= int64Min && value <= int64Max;
}

/** Whether the number is NaN, as a double or a decimal. */
export function isNaNValue(value: NumberValue): boolean {
  if (value instanceof Double) return Number.isNaN(value.value);
  return value instanceof Decimal128 && value.isNaN;
}

/** The number in a document where it lies, or undefined if the type byte is not a number's. */
export function readNumber(bytes: Uint8Array, type: number, at: number): NumberValue | undefined {
  switch (type) {
    case bsonType.int:
      return readInt32(bytes, at);
    case bsonType.double:
      return new Double(readDouble(bytes, at));
    case bsonType.long:
      return readInt64(bytes, at);
    case bsonType.decimal: {
      const value = decodeValue(bytes, type, at);
      return isNumber(value) ? value : undefined;
    }
    default:
      return undefined;
  }
}
