// Types of the package `snowball-stemmers`, which has none of its own: what stems.ts calls, and no more.

/** The part of the package that is used: stemmers of many languages, translated from Snowball. */
declare module 'snowball-stemmers' {
  interface Stemmer {
    stem(word: string): string;
  }
  const factory: { newStemmer(language: string): Stemmer };
  export = factory;
}
