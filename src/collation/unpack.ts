// Reads packed collation data (data.ts). A table is base64 of: its length (4 bytes), then LZ4 of
//
//   options (4 bytes); elements, words, conjoining letters, ranges of lead bytes, variable tops: each a count and 4 bytes a piece;
//   lead bytes, compressible bytes: each a count and the bytes;
//   contexts: count; each the word otherwise (4 bytes), count of strings; each a count of code points, the code points, a word (4 bytes);
//   mappings: count, steps of code points (signed, less one), steps of words; in order of words
//
// Counts, steps and code points take seven bits a byte, the least first.

import { must } from '../base/assert.ts';
import { decodeBase64 } from '../base/base64.ts';
import { decompressLz4 } from '../base/lz4.ts';

class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(text: string) {
    const bytes = must(decodeBase64(text), 'packed data');
    this.#bytes = new Uint8Array(new DataView(bytes.buffer, bytes.byteOffset).getUint32(0));
    decompressLz4(bytes.subarray(4), this.#bytes);
  }

  byte(): number {
    return this.#bytes[this.#at++] as number;
  }

  word(): number {
    return ((this.byte() << 24) | (this.byte() << 16) | (this.byte() << 8) | this.byte()) >>> 0;
  }

  count(): number {
    let value = 0;
    let factor = 1;
    for (;;) {
      const byte = this.byte();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
      factor *= 128;
    }
  }

  signed(): number {
    const value = this.count();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  words(): Uint32Array {
    return Uint32Array.from({ length: this.count() }, () => this.word());
  }

  counts(): number[] {
    return Array.from({ length: this.count() }, () => this.count());
  }

  bytes(): Uint8Array {
    return Uint8Array.from({ length: this.count() }, () => this.byte());
  }
}

/** A step in the strings of a context. */
export interface ContextNode {
  /** The word of the string that ends here; -1: none does. */
  word: number;
  readonly next: Map<number, ContextNode>;
}

/** What holds for some strings before or behind a character, and what otherwise. */
export interface Context {
  readonly otherwise: number;
  readonly root: ContextNode;
}

const pageBits = 7;
const pageSize = 1 << pageBits;

/** Words by code point. */
class WordMap {
  readonly #pages: (Uint32Array | undefined)[] = new Array<Uint32Array | undefined>(0x110000 >> pageBits).fill(undefined);
  readonly #otherwise: number;

  constructor(otherwise: number) {
    this.#otherwise = otherwise;
  }

  set(codePoint: number, word: number): void {
    const page = (this.#pages[codePoint >> pageBits] ??= new Uint32Array(pageSize).fill(this.#otherwise));
    page[codePoint & (pageSize - 1)] = word;
  }

  get(codePoint: number): number {
    const page = this.#pages[codePoint >> pageBits];
    return page === undefined ? this.#otherwise : (page[codePoint & (pageSize - 1)] as number);
  }
}

/** One table as it is used. Words are ICU's CE32; their tags are read in elements.ts. */
export interface ElementTable {
  readonly options: number;
  readonly elements: Uint32Array;
  readonly words: Uint32Array;
  readonly jamo: Uint32Array;
  readonly leadRanges: Uint32Array;
  readonly variableTops: Uint32Array;
  readonly leadBytes: Uint8Array;
  readonly compressible: Uint8Array;
  readonly contexts: readonly Context[];
  wordOf(codePoint: number): number;
}

/** Unpacks a table; code points that it does not have get `otherwise`. */
export function unpackTable(text: string, otherwise: number): ElementTable {
  const reader = new Reader(text);
  const head = {
    options: reader.word(),
    elements: reader.words(),
    words: reader.words(),
    jamo: reader.words(),
    leadRanges: reader.words(),
    variableTops: reader.words(),
    leadBytes: reader.bytes(),
    compressible: reader.bytes(),
  };
  const contexts = Array.from({ length: reader.count() }, () => readContext(reader));
  const map = new WordMap(otherwise);
  const points = new Int32Array(reader.count());
  let last = -1;
  for (let i = 0; i < points.length; i++) {
    last += reader.signed() + 1;
    points[i] = last;
  }
  let word = 0;
  for (const point of points) {
    word += reader.count();
    map.set(point, word);
  }
  return { ...head, contexts, wordOf: (codePoint) => map.get(codePoint) };
}

function readContext(reader: Reader): Context {
  const otherwise = reader.word();
  const root: ContextNode = { word: -1, next: new Map() };
  for (let rest = reader.count(); rest > 0; rest--) {
    let node = root;
    for (const point of reader.counts()) {
      let next = node.next.get(point);
      if (next === undefined) node.next.set(point, (next = { word: -1, next: new Map() }));
      node = next;
    }
    node.word = reader.word();
  }
  return { otherwise, root };
}

/** Canonical decompositions, and ranks of combining marks. */
export interface NormalForms {
  readonly decompositions: ReadonlyMap<number, readonly number[]>;
  readonly ranks: ReadonlyMap<number, number>;
}

/** Unpacks what normalizing needs. */
export function unpackNormalForms(text: string): NormalForms {
  const reader = new Reader(text);
  const decompositions = new Map<number, readonly number[]>();
  let last = 0;
  for (let rest = reader.count(); rest > 0; rest--) {
    last += reader.count();
    decompositions.set(last, reader.counts());
  }
  const ranks = new Map<number, number>();
  last = 0;
  for (let rest = reader.count(); rest > 0; rest--) {
    last += reader.signed();
    ranks.set(last, reader.count());
  }
  return { decompositions, ranks };
}
