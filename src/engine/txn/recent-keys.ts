// Which keys were committed lately, and when: what makes first-updater-wins work without reading the tree (law 4). It reaches back to the
// oldest snapshot of a transaction that may write; when none is open it is empty and free. When it must forget, its floor rises, and a
// writer whose snapshot is below the floor gets `write-conflict`.

import { hash52 } from '../../base/hash.ts';
import { coveringSeq } from '../run/range-delete.ts';
import type { RangeDelete } from '../run/range-delete.ts';

/** Memory charged for an entry. */
export const recentKeyBytes = 48;

/** Most range deletes of one dictionary that are remembered. */
const rangesMax = 64;

/** Keys (by 52-bit hash) with the seq of their last commit, and range deletes. */
export class RecentKeys {
  readonly #entriesMax: number;
  readonly #seqs: Map<number, number> = new Map();
  readonly #writers: Map<number, number> = new Map();
  readonly #ranges: Map<number, RangeDelete[]> = new Map();
  #floor: number = 0;

  constructor(entriesMax: number) {
    this.#entriesMax = entriesMax;
  }

  get size(): number {
    return this.#seqs.size;
  }

  /** Whether any open transaction would ask. */
  get isAsked(): boolean {
    return this.#writers.size > 0;
  }

  /** A transaction that may write and must see conflicts begins at `snapshot`, which is the newest visible seq. */
  open(snapshot: number): void {
    if (this.#writers.size === 0) {
      this.#seqs.clear();
      this.#ranges.clear();
      this.#floor = snapshot;
    }
    this.#writers.set(snapshot, (this.#writers.get(snapshot) ?? 0) + 1);
  }

  close(snapshot: number): void {
    const left = (this.#writers.get(snapshot) ?? 0) - 1;
    if (left > 0) this.#writers.set(snapshot, left);
    else this.#writers.delete(snapshot);
    if (this.#writers.size > 0) return;
    this.#seqs.clear();
    this.#ranges.clear();
  }

  /** Notes that the key was committed at `seq`; removals too. */
  add(dictionary: number, bytes: Uint8Array, seq: number): void {
    if (this.#writers.size === 0) return;
    const key = hash52(dictionary, bytes);
    // The newest last, so that what is forgotten first is what is oldest.
    this.#seqs.delete(key);
    this.#seqs.set(key, seq);
    if (this.#seqs.size > this.#entriesMax) this.#forget();
  }

  /** Notes that all keys of a range were removed. */
  addRange(dictionary: number, range: RangeDelete): void {
    if (this.#writers.size === 0) return;
    const ranges = this.#ranges.get(dictionary) ?? [];
    ranges.unshift(range);
    const forgotten = ranges.length > rangesMax ? ranges.pop() : undefined;
    if (forgotten !== undefined) this.#floor = Math.max(this.#floor, forgotten.seq);
    this.#ranges.set(dictionary, ranges);
  }

  /** Whether a key was removed with a range after `snapshot`. */
  removedSince(dictionary: number, key: Uint8Array, snapshot: number): boolean {
    const ranges = this.#ranges.size === 0 ? undefined : this.#ranges.get(dictionary);
    return ranges !== undefined && coveringSeq(ranges, key, Infinity) > snapshot;
  }

  #forget(): void {
    let left = Math.max(1, this.#seqs.size >>> 3);
    for (const [key, seq] of this.#seqs) {
      if (left-- === 0) break;
      this.#seqs.delete(key);
      if (seq > this.#floor) this.#floor = seq;
    }
  }

  /** Whether somebody committed the key of that hash after `snapshot`, as far as is known; true when it is not known any more. */
  conflicts(key: number, snapshot: number): boolean {
    if (snapshot < this.#floor) return true;
    const seq = this.#seqs.get(key);
    return seq !== undefined && seq > snapshot;
  }
}
