// exp, ln, log10 and powers of Decimal128. They are computed in integers scaled by 10^70 and rounded once, which leaves 34 right digits
// for every result within the range of a Decimal128.

import { multiplyDecimals, roundPreferring, truncateToBigInt } from './decimal.ts';
import {
  Decimal128,
  decimalDigitsMax,
  decimalInfinity,
  decimalNaN,
  decimalNegativeInfinity,
  decimalZero,
  digitCount,
  exponentMax,
  exponentMin,
  dropDigits,
  powerOfTen,
} from './decimal128.ts';

const places = 70;
const one = powerOfTen(places);
/** What a power is that is too small to be told. */
const smallestZero = Decimal128.of(false, 0n, exponentMin);
const decimalOne = Decimal128.of(false, 1n, 0);

function multiply(a: bigint, b: bigint): bigint {
  return (a * b) / one;
}

/** ln of a scaled value between about 0.1 and 10, by 2 artanh((x - 1) / (x + 1)). */
function lnScaled(value: bigint): bigint {
  let x = value;
  let doublings = 0n;
  // Roots bring the value near 1, where the series is quick.
  while (x > (one * 11n) / 10n || x < (one * 9n) / 10n) {
    x = rootScaled(x);
    doublings++;
  }
  const ratio = ((x - one) * one) / (x + one);
  const square = multiply(ratio, ratio);
  let sum = 0n;
  let power = ratio;
  for (let k = 1n; power !== 0n; k += 2n) {
    sum += power / k;
    power = multiply(power, square);
  }
  return (sum * 2n) << doublings;
}

