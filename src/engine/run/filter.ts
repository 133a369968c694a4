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

/** The cell of a mix among `third` cells. */
function cellOf(mixed: number, third: number): number {
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
  /** For each cell how many of the hashes that are left point to it, and their exclusive or. */
  #degrees = new Uint32Array(0);
  #sums = new Uint32Array(0);
  /** Cells to which one hash points, to be looked at. */
  #single = new Uint32Array(0);
  /** The hashes in the order in which they were taken out, and the cell that each then had for itself. */
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
    this.#fill(target.subarray(at + headerBytes, at + length), third, seed);
    this.#count = 0;
    return length;
  }

  /** Takes hashes out that have a cell for themselves until none is left; false when some are in each other's way. */
  #takeOut(seed: number): boolean {
    const third = thirdFor(this.#count);
    this.#reserve(third * 3);
    this.#enterAll(third, seed);
    const degrees = this.#degrees;
    const sums = this.#sums;
    const single = this.#single;
    let waiting = 0;
    for (let cell = 0; cell < third * 3; cell++) if (degrees[cell] === 1) single[waiting++] = cell;
    let taken = 0;
    while (waiting > 0) {
      const cell = single[--waiting] as number;
      if (degrees[cell] !== 1) continue;
      const hash = sums[cell] as number;
      this.#order[taken] = hash;
      this.#own[taken++] = cell;
      const first = mixFirst(hash, seed);
      const second = mixSecond(first);
      const a = cellOf(first, third);
      const b = third + cellOf(second, third);
      const c = 2 * third + cellOf(mixThird(first, second), third);
      if (this.#leave(a, hash) === 1) single[waiting++] = a;
      if (this.#leave(b, hash) === 1) single[waiting++] = b;
      if (this.#leave(c, hash) === 1) single[waiting++] = c;
    }
    return taken === this.#count;
  }

  #enterAll(third: number, seed: number): void {
    const degrees = this.#degrees;
    const sums = this.#sums;
    degrees.fill(0, 0, third * 3);
    sums.fill(0, 0, third * 3);
    for (let i = 0; i < this.#count; i++) {
      const hash = this.#hashes[i] as number;
      const first = mixFirst(hash, seed);
      const second = mixSecond(first);
      const a = cellOf(first, third);
      const b = third + cellOf(second, third);
      const c = 2 * third + cellOf(mixThird(first, second), third);
      degrees[a] = (degrees[a] as number) + 1;
      degrees[b] = (degrees[b] as number) + 1;
      degrees[c] = (degrees[c] as number) + 1;
      sums[a] = (sums[a] as number) ^ hash;
      sums[b] = (sums[b] as number) ^ hash;
      sums[c] = (sums[c] as number) ^ hash;
    }
  }

  /** Takes a hash out of a cell and returns how many are left there. */
  #leave(cell: number, hash: number): number {
    this.#sums[cell] = (this.#sums[cell] as number) ^ hash;
    const left = (this.#degrees[cell] as number) - 1;
    this.#degrees[cell] = left;
    return left;
  }

  /** Makes the three cells of each hash give its fingerprint: last taken out first, so that nothing that is right is changed again. */
  #fill(cells: Uint8Array, third: number, seed: number): void {
    cells.fill(0);
    for (let i = this.#count - 1; i >= 0; i--) {
      const first = mixFirst(this.#order[i] as number, seed);
      const second = mixSecond(first);
      const others =
        (cells[cellOf(first, third)] as number) ^
        (cells[third + cellOf(second, third)] as number) ^
        (cells[2 * third + cellOf(mixThird(first, second), third)] as number);
      cells[this.#own[i] as number] = others ^ fingerprintOf(first, second);
    }
  }

  #dropEqual(): void {
    const hashes = this.#hashes.subarray(0, this.#count).sort();
    let kept = 0;
    for (let i = 0; i < hashes.length; i++) if (i === 0 || hashes[i] !== hashes[i - 1]) hashes[kept++] = hashes[i] as number;
    this.#count = kept;
  }

  #reserve(cells: number): void {
    if (this.#degrees.length >= cells) return;
    this.#degrees = new Uint32Array(cells);
    this.#sums = new Uint32Array(cells);
    this.#single = new Uint32Array(cells);
    this.#order = new Uint32Array(cells);
    this.#own = new Uint32Array(cells);
  }
}

/** Cells of each third for so many keys. */
function thirdFor(count: number): number {
  return Math.ceil((count * 1.23 + 32) / 3);
}
