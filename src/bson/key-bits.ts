// Type bits: what the order of keys cannot tell and an exact value needs. One code for each number and each string or symbol of a key,
// in the order in which they are met; codes of zero at the end are left out, so that the usual key has no type bits at all.
//
//   0  the usual type: int32 where the number fits, else int64 where it does, else double; a string
//   1  int64    2  double    3  double -0    4  Decimal128, exponent follows (2 bytes)    5  decimal -0, exponent follows
//   6  Decimal128 in an odd form, its 16 bytes follow    7  symbol

import { ByteSink } from './byte-sink.ts';
import { classOfTypeByte, isNumber, typeClass } from './compare.ts';
import { Decimal128, decimalInfinity, decimalNaN, decimalNegativeInfinity, exponentMin, powerOfTen } from './decimal128.ts';
import { BsonArray, CodeWithScope, decodeValue, Document } from './document.ts';
import type { Value } from './document.ts';
import type { KeyNumber } from './key-number.ts';
import { bsonType, readDouble } from './raw.ts';
import { BsonSymbol, Double } from './scalar.ts';
import type { NumberValue } from './scalar-codec.ts';
import { equalBytes } from '../base/bytes.ts';
import { AssertionError } from '../base/errors.ts';

const usual = 0;
const long = 1;
const double = 2;
const negativeZero = 3;
const decimal = 4;
const decimalNegativeZero = 5;
const decimalBytes = 6;
const symbol = 7;

const none = new Uint8Array(0);

/** The type bits of a key of these values; empty for the usual types. */
export function keyTypeBits(values: readonly Value[]): Uint8Array {
  const writer = new KeyBitsWriter();
  for (const value of values) writer.add(value);
  return writer.finish();
}

/** Collects the type bits of a key, field by field. */
export class KeyBitsWriter {
  readonly #sink = new ByteSink(16);

