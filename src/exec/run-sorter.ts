// Sorts documents in memory without ever working long at once: runs of a few thousand are sorted as they fill, and merged as they are read.

import { BinaryHeap } from '../base/binary-heap.ts';
import { compareBytes } from '../base/bytes.ts';
import type { Document } from '../bson/index.ts';
import { MEMORY_BYTES_MAX, outOfMemory } from './memory.ts';

/** A document with the bytes it is sorted by; `order` decides between equal ones. */
export interface Entry {
  readonly key: Uint8Array;
  readonly document: Document;
  readonly order: number;
}

/** The order of the sort. */
export function compareEntries(left: Entry, right: Entry): number {
  return compareBytes(left.key, right.key) || left.order - right.order;
}

/** So many entries are sorted in one go: about a millisecond's work. */
export const RUN_ENTRIES = 2048;

/** About how many bytes an entry holds. */
export function sizeOfEntry({ key, document }: Entry): number {
  return key.length + document.byteLength + 64;
}

/** Sorted runs of what has been seen, merged as they are read, so that no long work is ever done at once. */
export class RunSorter<E extends Entry = Entry> {
  readonly #stage: string;
  readonly #runs: E[][] = [];
  #open: E[] = [];
  #bytes = 0;

  /** Beyond 100 MB it refuses in the name of `stage`. */
  constructor(stage: string) {
    this.#stage = stage;
  }

  add(entry: E): void {
    this.#open.push(entry);
    this.#bytes += sizeOfEntry(entry);
    if (this.#bytes > MEMORY_BYTES_MAX) throw outOfMemory(this.#stage);
    if (this.#open.length >= RUN_ENTRIES) this.#close();
  }

  *results(limit: number): Generator<E, void> {
    this.#close();
    const heap = new BinaryHeap<{ run: E[]; at: number; entry: E }>((left, right) => compareEntries(left.entry, right.entry));
    const push = (run: E[], at: number): void => {
      const entry = run[at];
      if (entry !== undefined) heap.push({ run, at, entry });
    };
    for (const run of this.#runs) push(run, 0);
    for (let given = 0; given < limit; given++) {
      const least = heap.pop();
      if (least === undefined) return;
      push(least.run, least.at + 1);
      yield least.entry;
    }
  }

  #close(): void {
    if (this.#open.length > 0) this.#runs.push(this.#open.sort(compareEntries));
    this.#open = [];
  }
}
