// What `$text` asks for: any of some terms, all of some phrases, none of others (manual: "$text"). Parsed once; bound to the fields and the language of the
// collection's text index by whoever plans the query.

import { Document } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { nameOf } from '../expression/define.ts';
import { refuse } from '../refuse.ts';
import { languageOf } from './language.ts';
import type { Language } from './language.ts';
import { eachText, scoresOf } from './text-fields.ts';
import type { TextFields } from './text-fields.ts';
import { folded, termsOf } from './words.ts';
import type { WordRules } from './words.ts';

interface Part {
  readonly text: string;
  readonly negated: boolean;
  readonly isPhrase: boolean;
}

/** Words and phrases of a search; a dash in front of one negates it. */
function partsOf(search: string): Part[] {
  const parts: Part[] = [];
  const pattern = /(^|\s)?(-?)"([^"]*)"|(-?)([^\s"]+)|"/gu;
  for (const match of search.matchAll(pattern)) {
    const [, , phraseDash = '', phrase, dash = '', word] = match;
    const before = match.index === 0 || /\s/.test(search[match.index - 1] ?? ' ');
    if (phrase !== undefined) parts.push({ text: phrase, negated: phraseDash === '-', isPhrase: true });
    else if (word !== undefined) parts.push({ text: word, negated: dash === '-' && before, isPhrase: false });
  }
  return parts;
}

/** A search of texts. */
export class TextSearch {
  readonly #search: string;
  readonly #language: Language | undefined;
  readonly #rules: WordRules;
  #fields: TextFields | undefined;

  constructor(search: string, language: Language | undefined, rules: WordRules) {
    this.#search = search;
    this.#language = language;
    this.#rules = rules;
  }

  /** Says what the index looks at; before that nothing can be asked. */
  bind(fields: TextFields): void {
    this.#fields = fields;
  }

  get #bound(): TextFields {
    if (this.#fields === undefined) throw refuse(27, 'text index required for $text query');
    return this.#fields;
  }

  #terms(negated: boolean, rules?: WordRules): string[] {
    const language = this.#language ?? this.#bound.language;
    const parts = partsOf(this.#search).filter((part) => part.negated === negated && !(negated && part.isPhrase));
    return [...new Set(parts.flatMap((part) => termsOf(part.text, language, rules)))];
  }

  /** The terms of which a document must have one, as the index has them. */
  get terms(): string[] {
    return this.#terms(false);
  }

  /** Whether a document is one of those searched for. */
  matches(document: Document): boolean {
    const fields = this.#bound;
    const own = this.#termsOf(document, this.#rules);
    if (!this.#terms(false, this.#rules).some((term) => own.has(term))) return false;
    if (this.#terms(true, this.#rules).some((term) => own.has(term))) return false;
    return partsOf(this.#search).every(({ text, negated, isPhrase }) => !isPhrase || this.#hasPhrase(document, fields, text) !== negated);
  }

  #termsOf(document: Document, rules: WordRules): Set<string> {
    const terms = new Set<string>();
    eachText(document, this.#bound, (text, _weight, language) => {
      for (const term of termsOf(text, language, rules)) terms.add(term);
    });
    return terms;
  }

  #hasPhrase(document: Document, fields: TextFields, phrase: string): boolean {
    const wanted = folded(phrase, this.#rules);
    let found = false;
    eachText(document, fields, (text) => {
      found ||= folded(text, this.#rules).includes(wanted);
    });
    return found;
  }

  /** How well a document fits: the sum of the scores of the terms searched for. */
  scoreOf(document: Document): number {
    const scores = scoresOf(document, this.#bound);
    return this.terms.reduce((sum, term) => sum + (scores.get(term) ?? 0), 0);
  }
}

const fieldNames: ReadonlySet<string> = new Set(['$search', '$language', '$caseSensitive', '$diacriticSensitive']);

function flagAt(operand: Document, name: string): boolean {
  const value = operand.get(name);
  if (value === undefined) return false;
  if (typeof value === 'boolean') return value;
  throw refuse(14, `"${name}" had the wrong type. Expected bool, found ${nameOf(value)}`);
}

/** The operand of `$text`. */
export function parseTextSearch(operand: Value): TextSearch {
  if (!(operand instanceof Document)) throw refuse(2, '$text expects an object');
  const search = operand.get('$search');
  if (search === undefined) throw refuse(4, 'Missing expected field "$search"');
  if (typeof search !== 'string') throw refuse(14, `"$search" had the wrong type. Expected string`);
  const named = operand.get('$language');
  if (named !== undefined && typeof named !== 'string') throw refuse(14, `"$language" had the wrong type. Expected string`);
  const language = named === undefined || named === '' ? undefined : languageOf(named);
  if (named !== undefined && named !== '' && language === undefined) throw refuse(2, `unsupported language: "${named}" for text index version 3`);
  const rules = { caseSensitive: flagAt(operand, '$caseSensitive'), diacriticSensitive: flagAt(operand, '$diacriticSensitive') };
  const unknown = operand.keys().find((name) => !fieldNames.has(name));
  if (unknown !== undefined) throw refuse(2, `extra fields in $text: ${unknown}`);
  return new TextSearch(search, language, rules);
}
