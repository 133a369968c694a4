// Sets of code points as regular expressions name them: ranges, Unicode properties, the classes of escapes and of POSIX. A set knows its
// members, and how RE2 would write it where RE2 can. Follows the page pcre2pattern(3), sections "Generic character types", "Square
// brackets and character classes" and "Posix character classes".

/** The highest code point. */
const LAST = 0x10ffff;

/** A Unicode property, or its complement. */
interface Property {
  readonly name: string;
  readonly negated: boolean;
  readonly test: RegExp;
}

/** A set of code points. */
export interface CharSet {
  /** First and last code point of each range, one after the other, ascending. */
  readonly ranges: readonly number[];
  readonly properties: readonly Property[];
  /** Sets that are in it as wholes, because they are complements of more than ranges. */
  readonly others: readonly CharSet[];
  /** True if the set is what all of the above leave out. */
  readonly negated: boolean;
}

/** The set of these ranges: first, last, first, last, ... in any order. */
export function rangeSet(...ranges: readonly number[]): CharSet {
  return { ranges: normalize(ranges), properties: [], others: [], negated: false };
}

function normalize(ranges: readonly number[]): number[] {
  const pairs: [number, number][] = [];
  for (let i = 0; i + 1 < ranges.length; i += 2) pairs.push([ranges[i] ?? 0, ranges[i + 1] ?? 0]);
  pairs.sort((a, b) => a[0] - b[0]);
  const joined: number[] = [];
  for (const [first, last] of pairs) {
    const end = joined.at(-1);
    if (end !== undefined && first <= end + 1) joined[joined.length - 1] = Math.max(end, last);
    else joined.push(first, last);
  }
  return joined;
}

function complementRanges(ranges: readonly number[]): number[] {
  const result: number[] = [];
  let next = 0;
  for (let i = 0; i + 1 < ranges.length; i += 2) {
    const first = ranges[i] ?? 0;
    if (first > next) result.push(next, first - 1);
    next = (ranges[i + 1] ?? 0) + 1;
  }
  if (next <= LAST) result.push(next, LAST);
  return result;
}

/** What a set leaves out. */
export function complement(set: CharSet): CharSet {
  if (set.properties.length === 0 && set.others.length === 0) {
    return { ...set, ranges: set.negated ? set.ranges : complementRanges(set.ranges), negated: false };
  }
  const [only] = set.properties;
  if (only !== undefined && set.properties.length === 1 && set.ranges.length === 0 && set.others.length === 0) {
    return { ...set, properties: [{ ...only, negated: !only.negated }] };
  }
  return { ...set, negated: !set.negated };
}

/** Everything that is in one of the sets. */
export function union(sets: readonly CharSet[]): CharSet {
  const plain = sets.filter((set) => !set.negated);
  return {
    ranges: normalize(plain.flatMap((set) => set.ranges)),
    properties: plain.flatMap((set) => set.properties),
    others: [...plain.flatMap((set) => set.others), ...sets.filter((set) => set.negated)],
    negated: false,
  };
}

function inRanges(ranges: readonly number[], point: number): boolean {
  let low = 0;
  let high = ranges.length / 2;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (point < (ranges[middle * 2] ?? 0)) high = middle;
    else if (point > (ranges[middle * 2 + 1] ?? 0)) low = middle + 1;
    else return true;
  }
  return false;
}

/** Whether the code point is in the set. */
export function has(set: CharSet, point: number): boolean {
  const found =
    inRanges(set.ranges, point) ||
    set.properties.some((property) => property.test.test(String.fromCodePoint(point)) !== property.negated) ||
    set.others.some((other) => has(other, point));
  return found !== set.negated;
}

/** The code points that differ from this one by case only, itself among them. */
export function caseVariants(point: number): number[] {
  const text = String.fromCodePoint(point);
  const upper = single(text.toUpperCase()) ?? point;
  const lower = single(text.toLowerCase()) ?? point;
  const lowerOfUpper = single(String.fromCodePoint(upper).toLowerCase()) ?? point;
  const variants = new Set([point, upper, lower, lowerOfUpper]);
  for (const group of odd) if (group.includes(point)) for (const each of group) variants.add(each);
  return [...variants];
}

// Code points that fold together though no case mapping joins them: the Kelvin and Angstrom signs, the long s, the final sigma.
const odd: readonly (readonly number[])[] = [
  [0x4b, 0x6b, 0x212a],
  [0xc5, 0xe5, 0x212b],
  [0x53, 0x73, 0x17f],
  [0x3a3, 0x3c3, 0x3c2],
];

function single(text: string): number | undefined {
  const point = text.codePointAt(0) ?? 0;
  return text.length === (point > 0xffff ? 2 : 1) ? point : undefined;
}

/** The set as RE2 writes it between brackets, or undefined where RE2 cannot. */
export function re2Class(set: CharSet): string | undefined {
  if (set.others.length > 0) return undefined;
  let text = set.negated ? '[^' : '[';
  for (let i = 0; i + 1 < set.ranges.length; i += 2) {
    const first = set.ranges[i] ?? 0;
    const last = set.ranges[i + 1] ?? 0;
    text += first === last ? escapePoint(first) : `${escapePoint(first)}-${escapePoint(last)}`;
  }
  for (const property of set.properties) text += `\\${property.negated ? 'P' : 'p'}{${property.name}}`;
  if (set.ranges.length === 0 && set.properties.length === 0) return set.negated ? '(?s:.)' : '[^\\x{0}-\\x{10ffff}]';
  return `${text}]`;
}

