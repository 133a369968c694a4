// User regular expressions in PCRE's language. What RE2 can run is run by it, in time linear in the text, so that no pattern can hold the
// server up; the rest (look-ahead, back-references, atomic groups, conditions, calls) by a backtracking matcher that counts its steps.
// Follows the manual's page of `$regex`.

import type * as re2 from 're2js';
import type { RE2JS } from 're2js';
import { lateModule } from '../base/late-module.ts';
import { refuse } from './refuse.ts';
import { BacktrackingRegex } from './regex/backtrack.ts';
import { anything } from './regex/char-set.ts';
import { parseRegex } from './regex/parse.ts';
import type { ParsedRegex, RegexNode } from './regex/syntax.ts';
import { toRe2 } from './regex/to-re2.ts';

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

const linearEngine = lateModule<typeof re2>(import.meta.url, 're2js');

const PATTERN_BYTES_MAX = 16384;

/** Compiles a pattern. `owner` is named in the text of errors: 51108 for a flag that there is not, 51091 for a pattern that is not valid. */
export function compilePattern(source: string, flags: string, owner = '$regex'): Pattern {
  const wrong = /[^imsxu]/.exec(flags)?.[0];
  if (wrong !== undefined) throw refuse(51108, `${owner} invalid flag in regex options: ${wrong}`);
  if (source.length > PATTERN_BYTES_MAX) throw refuse(51091, 'Regular expression is invalid: regular expression is too large');
  const parsed = parseRegex(source, {
    caseless: flags.includes('i'),
    multiline: flags.includes('m'),
    dotall: flags.includes('s'),
    extended: flags.includes('x'),
    noCapture: false,
    unicode: false,
  });
  const sorted = [...new Set(flags)].sort().join('');
  return { source, flags: sorted, ...literalPrefix(parsed.root), ...engineOf(parsed) };
}

type Engine = Pick<Pattern, 'test' | 'find'>;

function engineOf(parsed: ParsedRegex): Engine {
  let backtracking: BacktrackingRegex | undefined;
  const slow = (text: string, from: number): PatternMatch | undefined => {
    backtracking ??= new BacktrackingRegex(parsed);
    return backtracking.find(text, from);
  };
  const alone = plainText(itemsOf(parsed.root).length === 1 ? itemsOf(parsed.root)[0] : undefined);
  if (alone !== undefined && alone !== '') return { test: (text) => text.includes(alone), find: (text, from) => findText(text, from, alone) };
  const plain = plainTest(parsed.root);
  // Text alone needs no engine to be found, so none is made before it is asked where.
  const linear = plain === undefined ? compileLinear(parsed.root) : undefined;
  if (linear === undefined) return { test: plain ?? ((text) => slow(text, 0) !== undefined), find: slow };
  const eatsNewline = holdsFinalAssertion(parsed.root);
  return {
    test: (text) => linear.test(text),
    // RE2 eats the newline that `$` only looks at.
    find: (text, from) => (eatsNewline && text.endsWith('\n') ? slow(text, from) : findMatch(linear, text, from)),
  };
}

function findText(text: string, from: number, wanted: string): PatternMatch | undefined {
  const start = text.indexOf(wanted, from);
  return start < 0 ? undefined : { start, end: start + wanted.length, captures: [] };
}

function compileLinear(root: RegexNode): RE2JS | undefined {
  const source = toRe2(root);
  if (source === undefined) return undefined;
  const { RE2JS: engine } = linearEngine();
  try {
    return engine.compile(source, engine.LOOKBEHINDS);
  } catch {
    // Too large or with a property that RE2 does not know: the other matcher has no such bounds.
    return undefined;
  }
}

function findMatch(engine: RE2JS, text: string, from: number): PatternMatch | undefined {
  const matcher = engine.matcher(text);
  if (!matcher.find(from)) return undefined;
  const captures = Array.from({ length: matcher.groupCount() }, (_, index) => matcher.group(index + 1) ?? undefined);
  return { start: matcher.start(), end: matcher.end(), captures };
}

function holdsFinalAssertion(node: RegexNode): boolean {
  switch (node.kind) {
    case 'assertion':
      return node.what === 'endOrNewline';
    case 'sequence':
      return node.items.some(holdsFinalAssertion);
    case 'choice':
      return node.branches.some(holdsFinalAssertion);
    case 'group':
      return holdsFinalAssertion(node.body);
    default:
      return false;
  }
}

function itemsOf(root: RegexNode): readonly RegexNode[] {
  return root.kind === 'sequence' ? root.items : [root];
}

/** The text of a node that is nothing but text, case heeded. */
function plainText(node: RegexNode | undefined): string | undefined {
  return node?.kind === 'text' && !node.caseless ? String.fromCodePoint(...node.points) : undefined;
}

/** A test without any engine, for text alone and for text at the front. */
function plainTest(root: RegexNode): ((text: string) => boolean) | undefined {
  const [first, second, third] = itemsOf(root);
  const alone = second === undefined ? plainText(first) : undefined;
  if (alone !== undefined) return (text) => text.includes(alone);
  const front = first?.kind === 'assertion' && first.what === 'start' && third === undefined ? plainText(second) : undefined;
  return front === undefined ? undefined : (text) => text.startsWith(front);
}

/** What text every match begins with, for patterns that are anchored at the front and heed case there. */
function literalPrefix(root: RegexNode): Pick<Pattern, 'prefix' | 'prefixOnly'> {
  const [first, second, ...rest] = itemsOf(root);
  const anchored = first?.kind === 'assertion' && first.what === 'start';
  const prefix = anchored ? plainText(second) : undefined;
  if (prefix === undefined) return { prefix: '', prefixOnly: false };
  const [tail, more] = rest;
  const prefixOnly = tail === undefined || (more === undefined && isAnything(tail));
  return { prefix, prefixOnly };
}

/** `.*` with dotall. */
function isAnything(node: RegexNode): boolean {
  return node.kind === 'repeat' && node.min === 0 && node.max === Infinity && node.body.kind === 'set' && node.body.set === anything;
}
