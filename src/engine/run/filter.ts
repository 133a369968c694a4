// Filters: a small table that says of a key, by its 32-bit hash, that it is certainly not in a part of an extent, or that it may be. An xor
// filter with fingerprints of eight bits: 1.23 bytes a key, wrong for one absent key of 256, never wrong for one that is there (law 28).
// Each filter covers some 2000 keys, so that one that is not in memory is one small read. Bytes in docs/file-format.md, "Filters".

import { assert } from '../../base/assert.ts';
import { EngineError } from '../../base/errors.ts';

/** A filter ends with the basement in which it has so many keys. */
export const filterKeys = 2048;

const headerBytes = 8;

/** The objects beside the bytes, roughly. */
const objectBytes = 200;

/** First mix of a hash; the others follow from it. */
function mixFirst(hash: number, seed: number): number {
  let mixed = Math.imul(hash ^ seed, 0x9e3779b1);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b);
  return mixed ^ (mixed >>> 13);
}

function mixSecond(first: number): number {
  const mixed = Math.imul(first ^ 0x7feb352d, 0x846ca68b);
  return Math.imul(mixed ^ (mixed >>> 16), 0x9e3779b1);
}

function mixThird(first: number, second: number): number {
  return Math.imul(first ^ (second >>> 16) ^ (second << 16), 0xc2b2ae35);
}

/** The cell of a mix among `third` cells: the whole part of mixed * third / 2^32, in whole numbers where these have room. */
function cellOf(mixed: number, third: number): number {
  if (third < 0x10000) return (Math.imul(mixed >>> 16, third) + (Math.imul(mixed & 0xffff, third) >>> 16)) >>> 16;
  return Math.floor(((mixed >>> 0) * third) / 0x100000000);
}

function fingerprintOf(first: number, second: number): number {
  return (first ^ second) & 0xff;
}

/** A filter in memory. Immutable. */
export class Filter {
  /** One that knows nothing: it stands for a filter that is damaged. */
  static readonly unknown: Filter = new Filter(undefined);
  /** Memory to charge to the budget. */
  readonly byteSize: number;
  readonly #bytes: Uint8Array;
  readonly #seed: number;
  /** Cells of each third; 0 in one that knows nothing. */
  readonly #third: number;

