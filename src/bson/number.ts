// Arithmetic over BSON's four number types with MongoDB's result types (manual: "$add", "$inc", "$multiply", "$divide", "$mod"): the
// widest type of the operands, in the order int32, int64, double, Decimal128; an int32 that overflows becomes int64; an int64 that
// overflows becomes a double in aggregation, while updates must refuse it (the "Checked" functions say so by undefined).
// A double that meets a decimal counts with 15 digits, as MongoDB converts it.

import {
  absDecimal,
  addDecimals,
  divideDecimals,
  doubleToDecimal,
  multiplyDecimals,
  negateDecimal,
  remainderDecimals,
  subtractDecimals,
  truncateToBigInt,
} from './decimal.ts';
import { Decimal128 } from './decimal128.ts';
import { decimalToDouble } from './number-order.ts';
import { Double } from './scalar.ts';
import type { NumberValue } from './scalar-codec.ts';

/** The types of numbers from the narrowest to the widest. */
export type NumberWidth = 0 | 1 | 2 | 3;
/** Names for the widths. */
export const numberWidth = { int: 0, long: 1, double: 2, decimal: 3 } as const;

/** The place of a number's type among the four. */
export function widthOf(value: NumberValue): NumberWidth {
  if (typeof value === 'number') return numberWidth.int;
  if (typeof value === 'bigint') return numberWidth.long;
  return value instanceof Double ? numberWidth.double : numberWidth.decimal;
}

/** Digits that a double has in a decimal. */
const doubleDigits = 15;

/** The value as a double, to the nearest. */
export function toDouble(value: NumberValue): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  return value instanceof Double ? value.value : decimalToDouble(value);
}

/** The value as a decimal; a double with 15 digits, all written out (2.5 is 2.50000000000000). */
export function toDecimal(value: NumberValue): Decimal128 {
  if (typeof value === 'number') return Decimal128.fromBigInt(BigInt(value));
  if (typeof value === 'bigint') return Decimal128.fromBigInt(value);
  return value instanceof Double ? doubleToDecimal(value.value, doubleDigits) : value;
}

/** Whether an int64 holds the integer. */
export function fitsInt64(value: bigint): boolean {
  return BigInt.asIntN(64, value) === value;
}

/** Whether an int32 holds the integer. */
export function fitsInt32(value: bigint): boolean {
  return BigInt.asIntN(32, value) === value;
}

/** An integer within int64 as int32 if it fits, else as int64. */
export function narrowInteger(value: bigint): number | bigint {
  return fitsInt32(value) ? Number(value) : value;
}

/** The value cut towards zero, of any size; undefined for NaN and infinities. */
export function truncateNumber(value: NumberValue): bigint | undefined {
  if (typeof value === 'number') return BigInt(value);
  if (typeof value === 'bigint') return value;
  if (value instanceof Double) return Number.isFinite(value.value) ? BigInt(Math.trunc(value.value)) : undefined;
  return truncateToBigInt(value);
}

/** The value as an integer of any size; undefined if it has a fraction or is not finite. */
export function wholeNumber(value: NumberValue): bigint | undefined {
  if (typeof value === 'number') return BigInt(value);
  if (typeof value === 'bigint') return value;
  if (value instanceof Double) return Number.isInteger(value.value) ? BigInt(value.value) : undefined;
  const whole = truncateToBigInt(value);
  if (whole === undefined || value.exponent >= 0) return whole;
  const magnitude = whole < 0n ? -whole : whole;
  return magnitude * 10n ** BigInt(-value.exponent) === value.coefficient ? whole : undefined;
}

/** Cut towards zero to an int32, as `$toInt`; undefined if it does not fit. A double must lie within the range before it is cut. */
export function toInt32(value: NumberValue): number | undefined {
  if (value instanceof Double) {
    return value.value >= -2147483648 && value.value <= 2147483647 ? Math.trunc(value.value) + 0 : undefined;
  }
  const whole = truncateNumber(value);
  return whole !== undefined && fitsInt32(whole) ? Number(whole) : undefined;
}

/** Cut towards zero to an int64, as `$toLong`; undefined if it does not fit. */
export function toInt64(value: NumberValue): bigint | undefined {
  const whole = truncateNumber(value);
  return whole !== undefined && fitsInt64(whole) ? whole : undefined;
}

/** Whether the value is NaN, a double's or a decimal's. */
export function isNaNNumber(value: NumberValue): boolean {
  if (value instanceof Double) return Number.isNaN(value.value);
  return value instanceof Decimal128 && value.isNaN;
}

