// Arithmetic on Decimal128 as IEEE 754-2008 defines it: results are exact where 34 digits hold them, else rounded half to even; among
// equal results the exponent nearest to the preferred one is taken (the smaller of an addition, the sum of a multiplication, the
// difference of a division), so that 1.10 + 2.2 is 3.30.

import {
  Decimal128,
  decimalDigitsMax,
  decimalInfinity,
  decimalNaN,
  decimalNegativeNaN,
  decimalNegativeInfinity,
  digitCount,
  exponentMin,
  powerOfTen,
} from './decimal128.ts';
import { readDoubleParts } from './double-parts.ts';

/** How a value between two results is rounded. */
export type RoundingMode = 'half-even' | 'truncate' | 'floor' | 'ceil';

function infinity(negative: boolean): Decimal128 {
  return negative ? decimalNegativeInfinity : decimalInfinity;
}

function signed(value: Decimal128): bigint {
  return value.negative ? -value.coefficient : value.coefficient;
}

/** The value with its sign changed. */
export function negateDecimal(value: Decimal128): Decimal128 {
  if (value.kind === 'nan') return value;
  if (value.kind === 'infinity') return infinity(!value.negative);
  return Decimal128.of(!value.negative, value.coefficient, value.exponent);
}

/** The value without its sign. */
export function absDecimal(value: Decimal128): Decimal128 {
  return value.negative ? negateDecimal(value) : value;
}

/** Of two operands the first that is NaN, with its sign. */
function nanOf(a: Decimal128, b: Decimal128): Decimal128 {
  return (a.kind === 'nan' ? a : b).negative ? decimalNegativeNaN : decimalNaN;
}

/** a + b; infinities of different signs give NaN. */
export function addDecimals(a: Decimal128, b: Decimal128): Decimal128 {
  if (a.kind === 'nan' || b.kind === 'nan') return nanOf(a, b);
  if (a.kind === 'infinity') return b.kind === 'infinity' && a.negative !== b.negative ? decimalNaN : a;
  if (b.kind === 'infinity') return b;
  const exponent = Math.min(a.exponent, b.exponent);
  const apart = addApart(a, b) ?? addApart(b, a);
  if (apart !== undefined) return apart;
  const sum = signed(a) * powerOfTen(a.exponent - exponent) + signed(b) * powerOfTen(b.exponent - exponent);
  const negative = sum < 0n || (sum === 0n && a.negative && b.negative);
  return Decimal128.round(negative, sum < 0n ? -sum : sum, exponent);
}

/** The sum where `small` is too small to change more than the rounding of `large`; undefined where it is not. */
function addApart(large: Decimal128, small: Decimal128): Decimal128 | undefined {
  if (large.coefficient === 0n || small.coefficient === 0n) return undefined;
  const gap = large.exponent - (small.exponent + digitCount(small.coefficient));
  if (gap <= decimalDigitsMax * 2) return undefined;
  // A digit far behind the last stands for all that follows.
  const padding = decimalDigitsMax + 4;
  const padded = large.coefficient * powerOfTen(padding) + (large.negative === small.negative ? 1n : -1n);
  return Decimal128.round(large.negative, padded, large.exponent - padding);
}

/** a - b. */
export function subtractDecimals(a: Decimal128, b: Decimal128): Decimal128 {
  return addDecimals(a, negateDecimal(b));
}

/** a * b; zero times an infinity is NaN. */
export function multiplyDecimals(a: Decimal128, b: Decimal128): Decimal128 {
  if (a.kind === 'nan' || b.kind === 'nan') return nanOf(a, b);
  const negative = a.negative !== b.negative;
  if (a.kind === 'infinity' || b.kind === 'infinity') {
    const other = a.kind === 'infinity' ? b : a;
    return other.kind === 'finite' && other.coefficient === 0n ? decimalNaN : infinity(negative);
  }
  return Decimal128.round(negative, a.coefficient * b.coefficient, a.exponent + b.exponent);
}

/** a / b; division by zero gives an infinity, or NaN for 0 / 0. */
export function divideDecimals(a: Decimal128, b: Decimal128): Decimal128 {
  if (a.kind === 'nan' || b.kind === 'nan') return nanOf(a, b);
  const negative = a.negative !== b.negative;
  if (a.kind === 'infinity') return b.kind === 'infinity' ? decimalNaN : infinity(negative);
  if (b.kind === 'infinity') return Decimal128.of(negative, 0n, exponentMin);
  if (b.coefficient === 0n) return a.coefficient === 0n ? decimalNaN : infinity(negative);
  const preferred = a.exponent - b.exponent;
  if (a.coefficient === 0n) return Decimal128.round(negative, 0n, preferred);
  const shift = Math.max(decimalDigitsMax + 3 + digitCount(b.coefficient) - digitCount(a.coefficient), 0);
  const scaled = a.coefficient * powerOfTen(shift);
  const quotient = scaled / b.coefficient;
  // An inexact quotient gets one more digit, so that it is never taken for a tie.
  if (scaled % b.coefficient !== 0n) return Decimal128.round(negative, quotient * 10n + 1n, preferred - shift - 1);
  return roundPreferring(negative, quotient, preferred - shift, preferred);
}

/** An exact result with its exponent raised to the preferred one, as far as there are zeros to drop. */
export function roundPreferring(negative: boolean, coefficient: bigint, exponent: number, preferred: number): Decimal128 {
  let digits = coefficient;
  let scale = exponent;
  while (scale < preferred && digits % 10n === 0n) {
    digits /= 10n;
    scale++;
  }
  return Decimal128.round(negative, digits, scale);
}

