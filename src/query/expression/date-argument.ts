// The arguments that date operators share: what counts as a date, and the zone.

import { DateTime, ObjectId, Timestamp } from '../../bson/index.ts';
import { refuse } from '../refuse.ts';
import { describeMaybe, isNullish, nameOf } from './define.ts';
import type { Maybe, NamedValues } from './define.ts';
import { utc, zoneOf } from './time-zone.ts';
import type { TimeZone } from './time-zone.ts';

/** Milliseconds of what counts as a date: dates, timestamps and the time in an ObjectId; undefined for anything else. */
export function dateMilliseconds(value: Maybe): number | undefined {
  if (value instanceof DateTime) return value.ms;
  if (value instanceof Timestamp) return value.seconds * 1000;
  // The seconds of an ObjectId are a signed number.
  return value instanceof ObjectId ? (value.seconds | 0) * 1000 : undefined;
}

/** Milliseconds of a date; refuses what is none. */
export function coerceToDate(value: Maybe, code = 16006): number {
  const ms = dateMilliseconds(value);
  if (ms === undefined) throw refuse(code, `can't convert from BSON type ${nameOf(value)} to Date`);
  return ms;
}

/** The zone of a `timezone` argument: UTC if it was not written, undefined if it is null. */
export function zoneArgument(values: NamedValues): TimeZone | undefined {
  if (!values.given('timezone')) return utc;
  const value = values.get('timezone');
  if (isNullish(value)) return undefined;
  if (typeof value === 'string') return zoneOf(value);
  throw refuse(40517, `timezone must evaluate to a string, found ${nameOf(value)}`);
}

const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];

/** 1 (Monday) to 7 for the name of a day of the week, whole or its first three letters. */
export function weekdayArgument(value: Maybe, name: string): number {
  if (typeof value !== 'string') {
    throw refuse(5439015, `${name} requires 'startOfWeek' to be a string, but got ${nameOf(value)}`);
  }
  const text = value.toLowerCase();
  const at = WEEKDAYS.findIndex((day) => day === text || day.slice(0, 3) === text);
  if (at < 0) throw refuse(5439016, `${name} parameter 'startOfWeek' value cannot be recognized as a day of a week: ${describeMaybe(value)}`);
  return at + 1;
}
