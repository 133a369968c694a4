// Rounding, roots and powers over the four number types, with the result types of the manual's pages "$round", "$trunc", "$floor",
// "$ceil", "$sqrt" and "$pow".

import { divideDecimals, doubleToExactDecimal, quantizeDecimal, roundDecimal, sqrtDecimal, truncateToBigInt } from './decimal.ts';
import type { RoundingMode } from './decimal.ts';
import { expDecimal, lnDecimal, log10Decimal, powDecimal } from './decimal-power.ts';
import { Decimal128 } from './decimal128.ts';
import { fitsInt64, isNaNNumber, narrowInteger, toDecimal, toDouble } from './number.ts';
import { decimalToDouble } from './number-order.ts';
import { Double } from './scalar.ts';
import type { NumberValue } from './scalar-codec.ts';

/**
 * The value rounded at the given decimal place (negative: before the point) in its own type; an int32 may become an int64. Undefined
 * where an int64 overflows.
 */
export function roundNumber(value: NumberValue, places: number, mode: RoundingMode): NumberValue | undefined {
  if (value instanceof Decimal128) return quantizeDecimal(value, -places, mode);
  if (value instanceof Double) return new Double(roundDouble(value.value, places, mode));
  if (places >= 0) return value;
  const rounded = truncateToBigInt(quantizeDecimal(Decimal128.fromBigInt(BigInt(value)), -places, mode));
  if (rounded === undefined || !fitsInt64(rounded)) return undefined;
  return typeof value === 'number' ? narrowInteger(rounded) : rounded;
}

function roundDouble(value: number, places: number, mode: RoundingMode): number {
  if (!Number.isFinite(value) || value === 0) return value;
  return decimalToDouble(quantizeDecimal(doubleToExactDecimal(value), -places, mode));
}

/** The value rounded down, in its own type. */
export function floorNumber(value: NumberValue): NumberValue {
  if (value instanceof Double) return new Double(Math.floor(value.value));
  return value instanceof Decimal128 ? roundDecimal(value, 'floor') : value;
}

/** The value rounded up, in its own type. */
export function ceilNumber(value: NumberValue): NumberValue {
  if (value instanceof Double) return new Double(Math.ceil(value.value));
  return value instanceof Decimal128 ? roundDecimal(value, 'ceil') : value;
}

/** The square root: a decimal of a decimal, else a double. A negative value is the caller's to refuse. */
export function sqrtNumber(value: NumberValue): NumberValue {
  return value instanceof Decimal128 ? sqrtDecimal(value) : new Double(Math.sqrt(toDouble(value)));
}

/** e^value: a decimal of a decimal, else a double. */
export function expNumber(value: NumberValue): NumberValue {
  return value instanceof Decimal128 ? expDecimal(value) : new Double(Math.exp(toDouble(value)));
}

/** The natural logarithm: a decimal of a decimal, else a double. A value that is not positive is the caller's to refuse. */
export function lnNumber(value: NumberValue): NumberValue {
  return value instanceof Decimal128 ? lnDecimal(value) : new Double(Math.log(toDouble(value)));
}

/** The logarithm to base 10, as lnNumber. */
export function log10Number(value: NumberValue): NumberValue {
  return value instanceof Decimal128 ? log10Decimal(value) : new Double(Math.log10(toDouble(value)));
}

/** The logarithm of `value` to `base`: a decimal if one is, else a double. */
export function logNumber(value: NumberValue, base: NumberValue): NumberValue {
  if ((value instanceof Decimal128 || base instanceof Decimal128) && !isNaNNumber(value) && !isNaNNumber(base)) {
    return divideDecimals(lnDecimal(toDecimal(value)), lnDecimal(toDecimal(base)));
  }
  return new Double(Math.log(toDouble(value)) / Math.log(toDouble(base)));
}

/**
 * base^exponent: a decimal if one is, a double if one is; of integers an int32 (if both are and it fits), int64, or a double where
 * the exponent is negative or int64 too small. Zero to a negative power is the caller's to refuse.
 */
export function powNumbers(base: NumberValue, exponent: NumberValue): NumberValue {
  if (base instanceof Decimal128 || exponent instanceof Decimal128) return powDecimal(toDecimal(base), toDecimal(exponent));
  if (base instanceof Double || exponent instanceof Double) return new Double(toDouble(base) ** toDouble(exponent));
  const power = integerPower(BigInt(base), BigInt(exponent));
  if (power === undefined) return new Double(Number(base) ** Number(exponent));
  return typeof base === 'number' && typeof exponent === 'number' ? narrowInteger(power) : power;
}

/** The power if it is an int64. */
function integerPower(base: bigint, exponent: bigint): bigint | undefined {
  if (base === 1n || (base === -1n && exponent % 2n === 0n)) return 1n;
  if (base === -1n) return -1n;
  if (exponent < 0n) return undefined;
  if (base === 0n) return exponent === 0n ? 1n : 0n;
  if (exponent > 63n) return undefined;
  const power = base ** exponent;
  return fitsInt64(power) ? power : undefined;
}
