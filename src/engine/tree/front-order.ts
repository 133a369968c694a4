// The entries of a front in order: pieces of entry numbers, each sorted by (key ascending, seq descending). Only what came since the last time
// is sorted, and pieces merge by doubling, so ordered reads between writes have no cliff (law 27). A piece that was given never changes.

import { commonPrefix, compareEntries, keyPrefix } from './front-image.ts';
import type { FrontImage } from './front-image.ts';

/** What is put in order. */
interface Ordered {
  readonly count: number;
  image(): FrontImage;
}

const nothing = new Uint32Array(0);

/** Sorted pieces of one front. */
export class FrontOrder {
  /** That of a front which nobody has read in order yet: there may be 50,000. Ordering gives it a new one. */
  static readonly none: FrontOrder = new FrontOrder();
  #pieces: Uint32Array[] = [];
  /** Entries before this one are in the pieces. */
  #sorted: number = 0;

  /** Memory held. */
  get byteSize(): number {
    let size = 0;
    for (const piece of this.#pieces) size += piece.byteLength;
    return size;
  }

  /** Pieces of all entries that there are now. */
  upTo(front: Ordered): readonly Uint32Array[] {
    const { count } = front;
    if (this.#sorted === count) return this.#pieces;
    const image = front.image();
    const pieces = this.#pieces;
    pieces.push(sort(image, this.#sorted, count));
    this.#sorted = count;
    for (;;) {
      const last = pieces.at(-1);
      const before = pieces.at(-2);
      if (last === undefined || before === undefined || before.length > last.length * 2) return pieces;
      pieces.splice(-2, 2, merge(image, before, last));
    }
  }

  /** All entries in one piece. */
  whole(front: Ordered): Uint32Array {
    const pieces = [...this.upTo(front)];
    if (pieces.length > 1) {
      const image = front.image();
      while (pieces.length > 1) {
        const last = pieces.pop() as Uint32Array;
        const before = pieces.pop() as Uint32Array;
        pieces.push(merge(image, before, last));
      }
      this.#pieces = pieces;
    }
    return pieces[0] ?? nothing;
  }
}

/** Sorts by a 64-bit number of key prefix and index in the native sort, then orders what has equal prefixes. */
function sort(image: FrontImage, from: number, to: number): Uint32Array {
  const length = to - from;
  const skip = commonPrefix(image, from, to);
  const numbers = new BigUint64Array(length);
  const halves = new Uint32Array(numbers.buffer);
  for (let i = 0; i < length; i++) {
    halves[i * 2] = i;
    halves[i * 2 + 1] = keyPrefix(image, from + i, skip);
  }
  numbers.sort();
  const order = new Uint32Array(length);
  for (let i = 0; i < length; i++) order[i] = from + (halves[i * 2] as number);
  for (let i = 0; i < length; ) {
    let end = i + 1;
    while (end < length && halves[end * 2 + 1] === halves[i * 2 + 1]) end++;
    if (end - i > 1) order.subarray(i, end).sort((a, b) => compareEntries(image, a, b));
    i = end;
  }
  return order;
}

function merge(image: FrontImage, a: Uint32Array, b: Uint32Array): Uint32Array {
  const merged = new Uint32Array(a.length + b.length);
  let i = 0;
  let j = 0;
  for (let at = 0; at < merged.length; at++) {
    const takeA = j >= b.length || (i < a.length && compareEntries(image, a[i] as number, b[j] as number) < 0);
    merged[at] = takeA ? (a[i++] as number) : (b[j++] as number);
  }
  return merged;
}
