// The face of the collation layer: text order of a locale, from MongoDB's collation documents to sort keys.

export { Collation } from './collation.ts';
export { localeNames } from './locale.ts';
export { parseCollation, sameCollation } from './specification.ts';
