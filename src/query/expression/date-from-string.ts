// `$dateFromString`: text as a date, in a free form or by a format. Follows the manual's page "$dateFromString (aggregation)".

import { CommandError } from '../../base/errors.ts';
import { DateTime } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { refuse } from '../refuse.ts';
import { zoneArgument } from './date-argument.ts';
import { millisecondsOfParsed, monthOfName, parseDateText } from './date-parse.ts';
import type { ParsedDate } from './date-parse.ts';
import { compileNamed, describeMaybe, isNullish, namedArguments, nameOf } from './define.ts';
import type { Maybe, NamedArguments, NamedValues } from './define.ts';
import type { Compiler, OperatorTable } from './compiler.ts';
import { constant } from './expression.ts';
import type { Expression } from './expression.ts';
import { utc, zoneOf } from './time-zone.ts';
import type { TimeZone } from './time-zone.ts';

interface Specifier {
  readonly pattern: string;
  read(text: string, date: ParsedDate): void;
}

function numeric(pattern: string, field: keyof ParsedDate): Specifier {
  return { pattern, read: (text, date) => Object.assign(date, { [field]: Number(text) }) };
}

function readOffset(text: string, date: ParsedDate): void {
  date.zone = zoneOf(text === 'Z' || text === 'UTC' || text === 'GMT' ? 'UTC' : text);
}

function readMinutes(text: string, date: ParsedDate): void {
  const offset = Number(text) * 60_000;
  date.zone = { name: text, offsetAt: () => offset };
}

const month: Specifier = { pattern: '[A-Za-z]+', read: (text, date) => Object.assign(date, { month: monthOfName(text) ?? 0 }) };

const specifiers: Readonly<Record<string, Specifier>> = {
  '%': { pattern: '%', read: () => undefined },
  b: month,
  B: month,
  d: numeric('\\d{1,2}', 'day'),
  G: numeric('\\d{4}', 'isoYear'),
  H: numeric('\\d{1,2}', 'hour'),
  j: numeric('\\d{1,3}', 'dayOfYear'),
  L: { pattern: '\\d{1,3}', read: (text, date) => Object.assign(date, { millisecond: Number(text.padEnd(3, '0')) }) },
  m: numeric('\\d{1,2}', 'month'),
  M: numeric('\\d{1,2}', 'minute'),
  S: numeric('\\d{1,2}', 'second'),
  u: numeric('[1-7]', 'isoDay'),
  V: numeric('\\d{1,2}', 'isoWeek'),
  Y: numeric('\\d{4}', 'year'),
  z: { pattern: '[+-]\\d\\d(?::?\\d\\d)?|Z|UTC|GMT', read: readOffset },
  Z: { pattern: '[+-]?\\d{1,3}', read: readMinutes },
};

interface Format {
  readonly pattern: RegExp;
  readonly parts: readonly Specifier[];
}

function compileFormat(format: string): Format {
  const parts: Specifier[] = [];
  const source = format.replace(/%([\s\S])?|[^%]+/g, (text, letter: string | undefined) => {
    if (!text.startsWith('%')) return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
    if (letter === undefined) throw refuse(18535, `Unmatched '%' at end of format string`);
    const specifier = Object.hasOwn(specifiers, letter) ? specifiers[letter] : undefined;
    if (specifier === undefined) throw refuse(18536, `Invalid format character '%${letter}' in format string`);
    parts.push(specifier);
    return `(${specifier.pattern})`;
  });
  return { pattern: new RegExp(`^${source}$`), parts };
}

function parseByFormat(text: string, { pattern, parts }: Format): ParsedDate | string {
  const found = pattern.exec(text);
  if (found === null) return `Error parsing date string '${text}'; the text does not have the format`;
  const date: ParsedDate = {};
  parts.forEach((part, index) => part.read(found[index + 1] ?? '', date));
  return date;
}

/** Milliseconds of a text; refused with ConversionFailure if it is no date. */
export function dateOfText(text: string, zone?: TimeZone, format?: Format): number {
  const parsed = format === undefined ? parseDateText(text) : parseByFormat(text, format);
  if (typeof parsed === 'string') throw refuse(241, parsed);
  if (parsed.zone !== undefined && zone !== undefined && zone !== utc) {
    const reason = 'you cannot pass in a date/time string with GMT offset together with a timezone argument';
    throw refuse(241, `Error parsing date string '${text}'; ${reason}`);
  }
  const ms = millisecondsOfParsed(parsed, zone ?? utc);
  if (ms === undefined) {
    throw refuse(241, `an incomplete date/time string has been found, with elements missing: "${text}"`);
  }
  return ms;
}

const ARGUMENTS: NamedArguments = {
  words: 'only',
  notObject: 40540,
  unknown: 40541,
  required: { dateString: 40542 },
  optional: ['format', 'timezone', 'onError', 'onNull'],
};

function formatOf(value: Maybe): Format {
  if (typeof value === 'string') return compileFormat(value);
  throw refuse(40684, `$dateFromString requires that 'format' be a string, found: ${nameOf(value)} with value ${describeMaybe(value)}`);
}

/** The date in a list of one, or null in it; an empty list for a text that is null. */
function convert(values: NamedValues): readonly [Value] | readonly [] {
  const text = values.get('dateString');
  const format = values.given('format') ? values.get('format') : undefined;
  if (values.given('format') && isNullish(format)) return [null];
  const compiled = format === undefined ? undefined : formatOf(format);
  const zone = zoneArgument(values);
  if (isNullish(text)) return [];
  if (typeof text !== 'string') {
    throw refuse(241, `$dateFromString requires that 'dateString' be a string, found: ${nameOf(text)} with value ${describeMaybe(text)}`);
  }
  if (zone === undefined) return [null];
  return [new DateTime(dateOfText(text, values.given('timezone') ? zone : undefined, compiled))];
}

function compile(argument: Value, compiler: Compiler, name: string): Expression {
  const found = namedArguments(argument, name, ARGUMENTS);
  const fields = new Map([...found.keys()].map((field) => [field, compileNamed(found, field, compiler) ?? constant(undefined)]));
  return compiler.fold(name, [...fields.values()], (root) => {
    try {
      const values = { get: (field: string) => fields.get(field)?.evaluate(root), given: (field: string) => fields.has(field) };
      const [made] = convert(values);
      if (made !== undefined) return made;
      const onNull = fields.get('onNull');
      return onNull === undefined ? null : onNull.evaluate(root);
    } catch (error) {
      const onError = fields.get('onError');
      if (onError !== undefined && error instanceof CommandError && error.code === 241) return onError.evaluate(root);
      throw error;
    }
  });
}

/** The operator, by name. */
export const dateFromStringOperators: OperatorTable = { $dateFromString: compile };
