// Conversions between types: `$convert` and the short forms. What cannot be converted ends in ConversionFailure, or in `onError`.
// Follows the manual's page "$convert (aggregation)".

import { CommandError } from '../../base/errors.ts';
import {
  Binary,
  DateTime,
  Decimal128,
  Document,
  Double,
  fitsInt32,
  fitsInt64,
  isNumber,
  isZero,
  ObjectId,
  Timestamp,
  toDecimal,
  toDouble,
  toInt32,
  toInt64,
  typeCodeOf,
  typeNameOf,
  wholeNumber,
} from '../../bson/index.ts';
import type { NumberValue, Value } from '../../bson/index.ts';
import { refuse } from '../refuse.ts';
import { binaryToText, numberOfBytes, textToBinary, toBinary } from './binary-text.ts';
import type { BinaryOptions } from './binary-text.ts';
import { formatDate } from './date-format.ts';
import { dateOfText } from './date-from-string.ts';
import { dateMilliseconds } from './date-argument.ts';
import { compileNamed, describeMaybe, isNullish, nameOf } from './define.ts';
import type { Maybe } from './define.ts';
import type { Compiler, OperatorRule, OperatorTable } from './compiler.ts';
import { constant } from './expression.ts';
import type { Expression } from './expression.ts';
import { exactDouble } from './to-text.ts';

function failure(text: string): CommandError {
  return refuse(241, `${text} in $convert with no onError value`);
}

function unsupported(value: Value, to: string): CommandError {
  return failure(`Unsupported conversion from ${nameOf(value)} to ${to}`);
}

function overflow(value: NumberValue): CommandError {
  const double = toDouble(value);
  if (Number.isNaN(double)) return failure('Attempt to convert NaN value to integer type');
  if (!Number.isFinite(double) && !(value instanceof Decimal128 && value.isFinite)) {
    return failure('Attempt to convert infinity value to integer type');
  }
  return refuse(241, `Conversion would overflow target type in $convert with no onError value: ${describeMaybe(value)}`);
}

function unreadable(text: string): CommandError {
  return refuse(241, `Failed to parse number '${text}' in $convert with no onError value: Did not consume whole string.`);
}

function integerText(text: string): bigint {
  if (!/^[+-]?\d+$/.test(text)) throw unreadable(text);
  return BigInt(text.replace('+', ''));
}

const INTEGER_LIKE: Readonly<Record<string, (value: bigint) => boolean>> = { int: fitsInt32, long: fitsInt64 };

function toInteger(value: Value, to: 'int' | 'long', options: BinaryOptions): bigint {
  if (isNumber(value)) {
    const whole = to === 'int' ? toInt32(value) : toInt64(value);
    if (whole === undefined) throw overflow(value);
    return BigInt(whole);
  }
  if (typeof value === 'boolean') return value ? 1n : 0n;
  if (typeof value === 'string') {
    const whole = integerText(value);
    if (INTEGER_LIKE[to]?.(whole) !== true) throw unreadable(value);
    return whole;
  }
  if (value instanceof DateTime && to === 'long') return value.msBig;
  if (value instanceof Binary) {
    const number = numberOfBytes(value, to, options);
    if (typeof number === 'bigint') return number;
  }
  throw unsupported(value, to);
}

const NUMBER_TEXT = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const SPECIAL_TEXT: ReadonlyMap<string, number> = new Map([
  ['inf', Infinity],
  ['infinity', Infinity],
  ['nan', Number.NaN],
]);

function doubleOfText(text: string): number {
  const special = SPECIAL_TEXT.get(text.replace(/^[+-]/, '').toLowerCase());
  if (special !== undefined) return text.startsWith('-') ? -special : special;
  const number = NUMBER_TEXT.test(text) ? Number(text) : hexadecimal(text);
  if (number === undefined || !Number.isFinite(number)) throw unreadable(text);
  // Too small for a double: only what is written as zero is zero.
  if (number === 0 && /^[^eEpP]*[1-9a-fA-F]/.test(text.replace(/0[xX]/, ''))) throw unreadable(text);
  return number;
}

const HEX_TEXT = /^([+-]?)0[xX]([0-9a-fA-F]*)(?:\.([0-9a-fA-F]*))?(?:[pP]([+-]?\d+))?$/;

/** C's hexadecimal notation, `+0x1.8p1`; without a sign a small `x` is refused. */
function hexadecimal(text: string): number | undefined {
  const found = text.startsWith('0x') ? null : HEX_TEXT.exec(text);
  const [, sign = '', whole = '', fraction = '', power = '0'] = found ?? [];
  if (whole + fraction === '') return undefined;
  const size = Number.parseInt(whole + fraction, 16) * 2 ** (Number(power) - 4 * fraction.length);
  return sign === '-' ? -size : size;
}

