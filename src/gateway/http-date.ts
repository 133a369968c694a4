// Dates in header fields (RFC 9110, section 5.6.7): written as IMF-fixdate, read in that form and in the two obsolete ones. Whole seconds.

const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const longDays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const month = `(?<month>${months.join('|')})`;
const time = String.raw`(?<hour>\d{2}):(?<minute>\d{2}):(?<second>\d{2})`;
const forms: readonly RegExp[] = [
  new RegExp(String.raw`^(?:${days.join('|')}), (?<day>\d{2}) ${month} (?<year>\d{4}) ${time} GMT$`),
  new RegExp(String.raw`^(?:${longDays.join('|')}), (?<day>\d{2})-${month}-(?<year>\d{2}) ${time} GMT$`),
  new RegExp(String.raw`^(?:${days.join('|')}) ${month} (?<day>[ \d]\d) ${time} (?<year>\d{4})$`),
];

/** Milliseconds since 1970, cut to seconds, as a header field has them. */
export function formatHttpDate(ms: number): string {
  return new Date(Math.floor(ms / 1000) * 1000).toUTCString();
}

/** Milliseconds since 1970; undefined if `text` is no date. `nowMs` decides the century of a year of two digits. */
export function parseHttpDate(text: string, nowMs: number): number | undefined {
  for (const form of forms) {
    const groups = form.exec(text)?.groups;
    if (groups !== undefined) return dateOf(groups, nowMs);
  }
  return undefined;
}

function dateOf(groups: Readonly<Record<string, string | undefined>>, nowMs: number): number | undefined {
  const number = (name: string): number => Number(groups[name]);
  const year = fullYear(groups['year'] ?? '', nowMs);
  const monthIndex = months.indexOf(groups['month'] ?? '');
  const [day, hour, minute, second] = [number('day'), number('hour'), number('minute'), number('second')];
  // A leap second is written as 60 and is the second after.
  if (hour > 23 || minute > 59 || second > 60) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, monthIndex, day);
  if (date.getUTCMonth() !== monthIndex || date.getUTCDate() !== day) return undefined;
  date.setUTCHours(hour, minute, second);
  return date.getTime();
}

/** A year of two digits that seems more than 50 years ahead is the last one that ended so. */
function fullYear(digits: string, nowMs: number): number {
  if (digits.length === 4) return Number(digits);
  const thisYear = new Date(nowMs).getUTCFullYear();
  const year = thisYear - (thisYear % 100) + Number(digits);
  return year > thisYear + 50 ? year - 100 : year;
}