/** A code point as RE2 reads it anywhere. */
export function escapePoint(point: number): string {
  return `\\x{${point.toString(16)}}`;
}

const binaryProperties: ReadonlyMap<string, string> = new Map([
  ['Any', 'Any'],
  ['L&', 'LC'],
  ['Alphabetic', 'Alphabetic'],
]);

/** The set of a Unicode property by the name that a pattern gives it; undefined if there is none. */
export function propertySet(given: string, negated: boolean): CharSet | undefined {
  const inverted = given.startsWith('^');
  const name = (inverted ? given.slice(1) : given).replace(/[\s_-]/g, '');
  if (name === 'Xan') return signed(union([unicodeProperty('L'), unicodeProperty('N')]), negated !== inverted);
  if (name === 'Xwd') return signed(wordSet(true), negated !== inverted);
  if (name === 'Xsp' || name === 'Xps') return signed(spaceSet(true), negated !== inverted);
  const known = binaryProperties.get(name);
  for (const candidate of [known ?? name, `Script=${name}`, `Script=${given}`]) {
    const test = propertyTest(candidate);
    if (test === undefined) continue;
    return { ranges: [], properties: [{ name: known ?? given, negated: negated !== inverted, test }], others: [], negated: false };
  }
  return undefined;
}

function signed(set: CharSet, negated: boolean): CharSet {
  return negated ? complement(set) : set;
}

function propertyTest(name: string): RegExp | undefined {
  if (!/^[A-Za-z_=0-9]+$/.test(name)) return undefined;
  try {
    return new RegExp(`\\p{${name}}`, 'u');
  } catch {
    return undefined;
  }
}

function unicodeProperty(name: string): CharSet {
  return { ranges: [], properties: [{ name, negated: false, test: new RegExp(`\\p{${name}}`, 'u') }], others: [], negated: false };
}

/** `\d`. */
export function digitSet(unicode: boolean): CharSet {
  return unicode ? unicodeProperty('Nd') : rangeSet(0x30, 0x39);
}

/** `\w`. */
export function wordSet(unicode: boolean): CharSet {
  const ascii = rangeSet(0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a);
  return unicode ? union([ascii, ...['L', 'N', 'Mn', 'Pc'].map(unicodeProperty)]) : ascii;
}

/** `\s`. */
export function spaceSet(unicode: boolean): CharSet {
  const ascii = rangeSet(0x09, 0x0d, 0x20, 0x20);
  return unicode ? union([ascii, rangeSet(0x85, 0x85), unicodeProperty('Z')]) : ascii;
}

/** `\h`. */
export const horizontalSpace: CharSet = rangeSet(
  ...[0x09, 0x09, 0x20, 0x20, 0xa0, 0xa0, 0x1680, 0x1680, 0x180e, 0x180e, 0x2000, 0x200a, 0x202f, 0x202f, 0x205f, 0x205f, 0x3000, 0x3000],
);
/** `\v`. */
export const verticalSpace: CharSet = rangeSet(0x0a, 0x0d, 0x85, 0x85, 0x2028, 0x2029);
/** `.` without dotall, and `\N`. */
export const notNewline: CharSet = complement(rangeSet(0x0a, 0x0a));
/** `.` with dotall. */
export const anything: CharSet = rangeSet(0, LAST);

const posixRanges: Readonly<Record<string, readonly number[]>> = {
  alpha: [0x41, 0x5a, 0x61, 0x7a],
  lower: [0x61, 0x7a],
  upper: [0x41, 0x5a],
  alnum: [0x30, 0x39, 0x41, 0x5a, 0x61, 0x7a],
  ascii: [0, 0x7f],
  blank: [0x09, 0x09, 0x20, 0x20],
  cntrl: [0, 0x1f, 0x7f, 0x7f],
  digit: [0x30, 0x39],
  graph: [0x21, 0x7e],
  print: [0x20, 0x7e],
  punct: [0x21, 0x2f, 0x3a, 0x40, 0x5b, 0x60, 0x7b, 0x7e],
  space: [0x09, 0x0d, 0x20, 0x20],
  word: [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a],
  xdigit: [0x30, 0x39, 0x41, 0x46, 0x61, 0x66],
};

const posixUnicode: Readonly<Record<string, () => CharSet>> = {
  alpha: () => unicodeProperty('L'),
  lower: () => unicodeProperty('Ll'),
  upper: () => unicodeProperty('Lu'),
  alnum: () => union([unicodeProperty('L'), unicodeProperty('N')]),
  digit: () => digitSet(true),
  space: () => spaceSet(true),
  word: () => wordSet(true),
};

/** The set of `[:name:]`; undefined if there is none. */
export function posixSet(name: string, unicode: boolean): CharSet | undefined {
  if (unicode && Object.hasOwn(posixUnicode, name)) return posixUnicode[name]?.();
  const ranges = Object.hasOwn(posixRanges, name) ? posixRanges[name] : undefined;
  return ranges === undefined ? undefined : rangeSet(...ranges);
}
