// What a backslash means, outside of brackets and inside. Follows pcre2pattern(3), section "Backslash".

import { complement, digitSet, horizontalSpace, notNewline, propertySet, spaceSet, verticalSpace, wordSet } from './char-set.ts';
import type { CharSet } from './char-set.ts';
import { invalid } from './reader.ts';
import type { PatternReader } from './reader.ts';

/** A character, a set, or something that only the parser can make a node of. */
export type Escape =
  | { readonly kind: 'point'; readonly point: number }
  | { readonly kind: 'set'; readonly set: CharSet }
  | { readonly kind: 'other'; readonly letter: string };

const controls: Readonly<Record<string, number>> = { a: 7, e: 27, f: 12, n: 10, r: 13, t: 9 };

/** Letters whose meaning depends on where they stand; the parser looks after them. */
const letters = 'AZzGBbKRXgkQE';

type SetMaker = (unicode: boolean) => CharSet;

const sets: Readonly<Record<string, SetMaker>> = {
  d: digitSet,
  D: (unicode) => complement(digitSet(unicode)),
  w: wordSet,
  W: (unicode) => complement(wordSet(unicode)),
  s: spaceSet,
  S: (unicode) => complement(spaceSet(unicode)),
  h: () => horizontalSpace,
  H: () => complement(horizontalSpace),
  v: () => verticalSpace,
  V: () => complement(verticalSpace),
};

/** Reads what follows a backslash that was taken. Digits 1 to 9 are left to the caller outside of brackets. */
export function readEscape(reader: PatternReader, unicode: boolean, inClass: boolean): Escape {
  const letter = reader.next();
  if (letter === '') throw invalid('\\ at end of pattern');
  if (!/[A-Za-z0-9]/.test(letter)) return { kind: 'point', point: letter.codePointAt(0) ?? 0 };
  const control = Object.hasOwn(controls, letter) ? controls[letter] : undefined;
  if (control !== undefined) return { kind: 'point', point: control };
  const set = Object.hasOwn(sets, letter) ? sets[letter] : undefined;
  if (set !== undefined) return { kind: 'set', set: set(unicode) };
  if (letter === 'b' && inClass) return { kind: 'point', point: 8 };
  if (letters.includes(letter)) return { kind: 'other', letter };
  return readRare(reader, letter, inClass);
}

function readRare(reader: PatternReader, letter: string, inClass: boolean): Escape {
  switch (letter) {
    case 'p':
    case 'P':
      return { kind: 'set', set: readProperty(reader, letter === 'P') };
    case 'N':
      if (reader.take('{U+')) return point(parseInt(reader.takeUntil('}', 'missing terminating } for \\N'), 16));
      if (inClass) throw invalid('\\N is not supported in a class');
      return { kind: 'set', set: notNewline };
    case 'x':
      return readHex(reader);
    case 'o':
      if (!reader.take('{')) throw invalid('missing opening brace after \\o');
      return point(parseInt(reader.takeUntil('}', 'missing terminating } for \\o'), 8));
    case 'c':
      return point((reader.next().toUpperCase().codePointAt(0) ?? 0) ^ 64);
    default:
      break;
  }
  if (/[0-7]/.test(letter)) return readOctal(reader, letter);
  if (/[89]/.test(letter) && inClass) return point(letter.codePointAt(0) ?? 0);
  throw invalid('unrecognized character follows \\');
}

function point(value: number): Escape {
  if (!(value >= 0 && value <= 0x10ffff)) throw invalid('character code point value in \\x{} or \\o{} is too large');
  return { kind: 'point', point: value };
}

function readHex(reader: PatternReader): Escape {
  if (reader.take('{')) {
    const digits = reader.takeUntil('}', 'missing terminating } for hexadecimal escape');
    if (!/^[0-9a-fA-F]+$/.test(digits)) throw invalid('non-hex character in \\x{}');
    return point(parseInt(digits, 16));
  }
  let digits = '';
  while (digits.length < 2 && /^[0-9a-fA-F]$/.test(reader.peek())) digits += reader.next();
  return point(digits === '' ? 0 : parseInt(digits, 16));
}

/** Octal digits, the first of which was taken. */
export function readOctal(reader: PatternReader, first: string): Escape {
  let digits = first;
  while (digits.length < 3 && /^[0-7]$/.test(reader.peek())) digits += reader.next();
  return point(parseInt(digits, 8));
}

function readProperty(reader: PatternReader, negated: boolean): CharSet {
  const name = reader.take('{') ? reader.takeUntil('}', 'malformed \\P or \\p sequence') : reader.next();
  const set = propertySet(name.replace(/^(?:sc|scx|script|script_extensions)[:=]/i, ''), negated);
  if (set === undefined) throw invalid('unknown property after \\P or \\p');
  return set;
}
