// Time zones: fixed offsets (`+05:30`, `UTC`) and names of the IANA database as the host's Intl has it. Offsets of a zone are asked of
// Intl once an hour of a zone's time and kept. Follows the manual's section "Timezone" of the date operators.

import { refuse } from '../refuse.ts';
import { DAY_MS } from './civil.ts';

/** A zone: how far its clocks are from UTC at a time. */
export interface TimeZone {
  readonly name: string;
  /** Milliseconds to add to UTC for local time. */
  offsetAt(ms: number): number;
}

/** Greenwich. */
export const utc: TimeZone = { name: 'UTC', offsetAt: () => 0 };

const OFFSET = /^([+-])(\d\d)(?::?(\d\d))?$/;
const HOUR_MS = 3_600_000;
const KEPT_MAX = 4096;

function fixedZone(name: string, offset: number): TimeZone {
  return { name, offsetAt: () => offset };
}

/** JavaScript's dates end at these times; zones beyond are taken as they are there. */
const DATE_MAX_MS = 8.64e15 - DAY_MS;

class NamedZone implements TimeZone {
  readonly name: string;
  readonly #format: Intl.DateTimeFormat;
  readonly #kept = new Map<number, number>();

  constructor(name: string) {
    this.name = name;
    this.#format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      hourCycle: 'h23',
      era: 'short',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  }

  offsetAt(ms: number): number {
    const within = Math.min(Math.max(ms, -DATE_MAX_MS), DATE_MAX_MS);
    // No zone changes within a quarter of an hour of UTC.
    const slot = Math.floor(within / (HOUR_MS / 4));
    let offset = this.#kept.get(slot);
    if (offset === undefined) {
      offset = this.#ask(slot * (HOUR_MS / 4));
      if (this.#kept.size >= KEPT_MAX) this.#kept.clear();
      this.#kept.set(slot, offset);
    }
    return offset;
  }

  #ask(ms: number): number {
    const parts = new Map(this.#format.formatToParts(ms).map(({ type, value }) => [type, value]));
    const part = (type: Intl.DateTimeFormatPartTypes): number => Number(parts.get(type));
    const year = parts.get('era') === 'BC' ? 1 - part('year') : part('year');
    const local = new Date(0);
    local.setUTCFullYear(year, part('month') - 1, part('day'));
    local.setUTCHours(part('hour'), part('minute'), part('second'));
    return local.getTime() - Math.floor(ms / 1000) * 1000;
  }
}

const zones = new Map<string, TimeZone>([
  ['UTC', utc],
  ['GMT', utc],
]);

/** Names that are not written as words; Intl would take any case, MongoDB does not. */
const CAPITALS: ReadonlySet<string> = new Set('CET CST6CDT EET EST EST5EDT GB HST MET MST MST7MDT NZ PRC PST8PDT ROC ROK UCT WET'.split(' '));
const WORDS = /^(?:US|Etc|[A-Z][a-z])[A-Za-z_-]*(?:\/[A-Z][A-Za-z0-9_+-]*)*$/;

function isZoneName(name: string): boolean {
  if (CAPITALS.has(name) || name === 'Etc/UTC' || name === 'Etc/GMT' || name === 'Etc/UCT') return true;
  return WORDS.test(name) && !/\/[A-Z]{3,}/.test(name.replace('Etc/GMT', ''));
}

function namedZone(name: string): TimeZone {
  try {
    return new NamedZone(name);
  } catch (error) {
    throw refuse(40485, `unrecognized time zone identifier: "${name}"`, error);
  }
}

function makeZone(name: string): TimeZone {
  const offset = OFFSET.exec(name);
  if (offset !== null) {
    const [, sign, hours = '0', minutes = '0'] = offset;
    return fixedZone(name, (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000);
  }
  if (!isZoneName(name)) throw refuse(40485, `unrecognized time zone identifier: "${name}"`);
  return namedZone(name);
}

/** The zone of a name or offset; refuses what is neither. */
export function zoneOf(name: string): TimeZone {
  let zone = zones.get(name);
  if (zone === undefined) {
    zone = makeZone(name);
    if (zones.size < KEPT_MAX) zones.set(name, zone);
  }
  return zone;
}

/** UTC of a local time. A time that clocks skip is taken as if they had not yet been put forward; of two, the first. */
export function utcOf(localMs: number, zone: TimeZone): number {
  const before = zone.offsetAt(localMs - DAY_MS);
  const first = localMs - before;
  if (zone.offsetAt(first) === before) return first;
  const after = zone.offsetAt(localMs + DAY_MS);
  const second = localMs - after;
  return zone.offsetAt(second) === after ? second : first;
}
