// Dates as text: the format specifiers of `$dateToString`, and the ISO text that conversions give.
// Follows the manual's page "$dateToString (aggregation)", section "Format Specifiers".

import type { DateTime } from '../../bson/index.ts';
import { refuse } from '../refuse.ts';
import { civilTime, DAY_MS, dayOfYear, isoWeek, isoWeekday, sundayWeek } from './civil.ts';
import type { CivilTime } from './civil.ts';
import { utc } from './time-zone.ts';
import type { TimeZone } from './time-zone.ts';

interface Moment {
  readonly time: CivilTime;
  /** Local days since 1970. */
  readonly days: number;
  /** Minutes that local time is ahead of UTC. */
  readonly ahead: number;
}

const MONTHS = 'January February March April May June July August September October November December'.split(' ');

function padded(value: number, width: number): string {
  return String(value).padStart(width, '0');
}

function yearText(year: number): string {
  if (year < 0 || year > 9999) {
    throw refuse(18537, `Could not convert date to string: date component was outside the supported range of 0-9999: ${year}`);
  }
  return padded(year, 4);
}

function offsetText(ahead: number, colon: string): string {
  const size = Math.abs(ahead);
  return `${ahead < 0 ? '-' : '+'}${padded(Math.floor(size / 60), 2)}${colon}${padded(size % 60, 2)}`;
}

const specifiers: Readonly<Record<string, (moment: Moment) => string>> = {
  '%': () => '%',
  b: ({ time }) => (MONTHS[time.month - 1] ?? '').slice(0, 3),
  B: ({ time }) => MONTHS[time.month - 1] ?? '',
  d: ({ time }) => padded(time.day, 2),
  G: ({ days }) => yearText(isoWeek(days).year),
  H: ({ time }) => padded(time.hour, 2),
  j: ({ days }) => padded(dayOfYear(days), 3),
  L: ({ time }) => padded(time.millisecond, 3),
  m: ({ time }) => padded(time.month, 2),
  M: ({ time }) => padded(time.minute, 2),
  S: ({ time }) => padded(time.second, 2),
  u: ({ days }) => String(isoWeekday(days)),
  U: ({ days }) => padded(sundayWeek(days), 2),
  V: ({ days }) => padded(isoWeek(days).week, 2),
  w: ({ days }) => String((isoWeekday(days) % 7) + 1),
  Y: ({ time }) => yearText(time.year),
  z: ({ ahead }) => offsetText(ahead, ''),
  Z: ({ ahead }) => String(ahead),
};

/** Refuses a format with something behind `%` that is no specifier. */
export function validateDateFormat(format: string): void {
  for (let at = format.indexOf('%'); at >= 0; at = format.indexOf('%', at + 2)) {
    const letter = format[at + 1];
    if (letter === undefined) throw refuse(18535, `Unmatched '%' at end of format string`);
    if (!Object.hasOwn(specifiers, letter)) throw refuse(18536, `Invalid format character '%${letter}' in format string`);
  }
}

/** A date written by a valid format, in the zone's time. */
export function formatDateAs(date: DateTime, format: string, zone: TimeZone): string {
  const offset = zone.offsetAt(date.ms);
  const local = date.ms + offset;
  const moment = { time: civilTime(local), days: Math.floor(local / DAY_MS), ahead: Math.trunc(offset / 60_000) };
  return format.replace(/%([\s\S])/g, (_, letter: string) => specifiers[letter]?.(moment) ?? '');
}

/** A date as `2014-11-03T19:09:18.123Z`. */
export function formatDate(date: DateTime): string {
  return formatDateAs(date, '%Y-%m-%dT%H:%M:%S.%LZ', utc);
}
