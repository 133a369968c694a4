// Decimal128: the 16 bytes of an IEEE 754-2008 decimal in BID form, little-endian, as BSON stores it, and what they mean. The bytes are
// kept as read, so that odd forms (NaN payloads, coefficients beyond 34 digits) go back as they came. Text follows the Decimal128
// page of the MongoDB specifications; rounding is half even, to 34 digits and exponents -6176 to 6111.

import { AssertionError } from '../base/errors.ts';
import { readInt32, writeInt64 } from './raw.ts';

export const decimalDigitsMax = 34;
export const exponentMin = -6176;
export const exponentMax = 6111;
const coefficientMax = 10n ** 34n - 1n;

/** What a Decimal128 means: (-1)^negative * coefficient * 10^exponent where it is finite. */
export interface DecimalParts {
  readonly kind: 'finite' | 'infinity' | 'nan';
  readonly negative: boolean;
  readonly coefficient: bigint;
  readonly exponent: number;
}

const powers: bigint[] = [1n];

/** 10^n. */
export function powerOfTen(n: number): bigint {
  if (n > 512) return 10n ** BigInt(n);
  while (powers.length <= n) powers.push((powers[powers.length - 1] as bigint) * 10n);
  return powers[n] as bigint;
}

/** Decimal digits of a coefficient; zero has one. */
export function digitCount(coefficient: bigint): number {
  return coefficient.toString().length;
}

/** coefficient / 10^digits, rounded half to even; `digits` >= 0. */
export function dropDigits(coefficient: bigint, digits: number): bigint {
  if (digits <= 0) return coefficient;
  const divisor = powerOfTen(digits);
  const quotient = coefficient / divisor;
  const twice = (coefficient % divisor) * 2n;
  const up = twice > divisor || (twice === divisor && (quotient & 1n) === 1n);
  return up ? quotient + 1n : quotient;
}

/** A decimal number of 34 digits. Immutable; `bytes` is not to be written to. */
export class Decimal128 {
  readonly bytes: Uint8Array;
  #parts: DecimalParts | undefined;

  /** Keeps `bytes`, which must be 16. */
  constructor(bytes: Uint8Array) {
    if (bytes.length !== 16) throw new AssertionError('a Decimal128 has 16 bytes');
    this.bytes = bytes;
  }

  /** The decimal of this coefficient (0 to 10^34 - 1) and exponent (-6176 to 6111). */
  static of(negative: boolean, coefficient: bigint, exponent: number): Decimal128 {
    if (coefficient < 0n || coefficient > coefficientMax) throw new AssertionError('a Decimal128 has 34 digits');
    if (exponent < exponentMin || exponent > exponentMax) throw new AssertionError('the exponent of a Decimal128 is out of range');
    const high = (BigInt(exponent - exponentMin) << 49n) | (coefficient >> 64n) | (negative ? 1n << 63n : 0n);
    return fromWords(coefficient & 0xffffffffffffffffn, high);
  }

  /** The nearest decimal, half to even; beyond the range an infinity, below it zero. `coefficient` >= 0, of any length. */
  static round(negative: boolean, coefficient: bigint, exponent: number): Decimal128 {
    if (coefficient === 0n) return Decimal128.of(negative, 0n, Math.min(Math.max(exponent, exponentMin), exponentMax));
    const excess = Math.max(digitCount(coefficient) - decimalDigitsMax, exponentMin - exponent, 0);
    let digits = coefficient;
    let scale = exponent;
    if (excess > 0) {
      if (excess > digitCount(coefficient)) return Decimal128.of(negative, 0n, exponentMin);
      digits = dropDigits(coefficient, excess);
      scale += excess;
      if (digits > coefficientMax) {
        digits /= 10n;
        scale++;
      }
    }
    if (scale > exponentMax) {
      const padding = scale - exponentMax;
      if (digitCount(digits) + padding > decimalDigitsMax) return negative ? decimalNegativeInfinity : decimalInfinity;
      digits *= powerOfTen(padding);
      scale = exponentMax;
    }
    return Decimal128.of(negative, digits, scale);
  }

  /** A whole number, rounded if it has more than 34 digits. */
  static fromBigInt(value: bigint): Decimal128 {
    return value < 0n ? Decimal128.round(true, -value, 0) : Decimal128.round(false, value, 0);
  }

  /** What `text` says ("-1.50E+3", "Infinity", "NaN"), rounded if it must be; undefined if it is not a number. */
  static parse(text: string): Decimal128 | undefined {
    const parts = parseParts(text);
    if (parts === undefined) return undefined;
    if (parts.kind === 'nan') return parts.negative ? decimalNegativeNaN : decimalNaN;
    if (parts.kind === 'infinity') return parts.negative ? decimalNegativeInfinity : decimalInfinity;
    return Decimal128.round(parts.negative, parts.coefficient, parts.exponent);
  }

