// Dates apart and together: single parts, all parts, text. Null dates and null zones give null.
// Follows the manual's page "Date Expression Operators"; arithmetic is in date-span.ts, reading text in date-parse.ts.

import { DateTime, Document, fitsInt64, isNumber, wholeNumber } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { refuse } from '../refuse.ts';
import { civilTime, DAY_MS, dayOfYear, isoWeek, isoWeekday, isoYearStart, millisecondsOf, sundayWeek } from './civil.ts';
import type { CivilTime } from './civil.ts';
import { coerceToDate, zoneArgument } from './date-argument.ts';
import { formatDateAs, validateDateFormat } from './date-format.ts';
import { describeMaybe, isNullish, named, nameOf } from './define.ts';
import type { Maybe, NamedArguments, NamedValues } from './define.ts';
import type { Compiler, OperatorRule, OperatorTable } from './compiler.ts';
import type { Expression } from './expression.ts';
import { utc, utcOf } from './time-zone.ts';

interface Local {
  readonly time: CivilTime;
  readonly days: number;
}

function localOf(ms: number): Local {
  return { time: civilTime(ms), days: Math.floor(ms / DAY_MS) };
}

/** The argument as named arguments: `{date, timezone}`, or the date alone, perhaps in an array. */
function partArguments(argument: Value, compiler: Compiler, name: string): { date: Expression; timezone: Expression | undefined } {
  if (argument instanceof Document && argument.first?.[0].startsWith('$') !== true) {
    for (const [field] of argument.fields) {
      if (field !== 'date' && field !== 'timezone') throw refuse(40535, `unrecognized option to ${name}: "${field}"`);
    }
    const date = argument.get('date');
    const timezone = argument.get('timezone');
    if (date === undefined) throw refuse(40539, `missing 'date' argument to ${name}, provided: ${name}: ${describeMaybe(argument)}`);
    return { date: compiler.compile(date), timezone: timezone === undefined ? undefined : compiler.compile(timezone) };
  }
  const [date, ...more] = compiler.compileOperands(argument);
  if (date === undefined || more.length > 0) {
    const given = date === undefined ? 0 : 1 + more.length;
    throw refuse(40536, `${name} accepts exactly one argument if given an array, but was given ${given}`);
  }
  return { date, timezone: undefined };
}

function part(read: (local: Local) => Value): OperatorRule {
  return (argument, compiler, name) => {
    const { date, timezone } = partArguments(argument, compiler, name);
    const operands = timezone === undefined ? [date] : [date, timezone];
    return compiler.fold(name, operands, (root) => {
      const value = date.evaluate(root);
      if (isNullish(value)) return null;
      const ms = coerceToDate(value);
      const zone = zoneArgument({ get: () => timezone?.evaluate(root), given: () => timezone !== undefined });
      return zone === undefined ? null : read(localOf(ms + zone.offsetAt(ms)));
    });
  };
}

function timeFields({ time }: Local): [string, Value][] {
  return [
    ['hour', time.hour],
    ['minute', time.minute],
    ['second', time.second],
    ['millisecond', time.millisecond],
  ];
}

function dateToParts(values: NamedValues): Maybe {
  const date = values.get('date');
  const zone = zoneArgument(values);
  const iso = values.given('iso8601') ? values.get('iso8601') : false;
  if (zone === undefined || isNullish(iso)) return null;
  if (typeof iso !== 'boolean') throw refuse(40521, `iso8601 must evaluate to a bool, found ${nameOf(iso)}`);
  if (isNullish(date)) return null;
  const ms = coerceToDate(date);
  const local = localOf(ms + zone.offsetAt(ms));
  if (iso) {
    const week = isoWeek(local.days);
    const fields: [string, Value][] = [
      ['isoWeekYear', week.year],
      ['isoWeek', week.week],
      ['isoDayOfWeek', isoWeekday(local.days)],
    ];
    return Document.fromEntries([...fields, ...timeFields(local)]);
  }
  const { year, month, day } = local.time;
  return Document.fromEntries([['year', year], ['month', month], ['day', day], ...timeFields(local)]);
}

const FROM_PARTS: NamedArguments = {
  words: 'requires',
  notObject: 40519,
  unknown: 40518,
  required: {},
  optional: 'year month day hour minute second millisecond isoWeekYear isoWeek isoDayOfWeek timezone'.split(' '),
};

interface PartRule {
  readonly fallback: number;
  readonly min: number;
  readonly max: number;
  readonly code: number;
}

const YEAR: PartRule = { fallback: 0, min: 1, max: 9999, code: 40523 };
const SMALL: PartRule = { fallback: 1, min: -32768, max: 32767, code: 31034 };
const CLOCK: PartRule = { ...SMALL, fallback: 0 };
const WIDE: PartRule = { fallback: 0, min: -(2 ** 63), max: 2 ** 63, code: 31034 };