function convertToDouble(value: Value, options: BinaryOptions): Value {
  if (isNumber(value)) {
    const double = toDouble(value);
    if (!Number.isFinite(double) && value instanceof Decimal128 && value.isFinite) throw overflow(value);
    return new Double(double);
  }
  if (typeof value === 'boolean') return new Double(value ? 1 : 0);
  if (typeof value === 'string') return new Double(doubleOfText(value));
  if (value instanceof DateTime) return new Double(value.ms);
  if (value instanceof Binary) {
    const number = numberOfBytes(value, 'double', options);
    if (typeof number === 'number') return new Double(number);
  }
  throw unsupported(value, 'double');
}

function convertToDecimal(value: Value): Value {
  if (isNumber(value)) return toDecimal(value);
  if (typeof value === 'boolean') return Decimal128.fromBigInt(value ? 1n : 0n);
  if (value instanceof DateTime) return Decimal128.fromBigInt(value.msBig);
  if (typeof value !== 'string') throw unsupported(value, 'decimal');
  const decimal = Decimal128.parse(value);
  if (decimal === undefined) throw unreadable(value);
  const written = /inf/i.test(value);
  if (decimal.kind === 'infinity' && !written) throw unreadable(value);
  if (decimal.isFinite && decimal.coefficient === 0n && /^[^eE]*[1-9]/.test(value)) throw unreadable(value);
  return decimal;
}

function convertToBool(value: Value): Value {
  if (typeof value === 'boolean') return value;
  return !isNumber(value) || !isZero(value);
}

function convertToDate(value: Value): Value {
  if (typeof value === 'bigint') return new DateTime(value);
  if (value instanceof Double || value instanceof Decimal128) {
    const ms = toInt64(value);
    if (ms === undefined) throw overflow(value);
    return new DateTime(ms);
  }
  if (typeof value === 'string') return new DateTime(dateOfText(value));
  if (value instanceof DateTime) return value;
  const ms = dateMilliseconds(value);
  if (ms === undefined) throw unsupported(value, 'date');
  return new DateTime(ms);
}

function convertToObjectId(value: Value): Value {
  if (value instanceof ObjectId) return value;
  if (typeof value !== 'string') throw unsupported(value, 'objectId');
  const id = ObjectId.parse(value);
  if (id === undefined) {
    throw refuse(241, `Failed to parse objectId '${value}' in $convert with no onError value: Invalid string length for parsing to OID, expected 24 but found ${value.length}`);
  }
  return id;
}

function convertToString(value: Value, options: BinaryOptions): Value {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  if (value instanceof Double) return exactDouble(value.value);
  if (value instanceof Decimal128) return value.toString();
  if (value instanceof ObjectId) return value.toHexString();
  if (value instanceof DateTime) return formatDate(value);
  if (value instanceof Binary) return binaryToText(value, options);
  throw unsupported(value, 'string');
}

function convertToBinary(value: Value, options: BinaryOptions): Value {
  if (typeof value === 'string') return textToBinary(value, options);
  const made = value instanceof Timestamp ? undefined : toBinary(value, options);
  if (made === undefined) throw unsupported(value, 'binData');
  return made;
}

type Conversion = (value: Value, options: BinaryOptions) => Value;

const conversions: ReadonlyMap<string, Conversion> = new Map<string, Conversion>([
  ['double', convertToDouble],
  ['string', convertToString],
  ['binData', convertToBinary],
  ['objectId', convertToObjectId],
  ['bool', convertToBool],
  ['date', convertToDate],
  ['int', (value, options) => Number(toInteger(value, 'int', options))],
  ['long', (value, options) => toInteger(value, 'long', options)],
  ['decimal', convertToDecimal],
]);

function typeOfName(value: Maybe): string {
  if (typeof value === 'string') {
    if (typeCodeOf(value) === undefined) throw refuse(2, `Unknown type name: ${value}`);
    return value;
  }
  if (!isNumber(value)) throw refuse(9, `$convert's 'to' argument must be a string or number, but is ${nameOf(value)}`);
  const code = wholeNumber(value);
  const name = code === 0n ? 'missing' : code === undefined ? undefined : typeNameOf(Number(code));
  if (name === undefined) {
    throw refuse(9, `In $convert, numeric value for 'to' does not correspond to a BSON type: ${describeMaybe(value)}`);
  }
  return name;
}

interface Target {
  readonly type: string;
  readonly subtype: number;
}

function subtypeOf(value: Maybe): number {
  if (!isNumber(value)) throw refuse(4341108, `$convert's 'subtype' must be a number, but is ${nameOf(value)}`);
  const whole = wholeNumber(value);
  if (whole === undefined) throw refuse(4341106, `In $convert, numeric 'subtype' argument is not an integer`);
  const known = (whole >= 0n && whole <= 9n) || (whole >= 128n && whole <= 255n);
  if (!known) throw refuse(4341107, `In $convert, numeric value for 'subtype' does not correspond to a BinData type: ${String(whole)}`);
  return Number(whole);
}