  /** As parse, but undefined where the text's digits would be lost. */
  static parseExact(text: string): Decimal128 | undefined {
    const parts = parseParts(text);
    const value = Decimal128.parse(text);
    if (parts === undefined || value === undefined || parts.kind !== 'finite') return value;
    if (value.kind !== 'finite') return undefined;
    const shift = value.exponent - parts.exponent;
    const same =
      shift >= 0
        ? value.coefficient * powerOfTen(Math.min(shift, 20000)) === parts.coefficient
        : value.coefficient === parts.coefficient * powerOfTen(Math.min(-shift, 20000));
    return same || parts.coefficient === 0n ? value : undefined;
  }

  get parts(): DecimalParts {
    this.#parts ??= unpack(this.bytes);
    return this.#parts;
  }

  get kind(): DecimalParts['kind'] {
    return this.parts.kind;
  }

  get isNaN(): boolean {
    return this.parts.kind === 'nan';
  }

  get isFinite(): boolean {
    return this.parts.kind === 'finite';
  }

  get negative(): boolean {
    return this.parts.negative;
  }

  get coefficient(): bigint {
    return this.parts.coefficient;
  }

  get exponent(): number {
    return this.parts.exponent;
  }

  /** The shortest text of this very cohort member, scientific where the specification says so. */
  toString(): string {
    const { kind, negative, coefficient, exponent } = this.parts;
    if (kind === 'nan') return 'NaN';
    const sign = negative ? '-' : '';
    if (kind === 'infinity') return `${sign}Infinity`;
    const digits = coefficient.toString();
    const adjusted = exponent + digits.length - 1;
    if (exponent > 0 || adjusted < -6) {
      const fraction = digits.length > 1 ? `.${digits.slice(1)}` : '';
      return `${sign}${digits.slice(0, 1)}${fraction}E${adjusted < 0 ? '-' : '+'}${String(Math.abs(adjusted))}`;
    }
    if (exponent === 0) return sign + digits;
    const padded = digits.padStart(1 - exponent, '0');
    return `${sign}${padded.slice(0, exponent)}.${padded.slice(exponent)}`;
  }

  get bsonType(): 19 {
    return 19;
  }
}

function fromWords(low: bigint, high: bigint): Decimal128 {
  const bytes = new Uint8Array(16);
  writeInt64(bytes, 0, low);
  writeInt64(bytes, 8, high);
  return new Decimal128(bytes);
}

function readWord(bytes: Uint8Array, offset: number): bigint {
  return (BigInt(readInt32(bytes, offset + 4) >>> 0) << 32n) | BigInt(readInt32(bytes, offset) >>> 0);
}

function unpack(bytes: Uint8Array): DecimalParts {
  const top = readInt32(bytes, 12);
  const negative = top < 0;
  const combination = (top >>> 26) & 0x1f;
  if (combination === 0x1e) return { kind: 'infinity', negative, coefficient: 0n, exponent: 0 };
  if (combination === 0x1f) return { kind: 'nan', negative, coefficient: 0n, exponent: 0 };
  // Coefficients in the second form begin at 2^113, beyond 34 digits: IEEE 754 reads them, and all that are too large, as zero.
  if (combination >>> 3 === 3) return { kind: 'finite', negative, coefficient: 0n, exponent: ((top >>> 15) & 0x3fff) + exponentMin };
  const coefficient = ((readWord(bytes, 8) & 0x1ffffffffffffn) << 64n) | readWord(bytes, 0);
  const exponent = ((top >>> 17) & 0x3fff) + exponentMin;
  return { kind: 'finite', negative, coefficient: coefficient > coefficientMax ? 0n : coefficient, exponent };
}

const numberText = /^([+-])?(?:(\d+)(?:\.(\d*))?|\.(\d+))(?:[eE]([+-]?\d+))?$/;
const specialText = /^([+-])?(?:(inf|infinity)|nan)$/i;

function parseParts(text: string): DecimalParts | undefined {
  const number = numberText.exec(text);
  if (number !== null) {
    const [, sign, whole = '', fraction = '', bare = '', power = '0'] = number;
    const after = fraction + bare;
    // An exponent too long for a number is as good as any beyond the range.
    const exponent = Math.min(Math.max(Number(power), -1e9), 1e9) - after.length;
    return { kind: 'finite', negative: sign === '-', coefficient: BigInt(whole + after), exponent };
  }
  const special = specialText.exec(text);
  if (special === null) return undefined;
  return { kind: special[2] === undefined ? 'nan' : 'infinity', negative: special[1] === '-', coefficient: 0n, exponent: 0 };
}

export const decimalNaN: Decimal128 = fromWords(0n, 0x7c00000000000000n);
export const decimalNegativeNaN: Decimal128 = fromWords(0n, 0xfc00000000000000n);
export const decimalInfinity: Decimal128 = fromWords(0n, 0x7800000000000000n);
export const decimalNegativeInfinity: Decimal128 = fromWords(0n, 0xf800000000000000n);
export const decimalZero: Decimal128 = Decimal128.of(false, 0n, 0);
