// The proleptic Gregorian calendar in arithmetic, for dates beyond what JavaScript's Date holds. All in days and milliseconds since 1970.

/** Milliseconds of a day. */
export const DAY_MS = 86_400_000;

/** A day of the calendar. Months count from 1. */
export interface CivilDay {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

/** A date and a time of day. */
export interface CivilTime extends CivilDay {
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly millisecond: number;
}

/** Days from 1970-01-01 to a day. The month may be any whole number: 13 is January of the next year, 0 December of the last. */
export function daysOf(year: number, month: number, day: number): number {
  const months = year * 12 + (month - 1);
  const realYear = Math.floor(months / 12);
  const realMonth = months - realYear * 12;
  // Years that begin in March have their leap day at the end.
  const shifted = realMonth >= 2 ? realYear : realYear - 1;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * ((realMonth + 10) % 12) + 2) / 5);
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468 + (day - 1);
}

/** The day so many days after 1970-01-01. */
function civilDay(days: number): CivilDay {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor((dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365);
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1;
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}

/** The calendar's reading of milliseconds since 1970, no zone applied. */
export function civilTime(ms: number): CivilTime {
  const days = Math.floor(ms / DAY_MS);
  const rest = ms - days * DAY_MS;
  return {
    ...civilDay(days),
    hour: Math.floor(rest / 3_600_000),
    minute: Math.floor(rest / 60_000) % 60,
    second: Math.floor(rest / 1000) % 60,
    millisecond: rest % 1000,
  };
}

/** Milliseconds since 1970 of a calendar time; parts may be any whole numbers and carry over. */
export function millisecondsOf(time: CivilTime): number {
  const ofDay = ((time.hour * 60 + time.minute) * 60 + time.second) * 1000 + time.millisecond;
  return daysOf(time.year, time.month, time.day) * DAY_MS + ofDay;
}

/** 1 (Monday) to 7 (Sunday). */
export function isoWeekday(days: number): number {
  return ((((days + 3) % 7) + 7) % 7) + 1;
}

/** 1 to 366. */
export function dayOfYear(days: number): number {
  return days - daysOf(civilDay(days).year, 1, 1) + 1;
}

/** The Monday that begins week 1 of an ISO year: the week that has January 4. */
export function isoYearStart(year: number): number {
  const fourth = daysOf(year, 1, 4);
  return fourth - (isoWeekday(fourth) - 1);
}

/** ISO year and week of a day. */
export function isoWeek(days: number): { readonly year: number; readonly week: number } {
  const { year } = civilDay(days);
  const candidates = [year + 1, year, year - 1];
  const isoYear = candidates.find((candidate) => isoYearStart(candidate) <= days) ?? year;
  return { year: isoYear, week: Math.floor((days - isoYearStart(isoYear)) / 7) + 1 };
}

/** Weeks that begin on Sunday; days before the first Sunday are in week 0. */
export function sundayWeek(days: number): number {
  return Math.floor((dayOfYear(days) - 1 + 7 - (isoWeekday(days) % 7)) / 7);
}

/** How many days a month has. */
export function daysOfMonth(year: number, month: number): number {
  return daysOf(year, month + 1, 1) - daysOf(year, month, 1);
}