function targetOf(to: Maybe): Target | undefined {
  if (isNullish(to)) return undefined;
  if (!(to instanceof Document)) return { type: typeOfName(to), subtype: 0 };
  const type = to.get('type');
  if (type === undefined) throw refuse(9, `Missing 'type' field in $convert's 'to' object`);
  return { type: typeOfName(type), subtype: to.has('subtype') ? subtypeOf(to.get('subtype')) : 0 };
}

function convert(value: Value, target: Target, options: BinaryOptions): Value {
  const conversion = conversions.get(target.type);
  if (conversion === undefined) throw unsupported(value, target.type);
  return conversion(value, options);
}

const FIELDS: ReadonlySet<string> = new Set(['input', 'to', 'onError', 'onNull', 'format', 'byteOrder']);

function convertArguments(argument: Value): ReadonlyMap<string, Value> {
  if (!(argument instanceof Document)) throw refuse(9, `$convert expects an object of named arguments but found: ${nameOf(argument)}`);
  const unknown = argument.keys().find((name) => !FIELDS.has(name));
  if (unknown !== undefined) throw refuse(9, `$convert found an unknown argument: ${unknown}`);
  for (const name of ['input', 'to']) if (!argument.has(name)) throw refuse(9, `Missing '${name}' parameter to $convert`);
  return new Map(argument.fields);
}

const FORMATS: ReadonlySet<string> = new Set(['auto', 'base64', 'base64url', 'utf8', 'hex', 'uuid']);

function formatOf(value: Maybe): string | undefined {
  if (isNullish(value)) return undefined;
  if (typeof value !== 'string') throw refuse(4341114, `$convert requires that 'format' be a string, found: ${nameOf(value)}`);
  if (!FORMATS.has(value)) throw refuse(4341125, `Invalid 'format' argument for $convert: ${value}`);
  return value;
}

function isLittle(value: Maybe): boolean {
  if (isNullish(value)) return true;
  if (typeof value !== 'string') throw refuse(9130001, `$convert requires that 'byteOrder' be a string, found: ${nameOf(value)}`);
  if (value !== 'little' && value !== 'big') throw refuse(9130002, `Invalid 'byteOrder' argument for $convert: ${value}`);
  return value === 'little';
}

/** What `onError` stands in for: ConversionFailure, and a year that text cannot hold. */
const FAILURES: ReadonlySet<number> = new Set([241, 18537]);

function compileConvert(argument: Value, compiler: Compiler, name: string): Expression {
  const found = convertArguments(argument);
  const fields = new Map([...found.keys()].map((field) => [field, compileNamed(found, field, compiler) ?? constant(undefined)]));
  const valueOf = (field: string, root: Document): Maybe => fields.get(field)?.evaluate(root);
  return compiler.fold(name, [...fields.values()], (root) => {
    const input = valueOf('input', root);
    if (isNullish(input)) return fields.has('onNull') ? valueOf('onNull', root) : null;
    const target = targetOf(valueOf('to', root));
    if (target === undefined) return null;
    const format = formatOf(valueOf('format', root));
    const little = isLittle(valueOf('byteOrder', root));
    try {
      return convert(input, target, { subtype: target.subtype, format, little });
    } catch (error) {
      const onError = fields.get('onError');
      if (onError !== undefined && error instanceof CommandError && FAILURES.has(error.code)) return onError.evaluate(root);
      throw error;
    }
  });
}

/** The short form: `{$toInt: value}`. */
function short(type: string, options: BinaryOptions): OperatorRule {
  return (argument, compiler, name) => {
    const [operand, ...more] = compiler.compileOperands(argument);
    if (operand === undefined || more.length > 0) {
      throw refuse(50723, `${name} requires a single argument, got ${operand === undefined ? 0 : 1 + more.length}`);
    }
    return compiler.fold(name, [operand], (root) => {
      const value = operand.evaluate(root);
      return isNullish(value) ? null : convert(value, { type, subtype: options.subtype }, options);
    });
  };
}

const plain: BinaryOptions = { subtype: 0, format: 'auto', little: true };

/** The operators, by name. */
export const convertOperators: OperatorTable = {
  $convert: compileConvert,
  $toBool: short('bool', plain),
  $toDate: short('date', plain),
  $toDecimal: short('decimal', plain),
  $toDouble: short('double', plain),
  $toInt: short('int', plain),
  $toLong: short('long', plain),
  $toObjectId: short('objectId', plain),
  $toString: short('string', plain),
  $toUUID: short('binData', { subtype: 4, format: 'uuid', little: true }),
};
