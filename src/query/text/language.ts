// The languages of text search, by MongoDB's names and two-letter codes (manual: "Text Search Languages"): each has a stemmer and words left out;
// `none` has neither.

import type snowball from 'snowball-stemmers';
import { lateModule } from '../../base/late-module.ts';
import { isStopWord } from './stop-words.ts';

const stemmers = lateModule<typeof snowball>(import.meta.url, 'snowball-stemmers');

const codes: Readonly<Record<string, string>> = {
  da: 'danish',
  nl: 'dutch',
  en: 'english',
  fi: 'finnish',
  fr: 'french',
  de: 'german',
  hu: 'hungarian',
  it: 'italian',
  nb: 'norwegian',
  pt: 'portuguese',
  ro: 'romanian',
  ru: 'russian',
  es: 'spanish',
  sv: 'swedish',
  tr: 'turkish',
};
const names: ReadonlySet<string> = new Set(Object.values(codes));

/** What a language does to words. */
export interface Language {
  readonly name: string;
  readonly isEnglish: boolean;
  /** The stem of a word in small letters. */
  stem(word: string): string;
  /** Whether a word in small letters is left out. */
  isStopWord(word: string): boolean;
}

const STEMS_MAX = 10_000;

/** Words come again and again, and a stemmer takes twenty times as long as a look into a map. */
function remembered(stem: (word: string) => string): (word: string) => string {
  const stems = new Map<string, string>();
  return (word) => {
    const known = stems.get(word);
    if (known !== undefined) return known;
    if (stems.size >= STEMS_MAX) stems.clear();
    const made = stem(word);
    stems.set(word, made);
    return made;
  };
}

const none: Language = { name: 'none', isEnglish: false, stem: (word) => word, isStopWord: () => false };
const known = new Map<string, Language>([['none', none]]);

/** The language of a name, in any case; undefined where there is none. */
export function languageOf(given: string): Language | undefined {
  const lower = given.toLowerCase();
  const name = codes[lower] ?? lower;
  const found = known.get(name);
  if (found !== undefined || !names.has(name)) return found;
  const stemmer = stemmers().newStemmer(name);
  const made: Language = { name, isEnglish: name === 'english', stem: remembered((word) => stemmer.stem(word)), isStopWord: (word) => isStopWord(word, name) };
  known.set(name, made);
  return made;
}
