// The Range header of RFC 9110, section 14: which bytes of a representation are asked for. What does not follow the grammar is ignored as the RFC
// wants (the whole is sent); a set that asks for too much work is answered with the whole as well (CVE-2011-3192). Positions are strings of
// digits of any length: they are clamped before they become numbers.

/** Bytes `first` to `last`, both inside, of a representation that has them. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** `whole`: the header does not apply. `none`: nothing of what was asked for exists (416). */
export type RangeAnswer = { readonly kind: 'whole' } | { readonly kind: 'none' } | { readonly kind: 'ranges'; readonly ranges: readonly ByteRange[] };

/** Ranges beyond this in one request are answered with the whole. */
export const rangesMax = 50;
const overlapsMax = 1;

const whole: RangeAnswer = { kind: 'whole' };

/** What `header` asks for of `length` bytes: the satisfiable ranges in the order asked, clamped to the end. */
export function readRange(header: string | undefined, length: number): RangeAnswer {
  if (header === undefined || length === 0) return whole;
  const specs = parseSpecs(header);
  if (specs === undefined || specs.length > rangesMax) return whole;
  const ranges = specs.map((spec) => resolve(spec, length)).filter((range) => range !== undefined);
  if (ranges.length === 0) return { kind: 'none' };
  if (ranges.length > 1 && asksTooMuch(ranges, length)) return whole;
  return { kind: 'ranges', ranges };
}

/** `first` undefined: the last `last` bytes. `last` undefined: up to the end. */
interface RangeSpec {
  readonly first: number | undefined;
  readonly last: number | undefined;
}

/** The specs of a well-formed header in bytes; undefined for any other. */
function parseSpecs(header: string): readonly RangeSpec[] | undefined {
  const match = /^bytes=(.*)$/is.exec(header);
  if (match === null) return undefined;
  const specs: RangeSpec[] = [];
  for (const element of (match[1] as string).split(',')) {
    const text = element.replace(/^[ \t]+|[ \t]+$/g, '');
    // A list may have empty elements (RFC 9110, 5.6.1.2).
    if (text === '') continue;
    const spec = parseSpec(text);
    if (spec === undefined) return undefined;
    specs.push(spec);
  }
  return specs.length === 0 ? undefined : specs;
}

function parseSpec(text: string): RangeSpec | undefined {
  const match = /^(\d*)-(\d*)$/.exec(text);
  if (match === null) return undefined;
  const [, first = '', last = ''] = match;
  if (first === '' && last === '') return undefined;
  if (first !== '' && last !== '' && compareDigits(first, last) > 0) return undefined;
  return { first: first === '' ? undefined : clamp(first), last: last === '' ? undefined : clamp(last) };
}

const withoutZeros = (digits: string): string => digits.replace(/^0+(?=\d)/, '');

function compareDigits(a: string, b: string): number {
  const [x, y] = [withoutZeros(a), withoutZeros(b)];
  if (x.length !== y.length) return x.length - y.length;
  if (x === y) return 0;
  return x < y ? -1 : 1;
}

/** The number, or the largest exact one, which is beyond the end of every file. */
function clamp(digits: string): number {
  return Math.min(Number(digits), Number.MAX_SAFE_INTEGER);
}

function resolve({ first, last }: RangeSpec, length: number): ByteRange | undefined {
  if (first === undefined) {
    const count = Math.min(last ?? 0, length);
    return count === 0 ? undefined : { first: length - count, last: length - 1 };
  }
  return first >= length ? undefined : { first, last: Math.min(last ?? length - 1, length - 1) };
}

function asksTooMuch(ranges: readonly ByteRange[], length: number): boolean {
  const sum = ranges.reduce((total, { first, last }) => total + last - first + 1, 0);
  return sum > length || countOverlaps(ranges) > overlapsMax;
}

/** Ranges that begin inside one before them, in order of position. */
function countOverlaps(ranges: readonly ByteRange[]): number {
  const sorted = [...ranges].sort((a, b) => a.first - b.first);
  let overlaps = 0;
  let end = -1;
  for (const { first, last } of sorted) {
    if (first <= end) overlaps += 1;
    end = Math.max(end, last);
  }
  return overlaps;
}
