// Numbers, dates and other scalars as text. Two customs: operators on strings take a double with six digits (C's %g), conversions to a
// string the shortest text that gives the same double again. Follows the manual's pages "$toUpper" and "$toString".

import { Code, BsonSymbol, DateTime, Decimal128, Double, Timestamp } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { refuse } from '../refuse.ts';
import { isNullish, nameOf } from './define.ts';
import type { Maybe } from './define.ts';
import { formatDate } from './date-format.ts';

function exponentText(digits: string, exponent: number): string {
  const fraction = digits.length > 1 ? `.${digits.slice(1)}` : '';
  const size = String(Math.abs(exponent)).padStart(2, '0');
  return `${digits.slice(0, 1)}${fraction}e${exponent < 0 ? '-' : '+'}${size}`;
}

function plainText(digits: string, exponent: number): string {
  if (exponent < 0) return `0.${'0'.repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0');
  const fraction = digits.slice(exponent + 1);
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/** Significant digits and exponent, `d.ddd * 10^exponent`, without zeros at the end. */
function scientific(text: string): { digits: string; exponent: number } {
  const [mantissa = '', power = '0'] = text.split('e');
  return { digits: mantissa.replace('.', '').replace(/0+$/, '') || '0', exponent: Number(power) };
}

function finiteText(value: number, text: string, exponentMax: number): string {
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  const { digits, exponent } = scientific(text);
  return sign + (exponent < -4 || exponent >= exponentMax ? exponentText(digits, exponent) : plainText(digits, exponent));
}

/** A double with six significant digits, as C's %g. */
function shortDouble(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value < 0 ? '-inf' : 'inf';
  return finiteText(value, Math.abs(value).toExponential(5), 6);
}

/** A double with as many digits as it takes to read the same one back. */
export function exactDouble(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  return finiteText(value, Math.abs(value).toExponential(), 16);
}

/** A string of what an operator on strings was given; refuses what has no text. */
export function coerceToText(value: Maybe): string {
  if (typeof value === 'string') return value;
  if (isNullish(value)) return '';
  const text = scalarText(value);
  if (text === undefined) throw refuse(16007, `can't convert from BSON type ${nameOf(value)} to String`);
  return text;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `Jan  1 00:00:00:1`: the time of the year, then the increment. */
function timestampText(value: Timestamp): string {
  const date = new Date(value.seconds * 1000);
  const day = String(date.getUTCDate()).padStart(2, ' ');
  return `${MONTHS[date.getUTCMonth()] ?? ''} ${day} ${date.toISOString().slice(11, 19)}:${String(value.increment)}`;
}

function scalarText(value: Value): string | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (value instanceof Double) return shortDouble(value.value);
  if (value instanceof Decimal128) return value.toString();
  if (value instanceof DateTime) return formatDate(value);
  if (value instanceof Code) return value.code;
  if (value instanceof BsonSymbol) return value.text;
  if (value instanceof Timestamp) return timestampText(value);
  return undefined;
}
