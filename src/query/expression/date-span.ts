// Dates and spans of calendar units: adding, subtracting, the difference, and cutting a date to the beginning of a unit.
// Follows the manual's pages "$dateAdd", "$dateSubtract", "$dateDiff" and "$dateTrunc".

import { DateTime, isNumber, toInt64, wholeNumber, fitsInt64 } from '../../bson/index.ts';
import { refuse } from '../refuse.ts';
import { coerceToDate, zoneArgument, weekdayArgument } from './date-argument.ts';
import { addUnits, countUnits, isDateUnit, truncateToUnit } from './date-unit.ts';
import type { DateUnit } from './date-unit.ts';
import { describeMaybe, isNullish, named, nameOf } from './define.ts';
import type { Maybe, NamedValues } from './define.ts';
import type { OperatorTable } from './compiler.ts';

function unitOf(value: Maybe, name: string): DateUnit {
  if (typeof value !== 'string') throw refuse(5439013, `${name} requires 'unit' to be a string, but got ${nameOf(value)}`);
  if (!isDateUnit(value)) throw refuse(9, `unknown time unit value: ${value}`);
  return value;
}

function dateWithin(ms: number, code: number, name: string): DateTime {
  if (!Number.isFinite(ms) || Math.abs(ms) >= 2 ** 63) throw refuse(code, `${name} overflowed`);
  return new DateTime(Number.isSafeInteger(ms) ? ms : BigInt(ms));
}

/** More of a unit than this cannot be added to any date. */
const AMOUNT_MAX: Readonly<Partial<Record<DateUnit, number>>> = {
  year: 584_942_417,
  quarter: 4 * 584_942_417,
  month: 12 * 584_942_417,
  week: 30_500_568_904,
  day: 213_503_982_334,
  hour: 5_124_095_576_030,
  minute: 307_445_734_561_825,
  second: 18_446_744_073_709_551,
};

function amountOf(values: NamedValues, sign: 1 | -1, unit: DateUnit, name: string): number {
  const amount = values.get('amount');
  const whole = isNumber(amount) ? wholeNumber(amount) : undefined;
  if (whole === undefined || !fitsInt64(whole)) {
    throw refuse(5166405, `${name} expects integer amount of time units, found ${describeMaybe(amount)}`);
  }
  if (sign < 0 && whole === -(2n ** 63n)) throw refuse(6045000, `invalid ${name} 'amount' argument value: ${describeMaybe(amount)}`);
  const number = sign * Number(whole);
  if (Math.abs(number) > (AMOUNT_MAX[unit] ?? Infinity)) {
    throw refuse(5976500, `invalid ${name} 'amount' argument value: ${describeMaybe(amount)}`);
  }
  return number;
}

function shift(sign: 1 | -1): (values: NamedValues, name: string) => Maybe {
  return (values, name) => {
    const start = values.get('startDate');
    const unit = values.get('unit');
    if (isNullish(start) || isNullish(unit) || isNullish(values.get('amount'))) return null;
    const zone = zoneArgument(values);
    if (zone === undefined) return null;
    const ms = startOf(start, name);
    const known = unitOf(unit, name);
    return dateWithin(addUnits(ms, known, amountOf(values, sign, known, name), zone), 5166406, name);
  };
}

function startOf(value: Maybe, name: string): number {
  try {
    return coerceToDate(value);
  } catch (error) {
    throw refuse(5166403, `${name} requires startDate to be convertible to a date`, error);
  }
}

function weekStart(values: NamedValues, unit: DateUnit, name: string): number | undefined {
  if (!values.given('startOfWeek')) return 7;
  const value = values.get('startOfWeek');
  if (isNullish(value)) return undefined;
  return unit === 'week' ? weekdayArgument(value, name) : 7;
}

function dateOf(value: Maybe, field: string, name: string): number {
  try {
    return coerceToDate(value);
  } catch (error) {
    throw refuse(5166307, `${name} requires '${field}' to be a date, but got ${nameOf(value)}`, error);
  }
}

function dateDiff(values: NamedValues, name: string): Maybe {
  const from = values.get('startDate');
  const to = values.get('endDate');
  const unit = values.get('unit');
  if (isNullish(from) || isNullish(to)) return null;
  const zone = zoneArgument(values);
  if (zone === undefined) return null;
  const start = dateOf(from, 'startDate', name);
  const end = dateOf(to, 'endDate', name);
  if (isNullish(unit)) return null;
  const known = unitOf(unit, name);
  const startOfWeek = weekStart(values, known, name);
  if (startOfWeek === undefined) return null;
  return BigInt(countUnits(start, end, known, { zone, startOfWeek }));
}

function binSize(values: NamedValues, name: string): number | undefined {
  if (!values.given('binSize')) return 1;
  const value = values.get('binSize');
  if (isNullish(value)) return undefined;
  const whole = isNumber(value) ? wholeNumber(value) : undefined;
  if (whole === undefined || !fitsInt64(whole)) {
    throw refuse(5439017, `${name} requires 'binSize' to be a 64-bit integer, but got value '${describeMaybe(value)}' of type ${nameOf(value)}`);
  }
  const size = Number(toInt64(whole) ?? 0n);
  if (size <= 0) throw refuse(5439018, `${name} requires 'binSize' to be greater than 0, but got value ${size}`);
  return size;
}

/** Codes of a bin that is too wide, by unit. */
const TOO_WIDE: Readonly<Partial<Record<DateUnit, number>>> = { year: 5439006, quarter: 5439006, month: 5439006 };

function dateTrunc(values: NamedValues, name: string): Maybe {
  const date = values.get('date');
  const unit = values.get('unit');
  if (isNullish(date) || isNullish(unit)) return null;
  const size = binSize(values, name);
  const zone = zoneArgument(values);
  if (size === undefined || zone === undefined) return null;
  const ms = dateOf(date, 'date', name);
  const known = unitOf(unit, name);
  const startOfWeek = weekStart(values, known, name);
  if (startOfWeek === undefined) return null;
  if (size > (AMOUNT_MAX[known] ?? Infinity)) throw refuse(TOO_WIDE[known] ?? 5439002, `${name} 'binSize' is too large: ${size}`);
  return dateWithin(truncateToUnit(ms, known, { zone, size, startOfWeek }), 5439005, name);
}

const spanArguments = {
  words: 'requires',
  notObject: 5166400,
  unknown: 5166401,
  required: { startDate: 5166402, unit: 5166402, amount: 5166402 },
  optional: ['timezone'],
} as const;

/** The operators, by name. */
export const dateSpanOperators: OperatorTable = {
  $dateAdd: named(spanArguments, shift(1)),
  $dateSubtract: named(spanArguments, shift(-1)),
  $dateDiff: named(
    {
      words: 'only',
      notObject: 5166301,
      unknown: 5166302,
      required: { startDate: 5166303, endDate: 5166304, unit: 5166305 },
      optional: ['timezone', 'startOfWeek'],
    },
    dateDiff,
  ),
  $dateTrunc: named(
    {
      words: 'only',
      notObject: 5439007,
      unknown: 5439008,
      required: { date: 5439009, unit: 5439010 },
      optional: ['timezone', 'startOfWeek', 'binSize'],
    },
    dateTrunc,
  ),
};
