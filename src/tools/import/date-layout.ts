// Dates in a stated layout, the three ways mongoimport knows: Go's reference time (Mon Jan 2 15:04:05 MST 2006), Microsoft's and Oracle's
// format letters. A layout becomes one regular expression; text without a zone is UTC.

type Part = 'year' | 'year2' | 'month' | 'monthName' | 'day' | 'hour' | 'hour12' | 'minute' | 'second' | 'fraction' | 'meridiem' | 'zone' | 'weekday';

const patterns: Readonly<Record<Part, string>> = {
  year: String.raw`(\d{4})`,
  year2: String.raw`(\d{2})`,
  month: String.raw`(\d{1,2})`,
  monthName: '([A-Za-z]{3,9})',
  day: String.raw`(\d{1,2})`,
  hour: String.raw`(\d{1,2})`,
  hour12: String.raw`(\d{1,2})`,
  minute: String.raw`(\d{1,2})`,
  second: String.raw`(\d{1,2})`,
  fraction: String.raw`(\d{1,9})`,
  meridiem: '([AaPp][Mm])',
  zone: String.raw`(Z|UTC|GMT|[-+]\d{2}:?\d{2})`,
  weekday: '([A-Za-z]{3,9})',
};

type Tokens = readonly (readonly [string, Part])[];

/** Longest first, so that 2006 is not taken for 2. */
const goTokens: Tokens = [
  ['January', 'monthName'], ['Monday', 'weekday'], ['Z07:00', 'zone'], ['-07:00', 'zone'], ['Z0700', 'zone'], ['-0700', 'zone'], ['2006', 'year'],
  ['.000000000', 'fraction'], ['.000000', 'fraction'], ['.000', 'fraction'], ['MST', 'zone'], ['Jan', 'monthName'], ['Mon', 'weekday'], ['15', 'hour'],
  ['03', 'hour12'], ['04', 'minute'], ['05', 'second'], ['01', 'month'], ['02', 'day'], ['06', 'year2'], ['PM', 'meridiem'], ['pm', 'meridiem'],
  ['_2', 'day'], ['1', 'month'], ['2', 'day'], ['3', 'hour12'], ['4', 'minute'], ['5', 'second'],
];

const msTokens: Tokens = [
  ['yyyy', 'year'], ['MMMM', 'monthName'], ['MMM', 'monthName'], ['dddd', 'weekday'], ['ddd', 'weekday'], ['zzz', 'zone'], ['fff', 'fraction'], ['yy', 'year2'],
  ['MM', 'month'], ['dd', 'day'], ['HH', 'hour'], ['hh', 'hour12'], ['mm', 'minute'], ['ss', 'second'], ['tt', 'meridiem'], ['K', 'zone'], ['M', 'month'], ['d', 'day'],
  ['H', 'hour'], ['h', 'hour12'], ['m', 'minute'], ['s', 'second'],
];

const oracleTokens: Tokens = [
  ['HH24', 'hour'], ['HH12', 'hour12'], ['YYYY', 'year'], ['MONTH', 'monthName'], ['TZH:TZM', 'zone'], ['MON', 'monthName'], ['DAY', 'weekday'], ['FF', 'fraction'],
  ['DD', 'day'], ['MM', 'month'], ['HH', 'hour12'], ['MI', 'minute'], ['SS', 'second'], ['AM', 'meridiem'], ['PM', 'meridiem'], ['RR', 'year2'], ['YY', 'year2'],
];

interface Layout {
  readonly expression: RegExp;
  readonly parts: readonly Part[];
}

const known = new Map<string, Layout>();

function layoutOf(layout: string, tokens: Tokens, dialect: string): Layout {
  const key = `${dialect} ${layout}`;
  let made = known.get(key);
  if (made === undefined) {
    made = compile(layout, tokens);
    known.set(key, made);
  }
  return made;
}

function compile(layout: string, tokens: Tokens): Layout {
  let expression = '';
  const parts: Part[] = [];
  for (let at = 0; at < layout.length; ) {
    const token = tokens.find(([text]) => layout.startsWith(text, at));
    if (token === undefined) {
      expression += (layout[at] ?? '').replace(/[\\^$.*+?()[\]{}|/]/, String.raw`\$&`);
      at += 1;
      continue;
    }
    const [text, part] = token;
    if (text.startsWith('.')) expression += String.raw`\.`;
    expression += patterns[part];
    parts.push(part);
    at += text.length;
  }
  return { expression: new RegExp(`^${expression}$`), parts };
}

const monthNames = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

function parse(text: string, { expression, parts }: Layout): number | undefined {
  const match = expression.exec(text);
  if (match === null) return undefined;
  const found = new Map(parts.map((part, index) => [part, match[index + 1] ?? '']));
  const number = (part: Part, otherwise: number): number => (found.has(part) ? Number(found.get(part)) : otherwise);
  const name = found.get('monthName')?.slice(0, 3).toLowerCase();
  const month = name === undefined ? number('month', 1) : monthNames.indexOf(name) + 1;
  const year = found.has('year2') ? 2000 + number('year2', 0) - (number('year2', 0) >= 69 ? 100 : 0) : number('year', 1970);
  const hour = hourOf(number('hour', -1), number('hour12', 0), found.get('meridiem'));
  const fields = { month, day: number('day', 1), hour, minute: number('minute', 0), second: number('second', 0) };
  if (!isPossible(fields, year)) return undefined;
  const fraction = Math.floor(Number(`0.${found.get('fraction') ?? '0'}`) * 1000);
  const date = new Date(0);
  date.setUTCFullYear(year, fields.month - 1, fields.day);
  date.setUTCHours(fields.hour, fields.minute, fields.second, fraction);
  return date.getTime() - zoneMs(found.get('zone'));
}

function hourOf(hour: number, hour12: number, meridiem: string | undefined): number {
  if (hour >= 0) return hour;
  return (hour12 % 12) + (meridiem?.toLowerCase() === 'pm' ? 12 : meridiem === undefined && hour12 === 12 ? 12 : 0);
}

interface Fields {
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

function isPossible({ month, day, hour, minute, second }: Fields, year: number): boolean {
  if (month < 1 || month > 12 || hour > 23 || minute > 59 || second > 59 || day < 1) return false;
  const date = new Date(0);
  date.setUTCFullYear(year, month, 0);
  return day <= date.getUTCDate();
}

function zoneMs(zone: string | undefined): number {
  const match = /^([-+])(\d{2}):?(\d{2})$/.exec(zone ?? '');
  if (match === null) return 0;
  const minutes = Number(match[2]) * 60 + Number(match[3]);
  return (match[1] === '-' ? -minutes : minutes) * 60_000;
}

/** Milliseconds since 1970 of `text` in a layout of Go's reference time; undefined when it is not in it. */
export function parseGoDate(text: string, layout: string): number | undefined {
  return parse(text, layoutOf(layout, goTokens, 'go'));
}

/** The same in Microsoft's letters, as yyyy-MM-dd HH:mm:ss. */
export function parseMsDate(text: string, layout: string): number | undefined {
  return parse(text, layoutOf(layout, msTokens, 'ms'));
}

/** The same in Oracle's letters, as YYYY-MM-DD HH24:MI:SS. */
export function parseOracleDate(text: string, layout: string): number | undefined {
  return parse(text, layoutOf(layout.toUpperCase(), oracleTokens, 'oracle'));
}
