// Which part of a partitioned collection a record key belongs to: the first whose largest key is not below it. Pure.

import { compareBytes } from '../../base/bytes.ts';
import type { KeyRange } from '../../engine/index.ts';
import type { RecordKey } from '../types.ts';

/** The bounds of all parts. */
export class PartitionRouter {
  readonly #maxima: readonly RecordKey[];

  /** Largest keys of all parts but the last, rising. */
  constructor(maxima: readonly RecordKey[]) {
    this.#maxima = maxima;
  }

  /** The place of the part that has the key. */
  find(key: RecordKey): number {
    let [low, high] = [0, this.#maxima.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compareBytes(this.#maxima[middle] as RecordKey, key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The parts that may have keys of a range, first and last. */
  span({ from, to }: KeyRange): { readonly first: number; readonly last: number } {
    const first = from === undefined ? 0 : this.find(from);
    const last = to === undefined ? this.#maxima.length : this.find(to);
    return { first, last: Math.max(first, last) };
  }
}
