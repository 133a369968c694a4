// Strings: joining, case, length, splitting, replacing, trimming. Case is that of ASCII only, as in MongoDB.
// Follows the manual's page "String Expression Operators"; parts and positions are in substring.ts, patterns in regex-find.ts.

import { compareBytes } from '../../base/bytes.ts';
import { encodeUtf8, utf8Length } from '../../base/text.ts';
import { BsonArray } from '../../bson/index.ts';
import { refuse } from '../refuse.ts';
import { countCodePoints } from './code-points.ts';
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
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function upper(text: string): string {
  return text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());
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
  return BsonArray.of(text.split(separator));
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

/** An empty text is found before and behind every character. */
function replaceEach(text: string, find: string, replacement: string): string {
  if (find !== '') return text.replaceAll(find, () => replacement);
  return [replacement, ...Array.from(text, (character) => character + replacement)].join('');
}

const trimArguments: NamedArguments = {
  words: 'requires',
  notObject: 50696,
  unknown: 50694,
  required: { input: 50695 },
  optional: ['chars'],
};

/** What is trimmed where `chars` is not given: the zero byte and what Unicode calls white space. */
const WHITE_SPACE = '\0\u0020\t\n\v\f\r\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a';

function trimmed(text: string, characters: ReadonlySet<string>, ends: { left: boolean; right: boolean }): string {
  const points = Array.from(text);
  let start = 0;
  let stop = points.length;
  while (ends.left && start < stop && characters.has(points[start] ?? '')) start += 1;
  while (ends.right && stop > start && characters.has(points[stop - 1] ?? '')) stop -= 1;
  return points.slice(start, stop).join('');
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
