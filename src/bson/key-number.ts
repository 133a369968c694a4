// Numbers in keys: one encoding for int32, int64, double and Decimal128, exact, ordered by value, no longer than it must be.
//
//   type byte   NaN, -inf, below -2^63, -(8..1 bytes), in (-1,0), 0, in (0,1), 1..8 bytes, 2^63 and more, inf
//   integer     integer part n < 2^63, then a fraction if the lowest bit of 2n + (fraction follows) is set
//   fraction    7 bytes: its first 52 binary digits, 3 zero bits, and 1 if decimal digits follow
//   in (0,1)    8 bytes: a double's bits (cut off towards zero) times 4, plus 1 if decimal digits follow
//   2^63 ...    8 bytes: a double's bits (cut off) times 2, plus 1 if decimal digits follow
//   digits      what only a decimal can say: exponent (2 bytes, not after an integer part), digit pairs + 1, zero
//
// What follows the type byte of a negative number is inverted. Two values with equal binary digits differ in decimal ones or not at all.

import type { ByteSink } from './byte-sink.ts';
import { powerOfTen } from './decimal128.ts';
import type { Decimal128 } from './decimal128.ts';
import { readDoubleParts } from './double-parts.ts';
import { keyType } from './key-type.ts';
import { compareDecimalTo, decimalToDouble } from './number-order.ts';
import { Double } from './scalar.ts';
import type { NumberValue } from './scalar-codec.ts';

const two31 = 2147483648;
const two32 = 4294967296;
const two52 = 4503599627370496;
const two63 = 9223372036854775808n;
const exponentBias = 7000;

const float = new Float64Array(1);
const words = new Uint32Array(float.buffer);

/** Inverts bytes[start, end) in place: reverses their order. */
export function invertBytes(bytes: Uint8Array, start: number, end: number): void {
  for (let i = start; i < end; i++) bytes[i] = ~(bytes[i] as number);
}

/** Appends a number's key. */
export function writeNumberKey(sink: ByteSink, value: NumberValue): void {
  if (typeof value === 'number') writeDoubleKey(sink, value);
  else if (value instanceof Double) writeDoubleKey(sink, value.value);
  else if (typeof value === 'bigint') writeLongKey(sink, value);
  else writeDecimalKey(sink, value);
}

/** Appends the key of an int32 or a double. */
export function writeDoubleKey(sink: ByteSink, value: number): void {
  if (!(Math.abs(value) < Infinity)) {
    sink.byte(value > 0 ? keyType.infinity : value < 0 ? keyType.negativeInfinity : keyType.nan);
    return;
  }
  if (value === 0) {
    sink.byte(keyType.zero);
    return;
  }
  const magnitude = Math.abs(value);
  const at = sink.length;
  if (magnitude < 1) {
    sink.byte(value < 0 ? keyType.negativeFraction : keyType.positiveFraction);
    writeBits(sink, magnitude, 2, 0);
  } else if (magnitude < two31 * two32) {
    const whole = Math.floor(magnitude);
    const fraction = (magnitude - whole) * two52;
    writeInteger(sink, value < 0, Math.floor(whole / two31), (whole % two31) * 2 + (fraction === 0 ? 0 : 1));
    if (fraction !== 0) writeFraction(sink, Math.floor(fraction / 0x10000000), (fraction % 0x10000000) * 16);
  } else {
    sink.byte(value < 0 ? keyType.negativeLarge : keyType.positiveLarge);
    writeBits(sink, magnitude, 1, 0);
  }
  if (value < 0) invertBytes(sink.bytes, at + 1, sink.length);
}

function writeLongKey(sink: ByteSink, value: bigint): void {
  const magnitude = value < 0n ? -value : value;
  if (magnitude <= 9007199254740991n || magnitude >= two63) {
    writeDoubleKey(sink, Number(value));
    return;
  }
  const at = sink.length;
  writeInteger(sink, value < 0n, Number(magnitude >> 31n), Number(magnitude & 0x7fffffffn) * 2);
  if (value < 0n) invertBytes(sink.bytes, at + 1, sink.length);
}

