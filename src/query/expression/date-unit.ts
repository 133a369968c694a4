// Arithmetic in calendar units: adding, counting what lies between, and the beginning of the unit a date is in. Units of a day and more
// are counted in local time, so a day is a day when clocks change; an hour and less are spans of time.
// Follows the manual's pages "$dateAdd", "$dateDiff" and "$dateTrunc".

import { DateTime } from '../../bson/index.ts';
import { civilTime, DAY_MS, daysOf, daysOfMonth, isoWeekday, millisecondsOf } from './civil.ts';
import { utc, utcOf } from './time-zone.ts';
import type { TimeZone } from './time-zone.ts';

/** The units, from the longest. */
export type DateUnit = 'year' | 'quarter' | 'month' | 'week' | 'day' | 'hour' | 'minute' | 'second' | 'millisecond';

/** Months in the units that are whole numbers of months. */
const MONTHS: Readonly<Partial<Record<DateUnit, number>>> = { year: 12, quarter: 3, month: 1 };

/** Milliseconds in the units that are whole numbers of them. */
const SPANS: Readonly<Partial<Record<DateUnit, number>>> = {
  week: 7 * DAY_MS,
  day: DAY_MS,
  hour: 3_600_000,
  minute: 60_000,
  second: 1000,
  millisecond: 1,
};

const UNITS: ReadonlySet<string> = new Set([...Object.keys(MONTHS), ...Object.keys(SPANS)]);

/** True for the name of a unit. */
export function isDateUnit(name: string): name is DateUnit {
  return UNITS.has(name);
}

function isCalendarUnit(unit: DateUnit): boolean {
  return MONTHS[unit] !== undefined || unit === 'week' || unit === 'day';
}

function addMonths(localMs: number, months: number): number {
  const time = civilTime(localMs);
  const count = time.year * 12 + time.month - 1 + months;
  const year = Math.floor(count / 12);
  const month = count - year * 12 + 1;
  return millisecondsOf({ ...time, year, month, day: Math.min(time.day, daysOfMonth(year, month)) });
}

/** The time `amount` units later; a day that the month has not is its last. */
export function addUnits(ms: number, unit: DateUnit, amount: number, zone: TimeZone): number {
  const months = MONTHS[unit];
  const span = SPANS[unit] ?? 1;
  if (!isCalendarUnit(unit)) return ms + amount * span;
  const local = ms + zone.offsetAt(ms);
  return utcOf(months === undefined ? local + amount * span : addMonths(local, amount * months), zone);
}

/** The date `amount` units later in UTC. */
export function addDateUnits(date: DateTime, unit: DateUnit, amount: number): DateTime {
  return new DateTime(addUnits(date.ms, unit, amount, utc));
}

/** 0 on the day a week begins with, to 6. `startOfWeek` is 1 (Monday) to 7. */
function dayOfWeek(days: number, startOfWeek: number): number {
  return (isoWeekday(days) - startOfWeek + 7) % 7;
}

/** How many beginnings of a unit lie behind `from`, up to `to`; negative where `to` is earlier. */
export function countUnits(from: number, to: number, unit: DateUnit, options: { zone: TimeZone; startOfWeek: number }): number {
  const local = (ms: number): number => ms + options.zone.offsetAt(ms);
  const ordinal = (ms: number): number => {
    const time = civilTime(local(ms));
    const days = Math.floor(local(ms) / DAY_MS);
    const months = MONTHS[unit];
    if (months !== undefined) return Math.floor((time.year * 12 + time.month - 1) / months);
    if (unit === 'week') return (days - dayOfWeek(days, options.startOfWeek)) / 7;
    return days;
  };
  if (isCalendarUnit(unit)) return ordinal(to) - ordinal(from);
  const span = SPANS[unit] ?? 1;
  // Spans are counted in local time too: a zone may be half an hour off.
  const offset = options.zone.offsetAt(from);
  return Math.floor((to + offset) / span) - Math.floor((from + offset) / span);
}

/** Bins are counted from the beginning of 2000. */
const REFERENCE_MS = daysOf(2000, 1, 1) * DAY_MS;

/** The beginning of the bin of `size` units that the time is in. */
export function truncateToUnit(
  ms: number,
  unit: DateUnit,
  options: { zone: TimeZone; size: number; startOfWeek: number },
): number {
  const { zone, size, startOfWeek } = options;
  const local = ms + zone.offsetAt(ms);
  const months = MONTHS[unit];
  if (months !== undefined) {
    const time = civilTime(local);
    const width = months * size;
    const since = (time.year - 2000) * 12 + time.month - 1;
    const start = Math.floor(since / width) * width;
    return utcOf(daysOf(2000, start + 1, 1) * DAY_MS, zone);
  }
  const width = (SPANS[unit] ?? 1) * size;
  if (!isCalendarUnit(unit)) {
    const reference = utcOf(REFERENCE_MS, zone);
    return reference + Math.floor((ms - reference) / width) * width;
  }
  const referenceDays = REFERENCE_MS / DAY_MS;
  const reference = unit === 'week' ? REFERENCE_MS + ((7 - dayOfWeek(referenceDays, startOfWeek)) % 7) * DAY_MS : REFERENCE_MS;
  return utcOf(reference + Math.floor((local - reference) / width) * width, zone);
}