/** A part as a whole number; undefined if it is null. */
function partValue(values: NamedValues, field: string, rule: PartRule): number | undefined {
  if (!values.given(field)) return rule.fallback;
  const value = values.get(field);
  if (isNullish(value)) return undefined;
  const whole = isNumber(value) ? wholeNumber(value) : undefined;
  if (whole === undefined || !fitsInt64(whole)) {
    throw refuse(40515, `'${field}' must evaluate to an integer, found ${nameOf(value)} with value: ${describeMaybe(value)}`);
  }
  const number = Number(whole);
  if (number < rule.min || number > rule.max) {
    throw refuse(rule.code, `'${field}' must evaluate to an integer in the range ${rule.min} to ${rule.max}, found ${number}`);
  }
  return number;
}

function dayFromParts(values: NamedValues): number | undefined {
  if (values.given('isoWeekYear')) {
    const year = partValue(values, 'isoWeekYear', YEAR);
    const week = partValue(values, 'isoWeek', SMALL);
    const day = partValue(values, 'isoDayOfWeek', SMALL);
    if (year === undefined || week === undefined || day === undefined) return undefined;
    return isoYearStart(year) + (week - 1) * 7 + (day - 1);
  }
  const year = partValue(values, 'year', YEAR);
  const month = partValue(values, 'month', SMALL);
  const day = partValue(values, 'day', SMALL);
  if (year === undefined || month === undefined || day === undefined) return undefined;
  return millisecondsOf({ year, month, day, hour: 0, minute: 0, second: 0, millisecond: 0 }) / DAY_MS;
}

function dateFromParts(values: NamedValues): Maybe {
  const days = dayFromParts(values);
  const clock = [
    partValue(values, 'hour', CLOCK),
    partValue(values, 'minute', CLOCK),
    partValue(values, 'second', WIDE),
    partValue(values, 'millisecond', WIDE),
  ];
  const zone = zoneArgument(values);
  const [hour, minute, second, millisecond] = clock;
  if (days === undefined || zone === undefined) return null;
  if (hour === undefined || minute === undefined || second === undefined || millisecond === undefined) return null;
  const local = days * DAY_MS + ((hour * 60 + minute) * 60 + second) * 1000 + millisecond;
  if (!Number.isFinite(local) || Math.abs(local) >= 2 ** 63) throw refuse(15, 'date overflow in $dateFromParts');
  const ms = utcOf(local, zone);
  return new DateTime(Number.isSafeInteger(ms) ? ms : BigInt(ms));
}

const compileFromParts: OperatorRule = (argument, compiler, name) => {
  const iso = ['isoWeekYear', 'isoWeek', 'isoDayOfWeek'];
  const compiled = named(FROM_PARTS, dateFromParts)(argument, compiler, name);
  if (argument instanceof Document) {
    const hasIso = iso.some((field) => argument.has(field));
    const hasCalendar = ['year', 'month', 'day'].some((field) => argument.has(field));
    if (argument.has('year') && hasIso) throw refuse(40489, '$dateFromParts does not allow mixing natural dates with ISO dates');
    if (argument.has('isoWeekYear') && hasCalendar) {
      throw refuse(40525, '$dateFromParts does not allow mixing ISO dates with natural dates');
    }
    if (!argument.has('year') && !argument.has('isoWeekYear')) {
      throw refuse(40516, `$dateFromParts requires either 'year' or 'isoWeekYear' to be present`);
    }
  }
  return compiled;
};

const ISO_FORMAT = '%Y-%m-%dT%H:%M:%S.%L';

function dateToString(values: NamedValues): Maybe {
  const date = values.get('date');
  const given = values.given('format') ? values.get('format') : '';
  if (isNullish(given)) return null;
  if (typeof given !== 'string') {
    throw refuse(18533, `$dateToString requires that 'format' be a string, found: ${nameOf(given)} with value ${describeMaybe(given)}`);
  }
  validateDateFormat(given);
  const zone = zoneArgument(values);
  if (zone === undefined) return null;
  if (isNullish(date)) return values.given('onNull') ? values.get('onNull') : null;
  const format = values.given('format') ? given : ISO_FORMAT + (zone === utc ? 'Z' : '');
  return formatDateAs(new DateTime(coerceToDate(date)), format, zone);
}

/** The operators, by name. */
export const dateOperators: OperatorTable = {
  $year: part(({ time }) => time.year),
  $month: part(({ time }) => time.month),
  $dayOfMonth: part(({ time }) => time.day),
  $hour: part(({ time }) => time.hour),
  $minute: part(({ time }) => time.minute),
  $second: part(({ time }) => time.second),
  $millisecond: part(({ time }) => time.millisecond),
  $dayOfYear: part(({ days }) => dayOfYear(days)),
  $dayOfWeek: part(({ days }) => (isoWeekday(days) % 7) + 1),
  $isoDayOfWeek: part(({ days }) => isoWeekday(days)),
  $week: part(({ days }) => sundayWeek(days)),
  $isoWeek: part(({ days }) => isoWeek(days).week),
  $isoWeekYear: part(({ days }) => BigInt(isoWeek(days).year)),
  $dateToParts: named(
    { words: 'only', notObject: 40524, unknown: 40520, required: { date: 40522 }, optional: ['timezone', 'iso8601'] },
    dateToParts,
  ),
  $dateFromParts: compileFromParts,
  $dateToString: named(
    { words: 'only', notObject: 18629, unknown: 18534, required: { date: 18628 }, optional: ['format', 'timezone', 'onNull'] },
    dateToString,
  ),
};