/** Type byte and integer part; `high` is the part from bit 31 on, `low` twice the rest plus the flag for a fraction. */
function writeInteger(sink: ByteSink, negative: boolean, high: number, low: number): void {
  const length = high === 0 ? byteLength(low) : 4 + byteLength(high);
  sink.byte(negative ? keyType.negativeInteger - length : keyType.positiveInteger + length);
  if (high !== 0) writeUint(sink, high, length - 4);
  writeUint(sink, low, high === 0 ? length : 4);
}

function byteLength(word: number): number {
  return word < 0x100 ? 1 : word < 0x10000 ? 2 : word < 0x1000000 ? 3 : 4;
}

/** The lowest `count` (at most 4) bytes, the highest first. */
function writeUint(sink: ByteSink, word: number, count: number): void {
  for (let shift = 8 * (count - 1); shift >= 0; shift -= 8) sink.byte((word >>> shift) & 0xff);
}

/** The 52 binary digits of a fraction as 24 and 28 bits; `low` carries the flag in its lowest bit. */
function writeFraction(sink: ByteSink, high: number, low: number): void {
  writeUint(sink, high, 3);
  writeUint(sink, low, 4);
}

/** The bits of a double >= 0, shifted left, and a flag. */
function writeBits(sink: ByteSink, magnitude: number, shift: 1 | 2, flag: 0 | 1): void {
  float[0] = magnitude;
  const high = words[1] as number;
  const low = words[0] as number;
  writeUint(sink, (high << shift) | (low >>> (32 - shift)), 4);
  writeUint(sink, (low << shift) | flag, 4);
}

function writeDecimalKey(sink: ByteSink, value: Decimal128): void {
  const { kind, negative, coefficient } = value.parts;
  if (kind !== 'finite' || coefficient === 0n) {
    sink.byte(kind === 'nan' ? keyType.nan : kind === 'finite' ? keyType.zero : negative ? keyType.negativeInfinity : keyType.infinity);
    return;
  }
  const at = sink.length;
  const size = compareDecimalTo(value, negative ? -two63 : two63);
  if (negative ? size <= 0 : size >= 0) writeCutDecimal(sink, value, negative ? keyType.negativeLarge : keyType.positiveLarge, 1);
  else if (isBelowOne(value)) writeCutDecimal(sink, value, negative ? keyType.negativeFraction : keyType.positiveFraction, 2);
  else writeMixedDecimal(sink, value);
  if (negative) invertBytes(sink.bytes, at + 1, sink.length);
}

function isBelowOne(value: Decimal128): boolean {
  return value.exponent < 0 && value.coefficient < powerOfTen(-value.exponent);
}

/** A decimal with an integer part below 2^63. */
function writeMixedDecimal(sink: ByteSink, value: Decimal128): void {
  const { negative, coefficient, exponent } = value.parts;
  const scale = powerOfTen(Math.max(-exponent, 0));
  const scaled = coefficient * powerOfTen(Math.max(exponent, 0));
  const whole = scaled / scale;
  const rest = scaled % scale;
  writeInteger(sink, negative, Number(whole >> 31n), Number(whole & 0x7fffffffn) * 2 + (rest === 0n ? 0 : 1));
  if (rest === 0n) return;
  const shifted = rest << 52n;
  const binary = shifted / scale;
  const exact = shifted % scale === 0n;
  writeFraction(sink, Number(binary >> 28n), Number(binary & 0xfffffffn) * 16 + (exact ? 0 : 1));
  if (!exact) writeDigits(sink, rest.toString().padStart(-exponent, '0'));
}

/** A decimal outside of the integers' range: the double below it, and its own digits if that is not all. */
function writeCutDecimal(sink: ByteSink, value: Decimal128, type: number, shift: 1 | 2): void {
  const { negative, coefficient, exponent } = value.parts;
  let nearest = Math.abs(decimalToDouble(value));
  let order = compareDecimalTo(value, negative ? -nearest : nearest);
  if (negative) order = -order;
  if (order < 0) nearest = previousDouble(nearest);
  sink.byte(type);
  writeBits(sink, nearest, shift, order === 0 ? 0 : 1);
  if (order === 0) return;
  const digits = coefficient.toString();
  writeUint(sink, exponent + digits.length + exponentBias, 2);
  writeDigits(sink, digits);
}

/** The double before a positive one. */
function previousDouble(value: number): number {
  float[0] = value;
  const low = words[0] as number;
  if (low === 0) words[1] = (words[1] as number) - 1;
  words[0] = (low - 1) >>> 0;
  return float[0];
}

