// Sorted byte strings in one slab, and the search in them: the one binary search behind runs, fences and pivots. The common prefix of all
// keys is compared once, then four bytes of each key as one number (its head), and bytes only where heads are equal (engine.md, "Rules for
// hot code" 2). Keys ascend; equal keys may follow one another (versions).

import { assert } from '../../base/assert.ts';
import { compareRange } from '../../base/bytes.ts';

/** Length of what a[aStart, aEnd) and b[bStart, bEnd) have in common from their beginnings. */
export function sharedPrefix(a: Uint8Array, aStart: number, aEnd: number, b: Uint8Array, bStart: number, bEnd: number): number {
  const length = Math.min(aEnd - aStart, bEnd - bStart);
  let at = 0;
  while (at < length && a[aStart + at] === b[bStart + at]) at++;
  return at;
}

/** The four bytes from `at` on as a number in the order of bytes; what lies at or behind `end` counts as zero. */
function headAt(bytes: Uint8Array, at: number, end: number): number {
  if (at + 4 <= end) {
    return (((bytes[at] as number) << 24) | ((bytes[at + 1] as number) << 16) | ((bytes[at + 2] as number) << 8) | (bytes[at + 3] as number)) >>> 0;
  }
  let head = 0;
  for (let i = 0; i < 4; i++) head = head * 256 + (at + i < end ? (bytes[at + i] as number) : 0);
  return head;
}

/** An immutable ascending list of keys. It owns nothing: the arrays are those of whoever made it, and are not written to any more. */
export class SortedKeys {
  readonly count: number;
  /** Key i is bytes[offsets[i], offsets[i + 1]). */
  readonly bytes: Uint8Array;
  readonly offsets: Uint32Array;
  /** Bytes that all keys begin with. */
  readonly prefixLength: number;
  readonly #heads: Uint32Array;
  #hasHeads: boolean = false;

  /** `heads` has room for `count` numbers and belongs to the list from now on; it may be memory of the caller's. */
  constructor(bytes: Uint8Array, offsets: Uint32Array, count: number, heads: Uint32Array = new Uint32Array(count)) {
    assert(offsets.length > count && heads.length >= count, 'there is an offset behind the last key and a head for each');
    this.bytes = bytes;
    this.offsets = offsets;
    this.count = count;
    this.prefixLength = count === 0 ? 0 : commonPrefix(bytes, offsets, count);
    this.#heads = heads;
  }

  /** Heads are had when something is looked for: most runs are only read from end to end. */
  #fillHeads(): void {
    const { bytes, offsets, prefixLength } = this;
    for (let i = 0; i < this.count; i++) this.#heads[i] = headAt(bytes, (offsets[i] as number) + prefixLength, offsets[i + 1] as number);
    this.#hasHeads = true;
  }

  /** A list of copies of `keys`, which ascend. */
  static from(keys: readonly Uint8Array[]): SortedKeys {
    const offsets = new Uint32Array(keys.length + 1);
    keys.forEach((key, i) => (offsets[i + 1] = (offsets[i] as number) + key.length));
    const bytes = new Uint8Array(offsets[keys.length] as number);
    keys.forEach((key, i) => {
      bytes.set(key, offsets[i]);
    });
    return new SortedKeys(bytes, offsets, keys.length);
  }

  /** A view of key i. */
  key(index: number): Uint8Array {
    return this.bytes.subarray(this.offsets[index], this.offsets[index + 1]);
  }

  /** Negative, zero or positive as key i is before, equal to or after `key`. */
  compare(index: number, key: Uint8Array): number {
    return compareRange(this.bytes, this.offsets[index] as number, this.offsets[index + 1] as number, key, 0, key.length);
  }

  /** Negative, zero or positive as key a is before, equal to or after key b of the same list. */
  compareWithin(a: number, b: number): number {
    const { bytes, offsets } = this;
    return compareRange(bytes, offsets[a] as number, offsets[a + 1] as number, bytes, offsets[b] as number, offsets[b + 1] as number);
  }

  equals(index: number, key: Uint8Array): boolean {
    const start = this.offsets[index] as number;
    const length = (this.offsets[index + 1] as number) - start;
    if (length !== key.length) return false;
    const bytes = this.bytes;
    for (let i = length - 1; i >= 0; i--) if (bytes[start + i] !== key[i]) return false;
    return true;
  }

  /** The first index in [start, end) whose key is `key` or greater; `end` when there is none. */
  lowerBound(key: Uint8Array, start = 0, end: number = this.count): number {
    return this.#search(key, start, end, 0);
  }

  /** The first index in [start, end) whose key is greater than `key`; `end` when there is none. */
  upperBound(key: Uint8Array, start = 0, end: number = this.count): number {
    return this.#search(key, start, end, 1);
  }

  /** The first index whose key is `key` or greater (`past` 0), or greater (`past` 1). */
  #search(key: Uint8Array, start: number, end: number, past: number): number {
    if (start >= end) return end;
    const skip = this.prefixLength;
    const beside = this.#besidePrefix(key, start);
    if (beside !== 0) return beside < 0 ? start : end;
    if (!this.#hasHeads) this.#fillHeads();
    const wanted = headAt(key, skip, key.length);
    const heads = this.#heads;
    let low = start;
    let high = end;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const head = heads[middle] as number;
      if (head < wanted || (head === wanted && this.#compareFrom(middle, key, skip) < past)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Negative when `key` is before all keys by their common prefix alone, positive when after, 0 when it has the prefix. */
  #besidePrefix(key: Uint8Array, any: number): number {
    const skip = this.prefixLength;
    const bytes = this.bytes;
    const start = this.offsets[any] as number;
    for (let i = 0; i < skip; i++) {
      if (i >= key.length) return -1;
      const difference = (key[i] as number) - (bytes[start + i] as number);
      if (difference !== 0) return difference;
    }
    return 0;
  }

  /** Compares key i with `key`, both of which have the prefix. */
  #compareFrom(index: number, key: Uint8Array, skip: number): number {
    const bytes = this.bytes;
    const start = (this.offsets[index] as number) + skip;
    const length = (this.offsets[index + 1] as number) - start;
    const keyLength = key.length - skip;
    const common = length < keyLength ? length : keyLength;
    for (let i = 0; i < common; i++) {
      const difference = (bytes[start + i] as number) - (key[skip + i] as number);
      if (difference !== 0) return difference;
    }
    return length - keyLength;
  }
}

/** Of sorted keys the first and the last share the least. */
function commonPrefix(bytes: Uint8Array, offsets: Uint32Array, count: number): number {
  const first = offsets[0] as number;
  const last = offsets[count - 1] as number;
  return sharedPrefix(bytes, first, offsets[1] as number, bytes, last, offsets[count] as number);
}
