// Text as dates: the free forms that `$toDate` and `$dateFromString` read (ISO 8601 and what is usual beside it), and text by a format.
// Gives local parts and what zone the text names; a text that leaves the day open is no date.
// Follows the manual's page "$dateFromString (aggregation)".

import { daysOf, DAY_MS, daysOfMonth, isoYearStart } from './civil.ts';
import { utcOf, zoneOf } from './time-zone.ts';
import type { TimeZone } from './time-zone.ts';

/** What a text says; parts that it does not say are left out. */
export interface ParsedDate {
  year?: number;
  month?: number;
  day?: number;
  dayOfYear?: number;
  isoYear?: number;
  isoWeek?: number;
  isoDay?: number;
  hour?: number;
  minute?: number;
  second?: number;
  millisecond?: number;
  afternoon?: boolean;
  zone?: TimeZone;
}

const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const MONTH = '(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)';

/** The month of a name, 1 to 12. */
export function monthOfName(name: string): number | undefined {
  const at = MONTHS.indexOf(name.slice(0, 3).toLowerCase());
  return at < 0 ? undefined : at + 1;
}

type Reader = (found: RegExpExecArray, date: ParsedDate) => void;

function numbers(...fields: (keyof ParsedDate)[]): Reader {
  return (found, date) => {
    fields.forEach((field, index) => {
      const text = found[index + 1];
      if (text !== undefined) Object.assign(date, { [field]: Number(text) });
    });
  };
}

function readFraction(text: string | undefined): number {
  return text === undefined ? 0 : Math.floor(Number(`0.${text}`) * 1000);
}

const readTime: Reader = (found, date) => {
  numbers('hour', 'minute', 'second')(found, date);
  date.millisecond = readFraction(found[4]);
  const half = found[5]?.toLowerCase();
  if (half !== undefined) date.afternoon = half.startsWith('p');
};

const readZone: Reader = (found, date) => {
  const [text] = found;
  const offset = /[+-].*$/.exec(text)?.[0];
  const digits = offset?.replace(':', '') ?? '';
  if (offset === undefined) date.zone = zoneOf('UTC');
  else date.zone = zoneOf(digits.length === 2 ? `${digits.slice(0, 1)}0${digits.slice(1)}` : digits);
};

/** The pieces a text is made of, in the order they are tried. */
const PIECES: readonly (readonly [RegExp, Reader])[] = [
  [/^(\d{4})-?W(\d\d)(?:-?([1-7]))?(?!\d)/, numbers('isoYear', 'isoWeek', 'isoDay')],
  [/^([+-]?\d{4})-(\d{1,2})-(\d{1,2})(?!\d)/, numbers('year', 'month', 'day')],
  [/^(\d{4})\/(\d{1,2})\/(\d{1,2})(?!\d)/, numbers('year', 'month', 'day')],
  [/^(\d{1,2})\/(\d{1,2})\/(\d{4})(?!\d)/, numbers('month', 'day', 'year')],
  [/^(\d{1,2})[.-](\d{1,2})[.-](\d{4})(?!\d)/, numbers('day', 'month', 'year')],
  [/^(\d{4})(\d\d)(\d\d)(?!\d)/, numbers('year', 'month', 'day')],
  [/^(\d{4})[-.]?(\d{3})(?!\d)/, numbers('year', 'dayOfYear')],
  [new RegExp(`^(\\d{1,2})(?:st|nd|rd|th)?[ .-]*(${MONTH})[ .,-]*(\\d{4})(?!\\d)`, 'i'), readNamed(1, 2, 3)],
  [new RegExp(`^(${MONTH})[ .-]*(\\d{1,2})(?:st|nd|rd|th)?[ .,-]+(\\d{4})(?![\\d:])`, 'i'), readNamed(2, 1, 3)],
  [new RegExp(`^(\\d{4})-(${MONTH})-(\\d{1,2})(?!\\d)`, 'i'), readNamed(3, 2, 1)],
  [new RegExp(`^(${MONTH})[ .-]*(\\d{1,2})(?:st|nd|rd|th)?(?![\\d:])`, 'i'), readNamed(2, 1, 0)],
  [/^[tT]?(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,:](\d+))?)?(?:\s*([ap])\.?m\.?)?(?![\d:])/i, readTime],
  [/^[tT](\d\d)(\d\d)(?:(\d\d)(?:[.,](\d+))?)?(?!\d)/, readTime],
  [/^(?:(?:GMT|UTC)?[+-]\d\d?(?::?\d\d)?|GMT|UTC|Z)(?![A-Za-z\d:])/, readZone],
];