/** The rest of a / b rounded towards zero; it has the sign of `a`. Exact. */
export function remainderDecimals(a: Decimal128, b: Decimal128): Decimal128 {
  if (a.kind !== 'finite' || b.kind === 'nan' || (b.kind === 'finite' && b.coefficient === 0n)) return decimalNaN;
  if (b.kind === 'infinity') return a;
  const exponent = Math.min(a.exponent, b.exponent);
  const rest = (a.coefficient * powerOfTen(a.exponent - exponent)) % (b.coefficient * powerOfTen(b.exponent - exponent));
  return Decimal128.round(a.negative, rest, exponent);
}

/**
 * The value rounded so that its exponent is `exponent`: 2.345 at -2 is 2.34 (half even), 5 at -2 is 5.00. A value that has fewer
 * digits than can be filled up within 34 stays as it is.
 */
export function quantizeDecimal(value: Decimal128, exponent: number, mode: RoundingMode): Decimal128 {
  if (value.kind !== 'finite') return value;
  const { negative, coefficient } = value;
  const shift = value.exponent - exponent;
  if (shift >= 0) {
    if (coefficient !== 0n && digitCount(coefficient) + shift > decimalDigitsMax) return value;
    return Decimal128.round(negative, coefficient === 0n ? 0n : coefficient * powerOfTen(shift), exponent);
  }
  return Decimal128.round(negative, cutDigits(coefficient, -shift, negative, mode), exponent);
}

function cutDigits(coefficient: bigint, digits: number, negative: boolean, mode: RoundingMode): bigint {
  const divisor = powerOfTen(digits);
  const quotient = coefficient / divisor;
  const rest = coefficient % divisor;
  if (rest === 0n) return quotient;
  return quotient + (roundsUp(rest * 2n - divisor, (quotient & 1n) === 1n, negative, mode) ? 1n : 0n);
}

/** Whether a magnitude goes up; `half` is negative, zero or positive as the rest is below, at or above one half. */
function roundsUp(half: bigint, odd: boolean, negative: boolean, mode: RoundingMode): boolean {
  switch (mode) {
    case 'half-even':
      return half > 0n || (half === 0n && odd);
    case 'truncate':
      return false;
    case 'floor':
      return negative;
    case 'ceil':
      return !negative;
  }
}

/** The value rounded to a whole number; one that is whole stays as it is. */
export function roundDecimal(value: Decimal128, mode: RoundingMode): Decimal128 {
  return value.kind === 'finite' && value.exponent < 0 ? quantizeDecimal(value, 0, mode) : value;
}

/** The square root, NaN of a negative number. */
export function sqrtDecimal(value: Decimal128): Decimal128 {
  const { kind, negative, coefficient, exponent } = value.parts;
  if (kind === 'nan') return decimalNaN;
  if (kind === 'finite' && coefficient === 0n) return Decimal128.of(negative, 0n, Math.floor(exponent / 2));
  if (negative) return decimalNaN;
  if (kind === 'infinity') return value;
  const preferred = Math.floor(exponent / 2);
  // Twice the digits of a result, and an even exponent.
  let shift = Math.max(2 * (decimalDigitsMax + 2) - digitCount(coefficient), 0);
  if ((exponent - shift) % 2 !== 0) shift++;
  const scaled = coefficient * powerOfTen(shift);
  const root = integerRoot(scaled);
  const scale = (exponent - shift) / 2;
  if (root * root !== scaled) return Decimal128.round(false, root * 10n + 1n, scale - 1);
  return roundPreferring(false, root, scale, preferred);
}

/** The whole part of the square root. */
function integerRoot(value: bigint): bigint {
  let root = 1n << BigInt(Math.ceil(value.toString(2).length / 2));
  for (;;) {
    const next = (root + value / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

/** The value cut towards zero; undefined for infinities and NaN. May be long: check the range of what it goes into. */
export function truncateToBigInt(value: Decimal128): bigint | undefined {
  if (value.kind !== 'finite') return undefined;
  const whole =
    value.exponent >= 0 ? value.coefficient * powerOfTen(value.exponent) : value.coefficient / powerOfTen(-value.exponent);
  return value.negative ? -whole : whole;
}

/** The exact value of a double in as many digits as asked for, at most 34, rounded half to even; all digits are written out. */
export function doubleToDecimal(value: number, digits: number): Decimal128 {
  if (Number.isNaN(value)) return decimalNaN;
  if (!Number.isFinite(value)) return infinity(value < 0);
  const negative = value < 0 || Object.is(value, -0);
  if (value === 0) return Decimal128.of(negative, 0n, 0);
  const { mantissa, exponent } = readDoubleParts(value);
  // 2^-n = 5^n / 10^n
  const coefficient = exponent >= 0 ? mantissa << BigInt(exponent) : mantissa * 5n ** BigInt(-exponent);
  const scale = Math.min(exponent, 0);
  const excess = digitCount(coefficient) - digits;
  if (excess <= 0) return Decimal128.of(negative, coefficient * powerOfTen(-excess), scale + excess);
  const cut = cutDigits(coefficient, excess, negative, 'half-even');
  if (digitCount(cut) > digits) return Decimal128.of(negative, cut / 10n, scale + excess + 1);
  return Decimal128.of(negative, cut, scale + excess);
}

/** The nearest decimal to a double, with no more digits than its value has. */
export function doubleToExactDecimal(value: number): Decimal128 {
  const full = doubleToDecimal(value, decimalDigitsMax);
  if (full.kind !== 'finite') return full;
  const { negative, coefficient, exponent } = full;
  return roundPreferring(negative, coefficient, exponent, coefficient === 0n ? exponent : 0);
}
