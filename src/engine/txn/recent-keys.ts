// Which keys were committed lately, and when: what makes first-updater-wins work without reading the tree (law 4). It reaches back to the
// oldest snapshot of a transaction that may write; when none is open it is empty and free. When it must forget, its floor rises, and a
// writer whose snapshot is below the floor gets `write-conflict`.

import { hash52 } from '../../base/hash.ts';

/** Memory charged for an entry. */
export const recentKeyBytes = 48;

/** Keys (by 52-bit hash) with the seq of their last commit. */
export class RecentKeys {
  readonly #entriesMax: number;
  readonly #seqs: Map<number, number> = new Map();
  readonly #writers: Map<number, number> = new Map();
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
      this.#floor = snapshot;
    }
    this.#writers.set(snapshot, (this.#writers.get(snapshot) ?? 0) + 1);
  }

  close(snapshot: number): void {
    const left = (this.#writers.get(snapshot) ?? 0) - 1;
    if (left > 0) this.#writers.set(snapshot, left);
    else this.#writers.delete(snapshot);
    if (this.#writers.size === 0) this.#seqs.clear();
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