function readNamed(day: number, month: number, year: number): Reader {
  return (found, date) => {
    date.day = Number(found[day]);
    date.month = monthOfName(found[month] ?? '') ?? 0;
    if (year > 0) date.year = Number(found[year]);
  };
}

/** Space as dates have it around and between their parts; of the spaces of Unicode only the one that does not break. */
const IGNORED = /^(?:[\t\n\v\f\r \u00a0]+|,|(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\b\.?)/i;

/** What a text in a free form says; a message of what is wrong with it otherwise. */
export function parseDateText(text: string): ParsedDate | string {
  const date: ParsedDate = {};
  let rest = text.replace(/^\0+|\0+$/g, '');
  while (rest !== '') {
    const ignored = IGNORED.exec(rest)?.[0];
    if (ignored !== undefined) {
      rest = rest.slice(ignored.length);
      continue;
    }
    const length = readPiece(rest, date);
    if (length === undefined) return `Error parsing date string '${text}'; ${text.length - rest.length}: Unexpected character '${rest.slice(0, 1)}'`;
    rest = rest.slice(length);
  }
  return date;
}

function readPiece(text: string, date: ParsedDate): number | undefined {
  for (const [pattern, read] of PIECES) {
    const found = pattern.exec(text);
    if (found === null) continue;
    const piece: ParsedDate = {};
    read(found, piece);
    // Nothing may be said twice.
    if (Object.keys(piece).some((field) => Object.hasOwn(date, field))) continue;
    Object.assign(date, piece);
    return found[0].length;
  }
  return readYear(text, date);
}

/** A year by itself, where the day is known already: four digits alone are a time of day otherwise. */
function readYear(text: string, date: ParsedDate): number | undefined {
  const year = date.month !== undefined && date.year === undefined ? /^\d{4}(?![\d:])/.exec(text)?.[0] : undefined;
  if (year !== undefined) date.year = Number(year);
  return year?.length;
}

function within(value: number | undefined, min: number, max: number): boolean {
  return value === undefined || (value >= min && value <= max);
}

function dayOf(date: ParsedDate): number | undefined {
  const { year, month, day, dayOfYear, isoYear, isoWeek, isoDay } = date;
  if (isoYear !== undefined) {
    if (isoWeek === undefined || !within(isoWeek, 1, 53) || !within(isoDay, 1, 7)) return undefined;
    return isoYearStart(isoYear) + (isoWeek - 1) * 7 + (isoDay ?? 1) - 1;
  }
  if (year === undefined) return undefined;
  if (dayOfYear !== undefined) return within(dayOfYear, 1, 366) ? daysOf(year, 1, 1) + dayOfYear - 1 : undefined;
  if (month === undefined || day === undefined || !within(month, 1, 12)) return undefined;
  return within(day, 1, daysOfMonth(year, month)) ? daysOf(year, month, day) : undefined;
}

function hourOf(date: ParsedDate): number {
  const hour = date.hour ?? 0;
  if (date.afternoon === undefined) return hour;
  return (hour % 12) + (date.afternoon ? 12 : 0);
}

/** Milliseconds since 1970 of what a text says, in its own zone or the given one; undefined if it is not a whole date. */
export function millisecondsOfParsed(date: ParsedDate, zone: TimeZone): number | undefined {
  const days = dayOf(date);
  if (days === undefined || !within(date.minute, 0, 59) || !within(date.second, 0, 59)) return undefined;
  if (!within(date.hour, 0, date.afternoon === undefined ? 24 : 12)) return undefined;
  const clock = ((hourOf(date) * 60 + (date.minute ?? 0)) * 60 + (date.second ?? 0)) * 1000 + (date.millisecond ?? 0);
  return clock > DAY_MS ? undefined : utcOf(days * DAY_MS + clock, date.zone ?? zone);
}
