// Strings: joining, case, length, splitting, replacing, trimming. Case is that of ASCII only, as in MongoDB.
// Follows the manual's page "String Expression Operators"; parts and positions are in substring.ts, patterns in regex-find.ts.

import { compareBytes } from '../../base/bytes.ts';
import { looped, spend } from '../../base/long-work.ts';
import { encodeUtf8, utf8Length } from '../../base/text.ts';
import { BsonArray } from '../../bson/index.ts';
import { refuse } from '../refuse.ts';
import { countCodePoints, isAscii } from './code-points.ts';
import { binary, describeMaybe, isNullish, named, nameOf, unary, variadic } from './define.ts';
import type { Maybe, NamedArguments, NamedValues } from './define.ts';
import type { OperatorRule, OperatorTable } from './compiler.ts';
import { checkedText } from './string-limit.ts';
import { coerceToText } from './to-text.ts';

function concat(values: readonly Maybe[]): Maybe {
  let text = '';
  for (const value of values) {
    if (isNullish(value)) return null;
    if (typeof value !== 'string') throw refuse(16702, `$concat only supports strings, not ${nameOf(value)}`);
    text += value;
  }
  return checkedText(text);
}

function lower(text: string): string {
  return inParts(text, (part) => (isAscii(part) ? part.toLowerCase() : part.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())));
}

function upper(text: string): string {
  return inParts(text, (part) => (isAscii(part) ? part.toUpperCase() : part.replace(/[a-z]+/g, (letters) => letters.toUpperCase())));
}

/** Long texts are changed in parts of so many units: each takes less than a millisecond. */
const PART = 16384;

/** A text changed, where each unit is by itself. */
function inParts(text: string, change: (part: string) => string): string {
  if (text.length <= PART) return change(text);
  const begin = (): { changed: string } => ({ changed: '' });
  const whole = looped(begin, (state, round) => {
    spend(PART / UNITS_PER_STEP);
    state.changed += change(text.slice(round * PART, (round + 1) * PART));
    return (round + 1) * PART >= text.length;
  });
  return whole?.changed ?? '';
}

/** So many units of a text are walked through in about the time of one step of another loop. */
const UNITS_PER_STEP = 16;

interface Search {
  readonly parts: string[];
  from: number;
}

/** The parts of a text between the places of another. */
function splitText(text: string, separator: string): readonly string[] {
  if (text.length <= PART) return text.split(separator);
  const begin = (): Search => ({ parts: [], from: 0 });
  const search = looped(begin, (state) => {
    const at = text.indexOf(separator, state.from);
    const end = at < 0 ? text.length : at;
    spend((end - state.from) / UNITS_PER_STEP);
    state.parts.push(text.slice(state.from, end));
    state.from = at + separator.length;
    return at < 0;
  });
  return search?.parts ?? [];
}

function compareWithoutCase(left: Maybe, right: Maybe): Maybe {
  return Math.sign(compareBytes(encodeUtf8(upper(coerceToText(left))), encodeUtf8(upper(coerceToText(right)))));
}

function lengthOf(count: (text: string) => number, code: number): OperatorRule {
  return unary((value, name) => {
    if (typeof value === 'string') return count(value);
    throw refuse(code, `${name} requires a string argument, found: ${nameOf(value)}`);
  });
}

function split(text: Maybe, separator: Maybe): Maybe {
  if (isNullish(text) || isNullish(separator)) return null;
  if (typeof text !== 'string') {
    throw refuse(40085, `$split requires an expression that evaluates to a string as a first argument, found: ${nameOf(text)}`);
  }
  if (typeof separator !== 'string') {
    throw refuse(10503900, `$split requires an expression that evaluates to a string as a second argument, found: ${nameOf(separator)}`);
  }
  if (separator === '') throw refuse(40087, '$split requires a non-empty separator');
  return BsonArray.of(splitText(text, separator));
}

const replaceArguments: NamedArguments = {
  words: 'requires',
  notObject: 51751,
  unknown: 51750,
  required: { input: 51749, find: 51748, replacement: 51747 },
};

function replacePart(values: NamedValues, field: string, code: number, name: string): string | null {
  const value = values.get(field);
  if (isNullish(value)) return null;
  if (typeof value === 'string') return value;
  throw refuse(code, `${name} requires that '${field}' be a string, found: ${describeMaybe(value)}`);
}

