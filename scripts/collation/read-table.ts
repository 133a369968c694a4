// Collation data as ICU compiled it, taken apart: what each code point maps to (32-bit words, "CE32", whose layout is that of ICU's collation.h),
// the pools these words point into, and the strings of contractions. Indexes of contexts are made ordinals, so that nothing of ICU's string
// tries is needed where the table is used.

import { AssertionError } from '../../src/base/errors.ts';
import { readStringTrie, readTrie } from './icu-package.ts';
import type { Part } from './icu-package.ts';

const prefixTag = 8;
const contractionTag = 9;
const leadSurrogateTag = 13;
const fallback = 0xc0;
const unassigned = 0xffffffff;

/** Words that hold for a string before (prefix) or behind (contraction) a character. */
export interface Context {
  readonly otherwise: number;
  readonly strings: (readonly [string, number])[];
}

/** One table. */
export interface CollationTable {
  /** ICU's option bits; the lead byte of numbers above them. */
  readonly options: number;
  readonly mappings: (readonly [codePoint: number, word: number])[];
  /** High and low halves of 64-bit elements, one after the other. */
  readonly elements: readonly number[];
  readonly words: readonly number[];
  readonly contexts: readonly Context[];
  /** Of the conjoining letters of Hangul; empty: those of the root. */
  readonly jamo: readonly number[];
  /** Lead bytes in another order; empty: the root's order. */
  readonly leadBytes: readonly number[];
  /** Pairs of (limit of primaries, added to the lead byte) where a lead byte is shared. */
  readonly leadRanges: readonly number[];
  /** Lead bytes that are compressed, of the root only. */
  readonly compressible: readonly number[];
  /** The last primaries of spaces and of punctuation, of the root only. */
  readonly variableTops: readonly number[];
}

const isSpecial = (word: number): boolean => (word & 0xff) >= 0xc0;
const tagOf = (word: number): number => (isSpecial(word) ? word & 15 : -1);

/** Reads one item or binary; `isRoot` where there is nothing to fall back to. */
export function readTable(item: Part, isRoot: boolean): CollationTable {
  const start = item.getUint16(0, true);
  const data = new DataView(item.buffer, item.byteOffset + start, item.byteLength - start);
  const indexes = Array.from({ length: data.getInt32(0, true) }, (_, i) => data.getInt32(4 * i, true));
  const at = (i: number): number => indexes[i] ?? 0;
  // A tailoring leaves out what stands at the end.
  const section = (i: number): Part => new DataView(data.buffer, data.byteOffset + at(i), i + 1 < indexes.length ? at(i + 1) - at(i) : 0);
  const longs = (i: number): number[] => Array.from({ length: section(i).byteLength >> 2 }, (_, k) => section(i).getUint32(4 * k, true));
  const bytes = (i: number): number[] => Array.from({ length: section(i).byteLength }, (_, k) => section(i).getUint8(k));
  const words = longs(11);
  const contexts = new Contexts(section(13));
  const pairs = longs(9);
  const trie = section(7).byteLength === 0 ? undefined : readTrie(section(7));
  const mappings: (readonly [number, number])[] = [];
  for (let codePoint = 0; trie !== undefined && codePoint <= 0x10ffff; codePoint++) {
    let word = trie.get(codePoint);
    if (codePoint === 0 && isRoot) word = words[0] ?? 0;
    if (tagOf(word) === leadSurrogateTag || word === (isRoot ? unassigned : fallback)) continue;
    mappings.push([codePoint, contexts.renumber(word)]);
  }
  const jamoStart = at(4);
  const codes = longs(5);
  const ranges = codes.filter((code) => (code & 0xffff0000) !== 0);
  return {
    options: at(1) >>> 0,
    mappings,
    elements: pairs.flatMap((_, i) => (i % 2 === 0 ? [pairs[i + 1] ?? 0, pairs[i] ?? 0] : [])),
    words: words.map((word) => contexts.renumber(word)),
    contexts: contexts.found,
    jamo: jamoStart < 0 ? [] : words.slice(jamoStart, jamoStart + 67),
    leadBytes: bytes(6),
    leadRanges: ranges,
    compressible: isRoot ? bytes(17) : [],
    variableTops: isRoot ? variableTops(section(16)) : [],
  };
}

function variableTops(scripts: Part): number[] {
  const count = scripts.getUint16(0, true);
  const starts = 2 * (1 + count + 16);
  return [0, 1].map((group) => {
    const index = scripts.getUint16(2 * (1 + count + group), true);
    return ((scripts.getUint16(starts + 2 * (index + 1), true) << 16) >>> 0) - 1;
  });
}

class Contexts {
  readonly #units: Part;
  readonly #ordinals: Map<number, number> = new Map();
  readonly found: Context[] = [];

  constructor(units: Part) {
    this.#units = units;
  }

  /** The word with an ordinal in the place of an offset, if it has one. */
  renumber(word: number): number {
    const tag = tagOf(word);
    if (tag !== prefixTag && tag !== contractionTag) return word;
    return ((this.#ordinalOf(word >>> 13) << 13) | (word & 0x1fff)) >>> 0;
  }

  #ordinalOf(offset: number): number {
    const known = this.#ordinals.get(offset);
    if (known !== undefined) return known;
    const ordinal = this.found.length;
    if (ordinal >= 1 << 19) throw new AssertionError('too many contexts');
    this.#ordinals.set(offset, ordinal);
    const strings: (readonly [string, number])[] = [];
    this.found.push({ otherwise: 0, strings });
    const otherwise = this.renumber(((this.#units.getUint16(2 * offset, true) << 16) | this.#units.getUint16(2 * offset + 2, true)) >>> 0);
    for (const [text, word] of readStringTrie(this.#units, offset + 2)) strings.push([text, this.renumber(word)]);
    this.found[ordinal] = { otherwise, strings };
    return ordinal;
  }
}
