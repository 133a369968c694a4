// `node dist/scripts/collation-table.js icudt57l.dat`: makes src/collation/data.ts from ICU's data. The data comes from the npm package
// icu4c-data 0.57.2 (ICU 57, CLDR 29, Unicode 8): the version that MongoDB carries, so that orders and keys are the same. Not part of the build.

import { readFileSync, writeFileSync } from 'node:fs';
import { AssertionError } from '../src/base/errors.ts';
import { readBundle, readPackage } from './collation/icu-package.ts';
import type { Part, Resource } from './collation/icu-package.ts';
import { packNormalForm, packTable } from './collation/pack.ts';
import { readTable } from './collation/read-table.ts';

const path = process.argv[2];
if (path === undefined) throw new AssertionError('name the data file');
const items = readPackage(new Uint8Array(readFileSync(path)));
const itemOf = (name: string): Part => {
  const item = items.get(name);
  if (item === undefined) throw new AssertionError(`the package has no ${name}`);
  return item;
};

const root = readTable(itemOf('coll/ucadata.icu'), true);
const assigned = new Set(root.mappings.map(([codePoint]) => codePoint));

/** Classes of combining marks by rank, told from how normalizing swaps them: what Unicode fixes for ever. */
function markRanks(): (readonly [number, number])[] {
  const swaps = (first: string, second: string): boolean => {
    const text = `x${first}${second}`;
    return text.normalize('NFD') !== text;
  };
  const low = '\u0334'; // class 1
  const high = '\u0345'; // class 240
  const isMark = (mark: string): boolean => swaps(mark, low) || swaps(high, mark) || mark === high;
  const marks = [...assigned].filter((codePoint) => codePoint >= 0x300).filter((codePoint) => {
    const text = String.fromCodePoint(codePoint);
    return text.normalize('NFD') === text && isMark(text);
  });
  const sorted = marks.toSorted((a, b) => {
    const [left, right] = [String.fromCodePoint(a), String.fromCodePoint(b)];
    return swaps(left, right) ? 1 : swaps(right, left) ? -1 : a - b;
  });
  let rank = 0;
  let first = '';
  return sorted.map((codePoint): readonly [number, number] => {
    const text = String.fromCodePoint(codePoint);
    if (rank === 0 || swaps(text, first)) rank += 1;
    if (first === '' || swaps(text, first)) first = text;
    return [codePoint, rank];
  });
}

function decompositions(): Map<number, number[]> {
  const found = new Map<number, number[]>();
  for (const codePoint of [...assigned].toSorted((a, b) => a - b)) {
    if ((codePoint >= 0xac00 && codePoint <= 0xd7a3) || (codePoint >= 0xd800 && codePoint <= 0xdfff)) continue;
    const text = String.fromCodePoint(codePoint);
    const whole = text.normalize('NFD');
    if (whole !== text) found.set(codePoint, Array.from(whole, (character) => character.codePointAt(0) ?? 0));
  }
  return found;
}

const isMap = (resource: Resource): resource is ReadonlyMap<string, Resource> => resource instanceof Map;

/** Tables by number; equal ones once. */
const tables: string[] = [];
/** Locale -> its default kind and its kinds with their tables; an alias has the other's name. */
const locales: string[] = [];
for (const [name, item] of items) {
  const locale = /^coll\/(.+)\.res$/.exec(name)?.[1];
  if (locale === undefined || locale === 'res_index' || locale === 'pool') continue;
  const bundle = readBundle(item);
  const alias = bundle.get('%%ALIAS');
  if (typeof alias === 'string') continue;
  const collations = bundle.get('collations');
  const kinds: string[] = [];
  let kindByDefault = '';
  for (const [kind, resource] of isMap(collations) ? collations : new Map<string, Resource>()) {
    if (kind === 'default' && typeof resource === 'string') kindByDefault = resource;
    const binary = isMap(resource) ? resource.get('%%CollationBin') : undefined;
    if (!(binary instanceof DataView)) continue;
    const text = packTable(readTable(binary, false));
    if (!tables.includes(text)) tables.push(text);
    kinds.push(`${kind}=${tables.indexOf(text)}`);
  }
  locales.push(`${locale}:${kindByDefault}:${kinds.join(',')}`);
}

const lines = [
  '// Made by scripts/collation-table.ts from the data of ICU 57.1 (npm package icu4c-data 0.57.2; CLDR 29, Unicode 8.0): the root collation, the',
  '// tailorings of all locales, canonical decompositions and the order of combining marks. Copyright (c) 1995-2015 International Business Machines',
  '// Corporation, Unicode, Inc. and others, under the licence of ICU (see LICENSE). Frozen: keys of indexes are made of it. Layout: src/collation/unpack.ts.',
  '',
  '/** The root collation. */',
  `export const rootTable: string = '${packTable(root)}';`,
  '',
  '/** Canonical decompositions and combining marks. */',
  `export const normalForms: string = '${packNormalForm(decompositions(), markRanks())}';`,
  '',
  '/** Locales: name, kind by default, kinds with the numbers of their tables. */',
  `export const localeLines: string =\n  '${locales.join(' ')}';`,
  '',
  '/** The tables of the tailorings. */',
  'export const tailoredTables: readonly string[] = [',
  ...tables.map((table) => `  '${table}',`),
  '];',
];
writeFileSync('src/collation/data.ts', `${lines.join('\n')}\n`);
console.log(`${locales.length} locales, ${tables.length} tables, ${lines.join('\n').length} bytes`);