/** Digits behind the point, two in a byte, without the zeros at the end. */
function writeDigits(sink: ByteSink, digits: string): void {
  let end = digits.length;
  while (end > 0 && digits.charCodeAt(end - 1) === 48) end--;
  for (let i = 0; i < end; i += 2) {
    const second = i + 1 < end ? digits.charCodeAt(i + 1) - 48 : 0;
    sink.byte((digits.charCodeAt(i) - 48) * 10 + second + 1);
  }
  sink.byte(0);
}

/** A finite number read from a key: (-1)^negative * coefficient * 2^binary * 10^decimal. */
export interface KeyNumber {
  readonly kind: 'nan' | 'infinity' | 'finite';
  readonly negative: boolean;
  readonly coefficient: bigint;
  readonly binary: number;
  readonly decimal: number;
}

/** A number's key, read: the offset behind it is kept for the caller, because the length is only known by reading. */
export class NumberKeyReader {
  readonly #bytes: Uint8Array;
  #at: number;
  #mask: number;

  /** `mask` is ff where the field is inverted, else 0. */
  constructor(bytes: Uint8Array, at: number, mask: number) {
    this.#bytes = bytes;
    this.#at = at;
    this.#mask = mask;
  }

  get at(): number {
    return this.#at;
  }

  read(): KeyNumber {
    const type = this.#byte();
    const negative = type < keyType.zero;
    if (type === keyType.nan) return { kind: 'nan', negative: false, coefficient: 0n, binary: 0, decimal: 0 };
    if (type === keyType.zero) return finite(false, 0n, 0, 0);
    if (type === keyType.infinity || type === keyType.negativeInfinity) {
      return { kind: 'infinity', negative, coefficient: 0n, binary: 0, decimal: 0 };
    }
    if (negative) this.#mask ^= 0xff;
    if (type === keyType.positiveLarge || type === keyType.negativeLarge) return this.#bits(negative, 1);
    if (type === keyType.positiveFraction || type === keyType.negativeFraction) return this.#bits(negative, 2);
    return this.#integer(negative, negative ? keyType.negativeInteger - type : type - keyType.positiveInteger);
  }

  #byte(): number {
    return (this.#bytes[this.#at++] as number) ^ this.#mask;
  }

  #uint(count: number): number {
    let word = 0;
    for (let i = 0; i < count; i++) word = word * 256 + this.#byte();
    return word;
  }

  #integer(negative: boolean, length: number): KeyNumber {
    const high = length > 4 ? this.#uint(length - 4) : 0;
    const low = this.#uint(Math.min(length, 4));
    const whole = high === 0 ? BigInt(low >>> 1) : (BigInt(high) << 31n) | BigInt(low >>> 1);
    if ((low & 1) === 0) return finite(negative, whole, 0, 0);
    const fractionHigh = this.#uint(3);
    const fractionLow = this.#uint(4);
    if ((fractionLow & 1) === 1) {
      const digits = this.#digits();
      return finite(negative, BigInt(whole.toString() + digits), 0, -digits.length);
    }
    const fraction = (BigInt(fractionHigh) << 28n) | BigInt(fractionLow >>> 4);
    return finite(negative, (whole << 52n) | fraction, -52, 0);
  }

  #bits(negative: boolean, shift: 1 | 2): KeyNumber {
    const high = this.#uint(4);
    const low = this.#uint(4);
    if ((low & 1) === 1) {
      const exponent = this.#uint(2) - exponentBias;
      const digits = this.#digits();
      return finite(negative, BigInt(digits), 0, exponent - digits.length);
    }
    words[1] = high >>> shift;
    words[0] = (low >>> shift) | (high << (32 - shift));
    const parts = readDoubleParts(float[0] as number);
    return finite(negative, parts.mantissa, parts.exponent, 0);
  }

  #digits(): string {
    let digits = '';
    for (;;) {
      const pair = this.#byte();
      if (pair === 0) return digits;
      digits += String(pair - 1).padStart(2, '0');
    }
  }
}

function finite(negative: boolean, coefficient: bigint, binary: number, decimal: number): KeyNumber {
  return { kind: 'finite', negative, coefficient, binary, decimal };
}
