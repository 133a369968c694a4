// Regular expressions in strings: whether there is a match, the first, or all, with captures and positions in code points. A pattern that
// is constant is compiled once. Follows the manual's pages "$regexMatch", "$regexFind" and "$regexFindAll".

import { CommandError } from '../../base/errors.ts';
import { BsonArray, Document, Regex } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { refuse } from '../refuse.ts';
import { compilePattern } from '../regex.ts';
import type { Pattern, PatternMatch } from '../regex.ts';
import { looped } from '../../base/long-work.ts';
import { codePointIndex, countCodePoints } from './code-points.ts';
import { isNullish, named } from './define.ts';
import type { Maybe, NamedArguments, NamedValues } from './define.ts';
import type { OperatorRule, OperatorTable } from './compiler.ts';

const regexArguments: NamedArguments = {
  words: 'requires',
  notObject: 51103,
  unknown: 31024,
  required: { input: 31022, regex: 31023 },
  optional: ['options'],
};

function optionsOf(values: NamedValues, regex: Value | undefined, name: string): string {
  const options = values.get('options');
  if (!isNullish(options) && typeof options !== 'string') throw refuse(51106, `${name} needs 'options' to be of type string`);
  const own = regex instanceof Regex ? regex.flags : '';
  if (!isNullish(options) && own !== '') {
    throw refuse(51107, `${name}: found regex option(s) specified in both 'regex' and 'option' fields`);
  }
  return isNullish(options) ? own : options;
}

function checkFlags(flags: string, name: string): void {
  if (flags.includes('\0')) throw refuse(51110, `${name}: regular expression options cannot contain an embedded null byte`);
  const wrong = /[^imsxu]/.exec(flags)?.[0];
  if (wrong !== undefined) throw refuse(51108, `${name} invalid flag in regex options: ${wrong}`);
}

function compile(source: string, flags: string, name: string): Pattern {
  try {
    return compilePattern(source, flags, name);
  } catch (error) {
    const reason = error instanceof CommandError ? error.message : '';
    throw refuse(51111, `Invalid Regex in ${name}: ${reason}`, error);
  }
}

/** Compiles patterns for one operator, and keeps the last: it is the same for all documents most of the time. */
class LastPattern {
  #key = '';
  #pattern: Pattern | undefined;

  of(source: string, flags: string, name: string): Pattern {
    const key = `${flags}/${source}`;
    if (this.#pattern === undefined || this.#key !== key) {
      this.#pattern = compile(source, flags, name);
      this.#key = key;
    }
    return this.#pattern;
  }
}

function found(text: string, match: PatternMatch, index: number): Document {
  return Document.fromEntries([
    ['match', text.slice(match.start, match.end)],
    ['idx', index],
    ['captures', BsonArray.of(match.captures.map((capture) => capture ?? null))],
  ]);
}

interface Search {
  readonly matches: Document[];
  /** Where the next match is looked for. */
  from: number;
  /** Up to here there are `points` code points. */
  counted: number;
  points: number;
}

function allMatches(pattern: Pattern, text: string): Document[] {
  const begin = (): Search => ({ matches: [], from: 0, counted: 0, points: 0 });
  const search = looped(begin, (state) => {
    const match = pattern.find(text, state.from);
    if (match === undefined) return true;
    state.points += countCodePoints(text.slice(state.counted, match.start));
    state.counted = match.start;
    state.matches.push(found(text, match, state.points));
    const point = text.codePointAt(match.end) ?? 0;
    state.from = match.end > match.start ? match.end : match.end + (point > 0xffff ? 2 : 1);
    return state.from >= text.length;
  });
  return search?.matches ?? [];
}

function regexOperator(give: (pattern: Pattern, text: string) => Value, nothing: Value): OperatorRule {
  return (argument, compiler, name) => {
    const patterns = new LastPattern();
    const evaluate = (values: NamedValues): Maybe => {
      const input = values.get('input');
      const regex = values.get('regex');
      if (!isNullish(regex) && typeof regex !== 'string' && !(regex instanceof Regex)) {
        throw refuse(51105, `${name} needs 'regex' to be of type string or regex`);
      }
      const flags = optionsOf(values, regex, name);
      if (!isNullish(input) && typeof input !== 'string') throw refuse(51104, `${name} needs 'input' to be of type string`);
      if (isNullish(regex)) return nothing;
      checkFlags(flags, name);
      const source = regex instanceof Regex ? regex.pattern : regex;
      if (source.includes('\0')) throw refuse(51109, `${name}: regular expression cannot contain an embedded null byte`);
      const pattern = patterns.of(source, flags, name);
      return isNullish(input) ? nothing : give(pattern, input);
    };
    return named(regexArguments, evaluate)(argument, compiler, name);
  };
}

function firstMatch(pattern: Pattern, text: string): Value {
  const match = pattern.find(text, 0);
  return match === undefined ? null : found(text, match, codePointIndex(text, match.start));
}

/** The operators, by name. */
export const regexOperators: OperatorTable = {
  $regexMatch: regexOperator((pattern, text) => pattern.test(text), false),
  $regexFind: regexOperator(firstMatch, null),
  $regexFindAll: regexOperator((pattern, text) => BsonArray.of(allMatches(pattern, text)), BsonArray.empty),
};