function rootScaled(value: bigint): bigint {
  const target = value * one;
  let root = value > one ? value : one;
  for (;;) {
    const next = (root + target / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

let ln10Kept: bigint | undefined;

function ln10(): bigint {
  ln10Kept ??= lnScaled(one * 10n);
  return ln10Kept;
}

/** ln of a positive finite decimal, scaled. */
function lnOf(value: Decimal128): bigint {
  const digits = digitCount(value.coefficient);
  const size = value.exponent + digits - 1;
  // Just below 1 the two parts would cancel out and lose digits.
  if (size === -1) return lnScaled(value.coefficient * powerOfTen(places - digits));
  return lnScaled(value.coefficient * powerOfTen(places - digits + 1)) + BigInt(size) * ln10();
}

function fromScaled(value: bigint, scale: number): Decimal128 {
  const magnitude = value < 0n ? -value : value;
  return Decimal128.round(value < 0n, magnitude, scale - places);
}

/** A finite decimal, scaled; one too small to matter is 0. */
function toScaled(value: Decimal128): bigint {
  const shift = value.exponent + places;
  const magnitude = shift >= 0 ? value.coefficient * powerOfTen(shift) : dropDigits(value.coefficient, Math.min(-shift, 40));
  return value.negative ? -magnitude : magnitude;
}

/** e^x of a scaled x. */
function expOfScaled(x: bigint): Decimal128 {
  // x = tens * ln 10 + rest, and e^x = 10^tens * e^rest; the quotient is small: beyond the range it is an infinity or zero.
  const tens = x / ln10();
  if (tens > 7000n) return decimalInfinity;
  if (tens < -7000n) return Decimal128.round(false, 1n, -7000);
  let rest = x - tens * ln10();
  const halvings = 8n;
  rest >>= halvings;
  let sum = one;
  let term = one;
  for (let k = 1n; term !== 0n; k++) {
    term = multiply(term, rest) / k;
    sum += term;
  }
  for (let i = 0n; i < halvings; i++) sum = multiply(sum, sum);
  return fromScaled(sum, Number(tens));
}

/** e^value. */
export function expDecimal(value: Decimal128): Decimal128 {
  if (value.kind === 'nan') return decimalNaN;
  if (value.kind === 'infinity') return value.negative ? decimalZero : value;
  if (value.coefficient === 0n || value.exponent + digitCount(value.coefficient) < -decimalDigitsMax) return decimalOne;
  if (value.exponent + digitCount(value.coefficient) > 6) return value.negative ? Decimal128.round(false, 1n, -7000) : decimalInfinity;
  return expOfScaled(toScaled(value));
}

/** The natural logarithm; NaN of a negative value, -Infinity of zero. */
export function lnDecimal(value: Decimal128): Decimal128 {
  return logarithm(value, (positive) => (positive.kind === 'finite' && compareWithOne(positive) === 0 ? decimalZero : fromScaled(lnOf(positive), 0)));
}

/** The logarithm to base 10, exact for powers of ten. */
export function log10Decimal(value: Decimal128): Decimal128 {
  return logarithm(value, (positive) => {
    const digits = digitCount(positive.coefficient);
    if (positive.coefficient === powerOfTen(digits - 1)) return Decimal128.fromBigInt(BigInt(positive.exponent + digits - 1));
    return fromScaled((lnOf(positive) * one) / ln10(), 0);
  });
}

function logarithm(value: Decimal128, ofPositive: (value: Decimal128) => Decimal128): Decimal128 {
  if (value.kind === 'nan') return decimalNaN;
  if (value.kind === 'finite' && value.coefficient === 0n) return decimalNegativeInfinity;
  if (value.negative) return decimalNaN;
  return value.kind === 'infinity' ? value : ofPositive(value);
}

/** base^exponent as C's pow: exact for small whole exponents, NaN of a negative base with a fractional exponent. */
export function powDecimal(base: Decimal128, exponent: Decimal128): Decimal128 {
  if (exponent.kind === 'finite' && exponent.coefficient === 0n) return decimalOne;
  if (base.kind === 'nan' || exponent.kind === 'nan') return decimalNaN;
  const whole = wholeExponent(exponent);
  const odd = whole !== undefined && (whole & 1n) === 1n;
  if (exponent.kind === 'infinity' || base.kind === 'infinity' || base.coefficient === 0n) {
    return limitPower(base, exponent, odd);
  }
  if (whole === undefined) return base.negative ? decimalNaN : powerByLogarithm(base, exponent);
  if (isShortPower(base, whole)) return allDigits(wholePower(base, Number(whole)));
  const magnitude = Decimal128.of(false, base.coefficient, base.exponent);
  const power = powerByLogarithm(magnitude, exponent);
  return odd && base.negative ? multiplyDecimals(power, Decimal128.of(true, 1n, 0)) : power;
}

/** A power is given with all 34 digits; the largest decimal counts as beyond the range. */
function allDigits(power: Decimal128): Decimal128 {
  const { kind, negative, coefficient, exponent } = power;
  if (kind !== 'finite' || coefficient === 0n) return power;
  if (coefficient === powerOfTen(decimalDigitsMax) - 1n && exponent === exponentMax) return negative ? decimalNegativeInfinity : decimalInfinity;
  const room = Math.min(decimalDigitsMax - digitCount(coefficient), exponent - exponentMin);
  return room <= 0 ? power : Decimal128.of(negative, coefficient * powerOfTen(room), exponent - room);
}

/** Whether the exact power has few enough digits to be made. */
function isShortPower(base: Decimal128, whole: bigint): boolean {
  return (whole < 0n ? -whole : whole) * BigInt(digitCount(base.coefficient)) <= 16000n;
}

function wholeExponent(exponent: Decimal128): bigint | undefined {
  const whole = truncateToBigInt(exponent);
  if (whole === undefined || exponent.exponent >= 0) return whole;
  const magnitude = whole < 0n ? -whole : whole;
  return magnitude * powerOfTen(-exponent.exponent) === exponent.coefficient ? whole : undefined;
}

/** The power where base or exponent is infinite, or the base zero. */
function limitPower(base: Decimal128, exponent: Decimal128, odd: boolean): Decimal128 {
  if (exponent.kind === 'infinity') {
    const size = base.kind === 'infinity' ? 1 : compareWithOne(base);
    if (size === 0) return decimalOne;
    return size > 0 === exponent.negative ? smallestZero : decimalInfinity;
  }
  const large = (base.kind === 'infinity') !== exponent.negative;
  const negative = odd && base.negative;
  if (large) return negative ? decimalNegativeInfinity : decimalInfinity;
  return smallestZero;
}

function compareWithOne(value: Decimal128): number {
  const digits = digitCount(value.coefficient);
  const size = value.coefficient === 0n ? -1 : value.exponent + digits - 1;
  if (size !== 0) return size;
  return value.coefficient === powerOfTen(digits - 1) ? 0 : 1;
}

function wholePower(base: Decimal128, exponent: number): Decimal128 {
  const count = Math.abs(exponent);
  const negative = base.negative && count % 2 === 1;
  const coefficient = base.coefficient ** BigInt(count);
  if (exponent > 0) return Decimal128.round(negative, coefficient, base.exponent * count);
  const shift = digitCount(coefficient) + decimalDigitsMax + 2;
  const quotient = powerOfTen(shift) / coefficient;
  const scale = -shift - base.exponent * count;
  if (quotient * coefficient !== powerOfTen(shift)) return Decimal128.round(negative, quotient * 10n + 1n, scale - 1);
  return roundPreferring(negative, quotient, scale, Math.max(-base.exponent * count, 0));
}

function powerByLogarithm(base: Decimal128, exponent: Decimal128): Decimal128 {
  const { negative, coefficient } = exponent;
  const product = lnOf(base) * coefficient;
  const shift = exponent.exponent;
  // Beyond this the power is out of range whatever the base, unless the base is 1.
  if (product !== 0n && digitCount(product < 0n ? -product : product) + shift > places + 6) {
    return product > 0n === !negative ? decimalInfinity : Decimal128.round(false, 1n, -7000);
  }
  const scaled = shift >= 0 ? product * powerOfTen(shift) : product / powerOfTen(-shift);
  return expOfScaled(negative ? -scaled : scaled);
}