/** Whether the value is zero of any type and sign. */
export function isZero(value: NumberValue): boolean {
  if (typeof value === 'number') return value === 0;
  if (typeof value === 'bigint') return value === 0n;
  if (value instanceof Double) return value.value === 0;
  return value.isFinite && value.coefficient === 0n;
}

interface Operation {
  double(a: number, b: number): number;
  integer(a: bigint, b: bigint): bigint;
  decimal(a: Decimal128, b: Decimal128): Decimal128;
}

const addition: Operation = { double: (a, b) => a + b, integer: (a, b) => a + b, decimal: addDecimals };
const subtraction: Operation = { double: (a, b) => a - b, integer: (a, b) => a - b, decimal: subtractDecimals };
const multiplication: Operation = { double: (a, b) => a * b, integer: (a, b) => a * b, decimal: multiplyDecimals };

/** undefined where an int64 overflows. */
function calculate(operation: Operation, a: NumberValue, b: NumberValue): NumberValue | undefined {
  if (typeof a === 'number' && typeof b === 'number') {
    const result = operation.double(a, b);
    if ((result | 0) === result) return result | 0;
    return Number.isSafeInteger(result) ? BigInt(result) : operation.integer(BigInt(a), BigInt(b));
  }
  if (a instanceof Decimal128 || b instanceof Decimal128) return operation.decimal(toDecimal(a), toDecimal(b));
  if (a instanceof Double || b instanceof Double) return new Double(operation.double(toDouble(a), toDouble(b)));
  const result = operation.integer(BigInt(a), BigInt(b));
  return fitsInt64(result) ? result : undefined;
}

function calculateWide(operation: Operation, a: NumberValue, b: NumberValue): NumberValue {
  return calculate(operation, a, b) ?? new Double(operation.double(toDouble(a), toDouble(b)));
}

/** a + b in aggregation. (Sums of many: NumberSum.) */
export function addNumbers(a: NumberValue, b: NumberValue): NumberValue {
  return calculateWide(addition, a, b);
}

/** a - b in aggregation. */
export function subtractNumbers(a: NumberValue, b: NumberValue): NumberValue {
  return calculateWide(subtraction, a, b);
}

/** a * b in aggregation. */
export function multiplyNumbers(a: NumberValue, b: NumberValue): NumberValue {
  return calculateWide(multiplication, a, b);
}

/** a + b for `$inc`; undefined where an int64 overflows. */
export function addChecked(a: NumberValue, b: NumberValue): NumberValue | undefined {
  return calculate(addition, a, b);
}

/** a * b for `$mul`; undefined where an int64 overflows. */
export function multiplyChecked(a: NumberValue, b: NumberValue): NumberValue | undefined {
  return calculate(multiplication, a, b);
}

/** a / b: a decimal if one is, else a double. Division by zero is the caller's to refuse. */
export function divideNumbers(a: NumberValue, b: NumberValue): NumberValue {
  if (a instanceof Decimal128 || b instanceof Decimal128) return divideDecimals(toDecimal(a), toDecimal(b));
  return new Double(toDouble(a) / toDouble(b));
}

/** The rest of a / b, with the sign of `a`, in the widest type. Division by zero is the caller's to refuse where both are integers. */
export function modNumbers(a: NumberValue, b: NumberValue): NumberValue {
  if (a instanceof Decimal128 || b instanceof Decimal128) return remainderDecimals(toDecimal(a), toDecimal(b));
  if (a instanceof Double || b instanceof Double) return new Double(toDouble(a) % toDouble(b));
  if (typeof a === 'number' && typeof b === 'number') return (a % b) + 0;
  return BigInt(a) % BigInt(b);
}

/** |a| in its type; the least int32 becomes an int64, and undefined stands for the least int64, which has none. */
export function absNumber(value: NumberValue): NumberValue | undefined {
  if (typeof value === 'number') return value === -2147483648 ? 2147483648n : Math.abs(value);
  if (typeof value === 'bigint') return fitsInt64(-value) ? (value < 0n ? -value : value) : undefined;
  return value instanceof Double ? new Double(Math.abs(value.value)) : absDecimal(value);
}

/** -a in its type; the least int32 becomes an int64, the least int64 a double. */
export function negateNumber(value: NumberValue): NumberValue {
  if (typeof value === 'number') return value === -2147483648 ? 2147483648n : 0 - value;
  if (typeof value === 'bigint') return fitsInt64(-value) ? -value : new Double(-Number(value));
  return value instanceof Double ? new Double(-value.value) : negateDecimal(value);
}