  add(value: Value): void {
    addBits(this.#sink, value);
  }

  /** Adds the value that lies at `offset` and has the type byte `type`. */
  addRaw(bytes: Uint8Array, type: number, offset: number): void {
    if (type === bsonType.int || type === bsonType.string) this.#sink.byte(usual);
    else if (type === bsonType.double) this.#sink.byte(doubleCode(readDouble(bytes, offset)));
    else if (mayHaveBits(type)) addBits(this.#sink, decodeValue(bytes, type, offset));
  }

  /** The type bits; the writer is empty again. */
  finish(): Uint8Array {
    const { bytes } = this.#sink;
    let length = this.#sink.length;
    // Reading gives zeros behind the end, so zeros that a code carries may go as well.
    while (length > 0 && bytes[length - 1] === 0) length--;
    this.#sink.length = 0;
    return length === 0 ? none : bytes.slice(0, length);
  }
}

function mayHaveBits(type: number): boolean {
  switch (classOfTypeByte(type)) {
    case typeClass.number:
    case typeClass.string:
    case typeClass.object:
    case typeClass.array:
    case typeClass.javascriptWithScope:
      return true;
    default:
      return false;
  }
}

function addBits(sink: ByteSink, value: Value): void {
  if (isNumber(value)) addNumber(sink, value);
  else if (typeof value === 'string') sink.byte(usual);
  else if (value instanceof BsonSymbol) sink.byte(symbol);
  else if (value instanceof BsonArray) for (const item of value.items()) addBits(sink, item);
  else if (value instanceof Document) for (const [, field] of value.fields) addBits(sink, field);
  else if (value instanceof CodeWithScope) for (const [, field] of value.scope.fields) addBits(sink, field);
}

function addNumber(sink: ByteSink, value: NumberValue): void {
  if (typeof value === 'number') sink.byte(usual);
  else if (typeof value === 'bigint') sink.byte(value === BigInt.asIntN(32, value) ? long : usual);
  else if (value instanceof Double) sink.byte(doubleCode(value.value));
  else addDecimal(sink, value);
}

function doubleCode(value: number): number {
  if (Object.is(value, -0)) return negativeZero;
  return Number.isInteger(value) && value >= -9223372036854775808 && value < 9223372036854775808 ? double : usual;
}

function addDecimal(sink: ByteSink, value: Decimal128): void {
  const { kind, negative, coefficient, exponent } = value.parts;
  if (!equalBytes(value.bytes, plainDecimal(value).bytes)) {
    sink.byte(decimalBytes);
    sink.range(value.bytes, 0, 16);
    return;
  }
  sink.byte(kind === 'finite' && negative && coefficient === 0n ? decimalNegativeZero : decimal);
  const biased = exponent - exponentMin;
  sink.byte(biased >> 8);
  sink.byte(biased & 0xff);
}

function plainDecimal(value: Decimal128): Decimal128 {
  const { kind, negative, coefficient, exponent } = value.parts;
  if (kind === 'finite') return Decimal128.of(negative, coefficient, exponent);
  return specialDecimal(kind, negative);
}

function specialDecimal(kind: 'nan' | 'infinity', negative: boolean): Decimal128 {
  if (kind === 'nan') return decimalNaN;
  return negative ? decimalNegativeInfinity : decimalInfinity;
}

/** Reads type bits in the order in which they were written. */
export class KeyBitsReader {
  readonly #bits: Uint8Array;
  #at = 0;

  constructor(bits: Uint8Array) {
    this.#bits = bits;
  }

  /** The next text, in the type that it had. */
  text(text: string): string | BsonSymbol {
    return this.#next() === symbol ? new BsonSymbol(text) : text;
  }

  /** The next number, in the type that it had. */
  number(number: KeyNumber): NumberValue {
    const code = this.#next();
    if (code === usual) return usualNumber(number);
    if (code === long) return toBigInt(number);
    if (code === double) return new Double(toDouble(number));
    if (code === negativeZero) return new Double(-0);
    if (code === decimalBytes) {
      const bytes = new Uint8Array(16);
      for (let i = 0; i < 16; i++) bytes[i] = this.#next();
      return new Decimal128(bytes);
    }
    const exponent = this.#next() * 256 + this.#next() + exponentMin;
    if (code === decimalNegativeZero) return Decimal128.of(true, 0n, exponent);
    if (code === decimal) return toDecimal(number, exponent);
    throw new AssertionError('these type bits are not those of the key');
  }

  #next(): number {
    return this.#bits[this.#at++] ?? 0;
  }
}

function isWhole(number: KeyNumber): boolean {
  if (number.decimal !== 0) return false;
  return number.binary >= 0 || (number.coefficient & ((1n << BigInt(-number.binary)) - 1n)) === 0n;
}

function toBigInt(number: KeyNumber): bigint {
  const magnitude = number.binary >= 0 ? number.coefficient << BigInt(number.binary) : number.coefficient >> BigInt(-number.binary);
  return number.negative ? -magnitude : magnitude;
}

function usualNumber(number: KeyNumber): NumberValue {
  if (number.kind === 'finite' && isWhole(number) && number.binary < 64) {
    const whole = toBigInt(number);
    if (whole === BigInt.asIntN(32, whole)) return Number(whole);
    if (whole === BigInt.asIntN(64, whole)) return whole;
  }
  return new Double(toDouble(number));
}

/** Exact, because the number was a double. Two factors keep the power of two in range for denormals. */
function toDouble(number: KeyNumber): number {
  if (number.kind === 'nan') return Number.NaN;
  const sign = number.negative ? -1 : 1;
  if (number.kind === 'infinity') return sign * Infinity;
  const half = Math.trunc(number.binary / 2);
  return sign * Number(number.coefficient) * 2 ** half * 2 ** (number.binary - half);
}

/** The member of the number's cohort that has this exponent; it exists, because the number was this decimal. */
function toDecimal(number: KeyNumber, exponent: number): Decimal128 {
  if (number.kind !== 'finite') return specialDecimal(number.kind, number.negative);
  const { negative, binary, decimal: tens } = number;
  let numerator = number.coefficient << BigInt(Math.max(binary, 0));
  let denominator = 1n << BigInt(Math.max(-binary, 0));
  const shift = tens - exponent;
  if (shift >= 0) numerator *= powerOfTen(shift);
  else denominator *= powerOfTen(-shift);
  return Decimal128.of(negative, numerator / denominator, exponent);
}