function replace(change: (text: string, find: string, replacement: string) => string): (values: NamedValues, name: string) => Maybe {
  return (values, name) => {
    const input = replacePart(values, 'input', 10503904, name);
    const find = replacePart(values, 'find', 10503901, name);
    const replacement = replacePart(values, 'replacement', 10503902, name);
    if (input === null || find === null || replacement === null) return null;
    return checkedText(change(input, find, replacement));
  };
}

function replaceFirst(text: string, find: string, replacement: string): string {
  const at = text.indexOf(find);
  return at < 0 ? text : text.slice(0, at) + replacement + text.slice(at + find.length);
}

/** Parts joined in blocks: what is joined at last is few. */
const BLOCK = 1024;

function joinedBy(parts: readonly string[], between: string): string {
  if (parts.length <= BLOCK) return parts.join(between);
  const begin = (): { readonly blocks: string[] } => ({ blocks: [] });
  const joined = looped(begin, ({ blocks }, round) => {
    spend(BLOCK / UNITS_PER_STEP);
    blocks.push(parts.slice(round * BLOCK, (round + 1) * BLOCK).join(between));
    return (round + 1) * BLOCK >= parts.length;
  });
  return joined?.blocks.join(between) ?? '';
}

/** An empty text is found before and behind every character. */
function replaceEach(text: string, find: string, replacement: string): string {
  if (find !== '') return joinedBy(splitText(text, find), replacement);
  return [replacement, ...Array.from(text, (character) => character + replacement)].join('');
}

const trimArguments: NamedArguments = {
  words: 'requires',
  notObject: 50696,
  unknown: 50694,
  required: { input: 50695 },
  optional: ['chars'],
};

function characterAt(text: string, at: number): string {
  return String.fromCodePoint(text.codePointAt(at) ?? 0);
}

/** The character that ends there. */
function characterBefore(text: string, end: number): string {
  const isPair = end >= 2 && (text.codePointAt(end - 2) ?? 0) > 0xffff;
  return isPair ? text.slice(end - 2, end) : text.slice(end - 1, end);
}

/** What is trimmed where `chars` is not given: the zero byte and what Unicode calls white space. */
const WHITE_SPACE = '\0\u0020\t\n\v\f\r\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a';

function trimmed(text: string, characters: ReadonlySet<string>, ends: { left: boolean; right: boolean }): string {
  let start = 0;
  let stop = text.length;
  while (ends.left && start < stop && characters.has(characterAt(text, start))) start += characterAt(text, start).length;
  while (ends.right && stop > start && characters.has(characterBefore(text, stop))) stop -= characterBefore(text, stop).length;
  return text.slice(start, stop);
}

function trim(ends: { left: boolean; right: boolean }): OperatorRule {
  return named(trimArguments, (values, name) => {
    const input = values.get('input');
    const chars = values.get('chars');
    if (isNullish(input)) return null;
    if (typeof input !== 'string') {
      throw refuse(50699, `${name} requires its input to be a string, got ${describeMaybe(input)} (of type ${nameOf(input)}) instead.`);
    }
    if (values.given('chars') && isNullish(chars)) return null;
    if (chars !== undefined && typeof chars !== 'string') {
      throw refuse(50700, `${name} requires 'chars' to be a string, got ${describeMaybe(chars)} (of type ${nameOf(chars)}) instead.`);
    }
    return trimmed(input, new Set(chars ?? WHITE_SPACE), ends);
  });
}

/** The operators, by name. */
export const stringOperators: OperatorTable = {
  $concat: variadic(concat),
  $toLower: unary((value) => lower(coerceToText(value))),
  $toUpper: unary((value) => upper(coerceToText(value))),
  $strcasecmp: binary(compareWithoutCase),
  $strLenBytes: lengthOf(utf8Length, 34473),
  $strLenCP: lengthOf(countCodePoints, 34471),
  $split: binary(split),
  $replaceOne: named(replaceArguments, replace(replaceFirst)),
  $replaceAll: named(replaceArguments, replace(replaceEach)),
  $trim: trim({ left: true, right: true }),
  $ltrim: trim({ left: true, right: false }),
  $rtrim: trim({ left: false, right: true }),
};
