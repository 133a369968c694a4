// User regular expressions, run on an engine whose time is linear in the text (RE2), so that no pattern can hold the server up. Look-ahead,
// back-references and atomic groups, which no such engine has, are refused as invalid. Follows the manual's page of `$regex`.

import { RE2JS } from 're2js';
import { refuse } from './refuse.ts';

/** A compiled regular expression with what an index can use of it. */
export interface Pattern {
  readonly source: string;
  /** Sorted, out of `imsux`. */
  readonly flags: string;
  /** Every string that matches begins with this text; '' if nothing is known. */
  readonly prefix: string;
  /** True if a string matches exactly when it begins with `prefix`. */
  readonly prefixOnly: boolean;
  /** Whether the pattern is found anywhere in the text. */
  readonly test: (text: string) => boolean;
  /** Where the pattern is first found at or behind the UTF-16 index `from`; undefined if it is not. */
  readonly find: (text: string, from: number) => PatternMatch | undefined;
}

/** One place where a pattern was found, in UTF-16 indexes. */
export interface PatternMatch {
  readonly start: number;
  readonly end: number;
  /** What each group in parentheses caught; undefined for one that took no part. */
  readonly captures: readonly (string | undefined)[];
}

const PATTERN_BYTES_MAX = 32764;

const flagBits: Readonly<Record<string, number>> = {
  i: RE2JS.CASE_INSENSITIVE,
  m: RE2JS.MULTILINE,
  s: RE2JS.DOTALL,
  x: 0,
  u: 0,
};

/** Compiles a pattern. `owner` is named in the text of errors: 51108 for a flag that there is not, 51091 for a pattern that is not valid. */
export function compilePattern(source: string, flags: string, owner = '$regex'): Pattern {
  let bits = RE2JS.LOOKBEHINDS;
  for (const flag of flags) {
    const bit = Object.hasOwn(flagBits, flag) ? flagBits[flag] : undefined;
    if (bit === undefined) throw refuse(51108, `${owner} invalid flag in regex options: ${flag}`);
    bits |= bit;
  }
  if (source.length > PATTERN_BYTES_MAX) throw refuse(51091, 'Regular expression is invalid: regular expression is too large');
  const sorted = [...new Set(flags)].sort().join('');
  const engine = compileEngine(sorted.includes('x') ? withoutSpaces(source) : source, bits);
  return {
    source,
    flags: sorted,
    ...literalPrefix(source, sorted),
    test: (text) => engine.test(text),
    find: (text, from) => findMatch(engine, text, from),
  };
}

function findMatch(engine: RE2JS, text: string, from: number): PatternMatch | undefined {
  const matcher = engine.matcher(text);
  if (!matcher.find(from)) return undefined;
  const captures = Array.from({ length: matcher.groupCount() }, (_, index) => matcher.group(index + 1) ?? undefined);
  return { start: matcher.start(), end: matcher.end(), captures };
}

function compileEngine(source: string, bits: number): RE2JS {
  try {
    return RE2JS.compile(source, bits);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw refuse(51091, `Regular expression is invalid: ${reason}`, error);
  }
}

/** The pattern without the white space and comments that flag `x` allows outside of classes. */
function withoutSpaces(source: string): string {
  return source.replace(/\\[\s\S]|\[\^?\]?(?:\\[\s\S]|\[:\w+:\]|[^\]\\])*\]|#[^\n]*\n?|\s+/g, (token) =>
    token.startsWith('#') || /^\s/.test(token) ? '' : token,
  );
}

const LITERAL = /^(?:\^|\\A)((?:[^\\.*+?()[\]{}|^$#\s]|\\[^A-Za-z0-9]|[#\s])*)/;

/** What text every match begins with, for patterns that are anchored at the front and heed case and newlines. */
function literalPrefix(source: string, flags: string): { prefix: string; prefixOnly: boolean } {
  const found = /[imx]/.test(flags) || source.includes('|') || source.includes('\\Q') ? null : LITERAL.exec(source);
  if (found === null) return { prefix: '', prefixOnly: false };
  let text = found[1] ?? '';
  const rest = source.slice(found[0].length);
  // The last character belongs to the quantifier behind it.
  if (/^[*?+{]/.test(rest)) text = text.replace(/(?:\\[^A-Za-z0-9]|[\s\S])$/u, '');
  const prefix = text.replace(/\\([^A-Za-z0-9])/g, '$1');
  return { prefix, prefixOnly: rest === '' || (rest === '.*' && flags.includes('s')) };
}
