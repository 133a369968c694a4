// Record keys that were seen: an open hash table over one arena of bytes, because a set of strings takes ten times the memory and a string
// made for every key four times the time (engine.md, "Rules for hot code" 1).

import { compareRange } from '../base/bytes.ts';

const tableMin = 1024;

/** A set of byte strings. */
export class KeySet {
  /** Entry number + 1 at the place its hash leads to; 0: free. A power of two, at most half full. */
  #table: Int32Array = new Int32Array(tableMin);
  #hashes: Int32Array = new Int32Array(tableMin / 2);
  /** Where each entry ends in the arena; it begins where the one before ends. */
  #ends: Uint32Array = new Uint32Array(tableMin / 2);
  #arena: Uint8Array = new Uint8Array(16 * tableMin);
  #count = 0;

  /** Whether the key was not in the set before. */
  add(key: Uint8Array): boolean {
    const hash = hashOf(key);
    const place = this.#find(key, hash);
    if (this.#table[place] !== 0) return false;
    this.#append(key, hash);
    this.#table[place] = this.#count;
    if (this.#count === this.#hashes.length) this.#grow();
    return true;
  }

  has(key: Uint8Array): boolean {
    return this.#table[this.#find(key, hashOf(key))] !== 0;
  }

  get size(): number {
    return this.#count;
  }

  /** What it takes in memory. */
  get bytes(): number {
    return this.#table.byteLength + this.#hashes.byteLength + this.#ends.byteLength + this.#arena.length;
  }

  /** The place of the key in the table, or the free one where it belongs. */
  #find(key: Uint8Array, hash: number): number {
    const mask = this.#table.length - 1;
    for (let place = hash & mask; ; place = (place + 1) & mask) {
      const entry = (this.#table[place] as number) - 1;
      if (entry < 0) return place;
      if (this.#hashes[entry] === hash && this.#isEntry(entry, key)) return place;
    }
  }

  #isEntry(entry: number, key: Uint8Array): boolean {
    const start = entry === 0 ? 0 : (this.#ends[entry - 1] as number);
    return compareRange(this.#arena, start, this.#ends[entry] as number, key, 0, key.length) === 0;
  }

  #append(key: Uint8Array, hash: number): void {
    const start = this.#count === 0 ? 0 : (this.#ends[this.#count - 1] as number);
    const end = start + key.length;
    if (end > this.#arena.length) {
      const arena = new Uint8Array(Math.max(end, 2 * this.#arena.length));
      arena.set(this.#arena.subarray(0, start));
      this.#arena = arena;
    }
    this.#arena.set(key, start);
    this.#hashes[this.#count] = hash;
    this.#ends[this.#count] = end;
    this.#count += 1;
  }

  #grow(): void {
    const size = 2 * this.#table.length;
    const hashes = new Int32Array(size / 2);
    const ends = new Uint32Array(size / 2);
    hashes.set(this.#hashes);
    ends.set(this.#ends);
    const table = new Int32Array(size);
    for (let entry = 0; entry < this.#count; entry++) {
      let place = (hashes[entry] as number) & (size - 1);
      while (table[place] !== 0) place = (place + 1) & (size - 1);
      table[place] = entry + 1;
    }
    this.#table = table;
    this.#hashes = hashes;
    this.#ends = ends;
  }
}

function hashOf(key: Uint8Array): number {
  let hash = -2128831035;
  for (const byte of key) hash = Math.imul(hash ^ byte, 16777619);
  // The low bits decide the place: mix the high ones in.
  return hash ^ (hash >>> 15);
}