  /** Keeps `bytes`; what no builder wrote is `corruption`. */
  constructor(bytes: Uint8Array | undefined) {
    this.#bytes = bytes ?? new Uint8Array(0);
    this.#third = 0;
    this.#seed = 0;
    this.byteSize = this.#bytes.length + objectBytes;
    if (bytes === undefined) return;
    if (bytes.length <= headerBytes) throw new EngineError('corruption', 'a filter without cells');
    const view = new DataView(bytes.buffer, bytes.byteOffset, headerBytes);
    this.#seed = view.getUint32(0, true);
    this.#third = view.getUint32(4, true);
    if (this.#third * 3 !== bytes.length - headerBytes) throw new EngineError('corruption', 'a filter of a wrong length');
  }

  /** False only when no key of this hash is in the part that the filter covers. */
  mayHold(hash: number): boolean {
    const third = this.#third;
    if (third === 0) return true;
    const bytes = this.#bytes;
    const first = mixFirst(hash, this.#seed);
    const second = mixSecond(first);
    const cells =
      (bytes[headerBytes + cellOf(first, third)] as number) ^
      (bytes[headerBytes + third + cellOf(second, third)] as number) ^
      (bytes[headerBytes + 2 * third + cellOf(mixThird(first, second), third)] as number);
    return cells === fingerprintOf(first, second);
  }
}

/** Takes the hashes of the keys of one filter and writes it. Its memory is used again for the next. */
export class FilterBuilder {
  #hashes = new Uint32Array(2 * filterKeys);
  #count = 0;
  /** The three cells of each key, and its fingerprint. */
  #cells = new Uint32Array(0);
  #prints = new Uint8Array(0);
  /** Of each cell how many keys point to it, above the exclusive or of their numbers, which take so many bits. */
  #words = new Uint32Array(0);
  #bits = 0;
  /** Cells to which one key points, to be looked at. */
  #single = new Uint32Array(0);
  /** The keys in the order in which they were taken out, and the cell that each then had for itself. */
  #order = new Uint32Array(0);
  #own = new Uint32Array(0);

  /** Keys so far. */
  get count(): number {
    return this.#count;
  }

  /** What `finish` never exceeds. */
  get lengthMax(): number {
    return headerBytes + 3 * thirdFor(this.#count);
  }

  /** Takes a key's hash. The versions of a key follow one another; only the first of equal hashes in a row counts. */
  add(hash: number): void {
    const count = this.#count;
    if (count > 0 && this.#hashes[count - 1] === hash) return;
    if (count === this.#hashes.length) {
      const longer = new Uint32Array(count * 2);
      longer.set(this.#hashes);
      this.#hashes = longer;
    }
    this.#hashes[count] = hash;
    this.#count = count + 1;
  }

  /** Forgets all hashes. */
  clear(): void {
    this.#count = 0;
  }

  /** Writes the filter of all hashes, which are not none, to target[at...) and returns its length; the builder is empty afterwards. */
  finish(target: Uint8Array, at: number): number {
    assert(this.#count > 0, 'a filter has a key');
    let seed = 1;
    while (!this.#takeOut(seed)) {
      // Two keys of one hash are in each other's way with every seed.
      if (seed === 1) this.#dropEqual();
      seed += 1;
    }
    const third = thirdFor(this.#count);
    const length = headerBytes + 3 * third;
    const view = new DataView(target.buffer, target.byteOffset + at, length);
    view.setUint32(0, seed, true);
    view.setUint32(4, third, true);
    this.#fill(target.subarray(at + headerBytes, at + length));
    this.#count = 0;
    return length;
  }

  /** Takes keys out that have a cell for themselves until none is left; false when some are in each other's way. */
  #takeOut(seed: number): boolean {
    const third = thirdFor(this.#count);
    this.#reserve(third * 3);
    this.#enterAll(third, seed);
    if (this.#count > countedMax && !this.#isCounted(third * 3)) return false;
    const bits = this.#bits;
    const one = 1 << bits;
    const words = this.#words;
    const single = this.#single;
    const cells = this.#cells;
    const order = this.#order;
    const own = this.#own;
    let waiting = 0;
    for (let cell = 0; cell < third * 3; cell++) if ((words[cell] as number) >>> bits === 1) single[waiting++] = cell;
    let taken = 0;
    while (waiting > 0) {
      const cell = single[--waiting] as number;
      const key = (words[cell] as number) ^ one;
      // Taken out meanwhile by way of another cell.
      if (key >>> bits !== 0) continue;
      order[taken] = key;
      own[taken++] = cell;
      for (let at = 3 * key; at < 3 * key + 3; at++) {
        const other = cells[at] as number;
        const left = ((words[other] as number) ^ key) - one;
        words[other] = left;
        if (left >>> bits === 1) single[waiting++] = other;
      }
    }
    return taken === this.#count;
  }

  #enterAll(third: number, seed: number): void {
    const bits = 32 - Math.clz32(this.#count);
    const one = 1 << bits;
    const words = this.#words;
    const cells = this.#cells;
    const hashes = this.#hashes;
    const prints = this.#prints;
    words.fill(0, 0, third * 3);
    for (let i = 0, at = 0; i < this.#count; i++, at += 3) {
      const first = mixFirst(hashes[i] as number, seed);
      const second = mixSecond(first);
      const a = cellOf(first, third);
      const b = third + cellOf(second, third);
      const c = 2 * third + cellOf(mixThird(first, second), third);
      cells[at] = a;
      cells[at + 1] = b;
      cells[at + 2] = c;
      prints[i] = fingerprintOf(first, second);
      words[a] = ((words[a] as number) ^ i) + one;
      words[b] = ((words[b] as number) ^ i) + one;
      words[c] = ((words[c] as number) ^ i) + one;
    }
    this.#bits = bits;
  }

  /** Whether no cell has more keys than its word can count. */
  #isCounted(cells: number): boolean {
    let sum = 0;
    for (let cell = 0; cell < cells; cell++) sum += (this.#words[cell] as number) >>> this.#bits;
    return sum === 3 * this.#count;
  }

  /** Makes the three cells of each key give its fingerprint: last taken out first, so that nothing that is right is changed again. */
  #fill(target: Uint8Array): void {
    const cells = this.#cells;
    const order = this.#order;
    const own = this.#own;
    const prints = this.#prints;
    target.fill(0);
    for (let i = this.#count - 1; i >= 0; i--) {
      const key = order[i] as number;
      const at = 3 * key;
      const others = (target[cells[at] as number] as number) ^ (target[cells[at + 1] as number] as number) ^ (target[cells[at + 2] as number] as number);
      target[own[i] as number] = others ^ (prints[key] as number);
    }
  }

  #dropEqual(): void {
    const hashes = this.#hashes.subarray(0, this.#count).sort();
    let kept = 0;
    for (let i = 0; i < hashes.length; i++) if (i === 0 || hashes[i] !== hashes[i - 1]) hashes[kept++] = hashes[i] as number;
    this.#count = kept;
  }

  #reserve(cells: number): void {
    if (this.#words.length >= cells) return;
    this.#words = new Uint32Array(cells);
    this.#single = new Uint32Array(cells);
    this.#order = new Uint32Array(cells);
    this.#own = new Uint32Array(cells);
    this.#prints = new Uint8Array(cells);
    this.#cells = new Uint32Array(3 * cells);
  }
}

/** So many keys, all in one cell, are counted by what their numbers leave of its word. */
const countedMax = 0xffff;

/** Cells of each third for so many keys. */
function thirdFor(count: number): number {
  return Math.ceil((count * 1.23 + 32) / 3);
}
