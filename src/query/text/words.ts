// Texts cut into words, as version 3 of MongoDB's text index does: at spaces, dashes, quotes, punctuation and symbols. A term is a word in small letters, stemmed,
// without accents; words of a language that say nothing give none.

import { looped, spend } from '../../base/long-work.ts';
import type { Language } from './language.ts';

const delimiters = /[\p{Dash}\p{Pattern_Syntax}\p{Quotation_Mark}\p{Terminal_Punctuation}\p{White_Space}\p{Cc}\u00ad]+/u;
/** In English an apostrophe belongs to its word. */
const englishDelimiters = /(?:(?!')[\p{Dash}\p{Pattern_Syntax}\p{Quotation_Mark}\p{Terminal_Punctuation}\p{White_Space}\p{Cc}\u00ad])+/u;

/** How words are told apart. */
export interface WordRules {
  readonly caseSensitive: boolean;
  readonly diacriticSensitive: boolean;
}

const usualRules: WordRules = { caseSensitive: false, diacriticSensitive: false };

/** Without accents. */
function withoutDiacritics(text: string): string {
  return /^[\0-\x7f]*$/.test(text) ? text : text.normalize('NFD').replace(/\p{M}/gu, '').normalize('NFC');
}

/** A text as phrases are looked for in it. */
export function folded(text: string, { caseSensitive, diacriticSensitive }: WordRules): string {
  const cased = caseSensitive ? text : text.toLowerCase();
  return diacriticSensitive ? cased.normalize('NFC') : withoutDiacritics(cased);
}

/** The terms of a text, in order, repeated as they come. */
export function termsOf(text: string, language: Language, rules: WordRules = usualRules): readonly string[] {
  if (text.length <= PART) return addTerms([], text, language, rules);
  const begin = (): { readonly terms: string[]; at: number } => ({ terms: [], at: 0 });
  const whole = looped(begin, (state) => {
    const space = text.indexOf(' ', state.at + PART);
    const end = space < 0 ? text.length : space;
    spend((end - state.at) / UNITS_PER_STEP);
    addTerms(state.terms, text.slice(state.at, end), language, rules);
    state.at = end;
    return end === text.length;
  });
  return whole?.terms ?? [];
}

/** Long texts are cut at a space after so many units, for their words to be found in parts. */
const PART = 2048;
/** So many units of a text are cut into words in about the time of one step of another loop. */
const UNITS_PER_STEP = 4;

function addTerms(terms: string[], text: string, language: Language, rules: WordRules): string[] {
  for (const word of text.split(language.isEnglish ? englishDelimiters : delimiters)) {
    const lower = word.toLowerCase();
    if (word === '' || language.isStopWord(lower)) continue;
    const stem = language.stem(rules.caseSensitive ? word : lower);
    if (stem !== '') terms.push(rules.diacriticSensitive ? stem.normalize('NFC') : withoutDiacritics(stem));
  }
  return terms;
}
