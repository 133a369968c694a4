// Texts cut into words, as version 3 of MongoDB's text index does: at spaces, dashes, quotes, punctuation and symbols. A term is a word in small letters, stemmed,
// without accents; words of a language that say nothing give none.

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
export function termsOf(text: string, language: Language, rules: WordRules = usualRules): string[] {
  const terms: string[] = [];
  for (const word of text.split(language.isEnglish ? englishDelimiters : delimiters)) {
    const lower = word.toLowerCase();
    if (word === '' || language.isStopWord(lower)) continue;
    const stem = language.stem(rules.caseSensitive ? word : lower);
    if (stem !== '') terms.push(rules.diacriticSensitive ? stem.normalize('NFC') : withoutDiacritics(stem));
  }
  return terms;
}
