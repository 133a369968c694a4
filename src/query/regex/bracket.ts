// Character classes in square brackets. Follows pcre2pattern(3), sections "Square brackets and character classes" and "Posix character
// classes".

import { complement, posixSet, rangeSet, union } from './char-set.ts';
import type { CharSet } from './char-set.ts';
import { readEscape } from './escape.ts';
import { invalid } from './reader.ts';
import type { PatternReader } from './reader.ts';

const UNTERMINATED = 'missing terminating ] for character class';

/** One thing in a class: a character, which may begin a range, or a set. */
type ClassItem = { readonly point: number } | { readonly set: CharSet };

/** Reads a class behind its opening bracket. */
export function readClass(reader: PatternReader, unicode: boolean): CharSet {
  const negated = reader.take('^');
  const sets: CharSet[] = [];
  let first = true;
  for (;;) {
    if (reader.done) throw invalid(UNTERMINATED);
    if (reader.isNext(']') && !first) break;
    first = false;
    const quoted = readQuoted(reader);
    if (quoted !== undefined) {
      sets.push(...quoted);
      continue;
    }
    sets.push(readRange(reader, unicode));
  }
  reader.next();
  const all = union(sets);
  return negated ? complement(all) : all;
}

/** `\Q...\E`, whose characters stand for themselves, and a stray `\E`. */
function readQuoted(reader: PatternReader): CharSet[] | undefined {
  if (reader.take('\\E')) return [];
  if (!reader.take('\\Q')) return undefined;
  const sets: CharSet[] = [];
  while (!reader.take('\\E')) {
    if (reader.done) throw invalid(UNTERMINATED);
    const point = reader.next().codePointAt(0) ?? 0;
    sets.push(rangeSet(point, point));
  }
  return sets;
}

function readRange(reader: PatternReader, unicode: boolean): CharSet {
  const from = readItem(reader, unicode);
  if (!reader.isNext('-') || reader.peek(1) === ']' || reader.peek(1) === '') return setOf(from);
  reader.next();
  const to = readItem(reader, unicode);
  if ('set' in from || 'set' in to) return union([setOf(from), rangeSet(0x2d, 0x2d), setOf(to)]);
  if (to.point < from.point) throw invalid('range out of order in character class');
  return rangeSet(from.point, to.point);
}

function setOf(item: ClassItem): CharSet {
  return 'set' in item ? item.set : rangeSet(item.point, item.point);
}

function readItem(reader: PatternReader, unicode: boolean): ClassItem {
  if (reader.isNext('[:')) {
    const posix = readPosix(reader, unicode);
    if (posix !== undefined) return { set: posix };
  }
  const text = reader.next();
  if (text !== '\\') return { point: text.codePointAt(0) ?? 0 };
  const escape = readEscape(reader, unicode, true);
  if (escape.kind === 'point') return { point: escape.point };
  if (escape.kind === 'set') return { set: escape.set };
  throw invalid(`escape sequence \\${escape.letter} is invalid in a character class`);
}

function readPosix(reader: PatternReader, unicode: boolean): CharSet | undefined {
  let end = 2;
  while (/^[a-z^]$/.test(reader.peek(end))) end++;
  if (reader.peek(end) !== ':' || reader.peek(end + 1) !== ']') return undefined;
  reader.at += 2;
  const negated = reader.take('^');
  const set = posixSet(reader.takeUntil(':]', UNTERMINATED), unicode);
  if (set === undefined) throw invalid('unknown POSIX class name');
  return negated ? complement(set) : set;
}
