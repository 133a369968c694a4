// The free space of the data file, in units: which extents are free, best fit for a request, neighbours joined when space comes back.
// Of equal fits the lowest is taken, so the file fills from its front and its tail can be cut. Knows nothing of files. Invariants: free
// extents neither overlap nor touch; everything from 0 to `end` is either free or given out.

import { assert, must } from '../../base/assert.ts';
import { BinaryHeap } from '../../base/binary-heap.ts';

/** Free starts of one length that are looked at when a place must keep its distance. */
const startsTriedMax = 8;

/** Starts of extents that are no more which a heap may hold beyond twice its live ones. */
const heapSlack = 64;

/** The free extents of one length. */
class SameLength {
  /** How many there are; the heap may hold more, of extents that are no more. */
  live = 0;
  starts = new BinaryHeap<number>((a, b) => a - b);
}

/** Units [0, end), some free. */
export class Space {
  /** Free extents by where they begin and by where they end. */
  readonly #lengthAt = new Map<number, number>();
  readonly #startOfEnd = new Map<number, number>();
  readonly #byLength = new Map<number, SameLength>();
  /** The lengths that there are, ascending. */
  readonly #lengths: number[] = [];
  #freeUnits = 0;
  #end: number;

  /** All of [0, end) is given out at first. */
  constructor(end: number) {
    this.#end = end;
  }

  get end(): number {
    return this.#end;
  }

  get freeUnits(): number {
    return this.#freeUnits;
  }

  /** Free units that touch the end. */
  get tailUnits(): number {
    const start = this.#startOfEnd.get(this.#end);
    return start === undefined ? 0 : this.#end - start;
  }

  /** Number of free extents. */
  get extents(): number {
    return this.#lengthAt.size;
  }

  /** Gives out `units` in one piece that ends at `limit` or before, and returns where they begin, or -1. */
  take(units: number, limit: number = Infinity): number {
    assert(units > 0, 'something is asked for');
    for (let i = this.#atLeast(units); i < this.#lengths.length; i++) {
      const length = this.#lengths[i] as number;
      const start = this.#lowest(length);
      if (start + units > limit) continue;
      this.#carve(start, length, start, units);
      return start;
    }
    return -1;
  }

  /** As `take`, at least `distance` units before or behind [from, from + units). */
  takeApart(units: number, from: number, distance: number, limit: number = Infinity): number {
    for (let i = this.#atLeast(units); i < this.#lengths.length; i++) {
      const length = this.#lengths[i] as number;
      for (const start of this.#someStarts(length)) {
        const at = apart(start, length, units, { from, distance });
        if (at < 0 || at + units > limit) continue;
        this.#carve(start, length, at, units);
        return at;
      }
    }
    return -1;
  }

  /** Takes back what was given out. */
  free(start: number, units: number): void {
    assert(units > 0 && start >= 0 && start + units <= this.#end, 'freed space lies within the file');
    assert(!this.#lengthAt.has(start) && !this.#startOfEnd.has(start + units), 'space is freed once');
    this.#freeUnits += units;
    let from = start;
    let to = start + units;
    const before = this.#startOfEnd.get(start);
    if (before !== undefined) {
      this.#remove(before, start - before);
      from = before;
    }
    const behind = this.#lengthAt.get(to);
    if (behind !== undefined) {
      this.#remove(to, behind);
      to += behind;
    }
    this.#add(from, to - from);
  }

  /** Moves the end up; what is new is given out. Returns where it begins. */
  grow(units: number): number {
    const start = this.#end;
    this.#end += units;
    return start;
  }

  /** Cuts `units` free ones off the end. */
  cut(units: number): void {
    const tail = this.tailUnits;
    assert(units > 0 && units <= tail, 'only a free tail is cut');
    const start = this.#end - tail;
    this.#remove(start, tail);
    this.#freeUnits -= units;
    this.#end -= units;
    if (tail > units) this.#add(start, tail - units);
  }

  /** The free extents in order: for tests and `verify`. */
  freeExtents(): { start: number; units: number }[] {
    return [...this.#lengthAt].map(([start, units]) => ({ start, units })).sort((a, b) => a.start - b.start);
  }

  /** Gives out [at, at + units) of the free extent [start, start + length). */
  #carve(start: number, length: number, at: number, units: number): void {
    this.#remove(start, length);
    if (at > start) this.#add(start, at - start);
    const end = start + length;
    if (at + units < end) this.#add(at + units, end - at - units);
    this.#freeUnits -= units;
  }

  #add(start: number, length: number): void {
    this.#lengthAt.set(start, length);
    this.#startOfEnd.set(start + length, start);
    let same = this.#byLength.get(length);
    if (same === undefined) {
      same = new SameLength();
      this.#byLength.set(length, same);
      this.#lengths.splice(this.#atLeast(length), 0, length);
    }
    same.live++;
    same.starts.push(start);
    if (same.starts.size > 2 * same.live + heapSlack) this.#rebuild(length, same);
  }

  /** The start stays in the heap of its length until it is met there. */
  #remove(start: number, length: number): void {
    this.#lengthAt.delete(start);
    this.#startOfEnd.delete(start + length);
    const same = must(this.#byLength.get(length), 'a free extent is listed under its length');
    same.live--;
    if (same.live > 0) return;
    this.#byLength.delete(length);
    this.#lengths.splice(this.#atLeast(length), 1);
  }

  #rebuild(length: number, same: SameLength): void {
    const starts = new Set<number>();
    for (let start = same.starts.pop(); start !== undefined; start = same.starts.pop()) {
      if (this.#lengthAt.get(start) === length) starts.add(start);
    }
    for (const start of starts) same.starts.push(start);
  }

  /** The lowest free extent of a length that there is. */
  #lowest(length: number): number {
    const same = must(this.#byLength.get(length), 'a length has extents');
    for (;;) {
      const start = must(same.starts.peek(), 'an extent is in the heap of its length');
      if (this.#lengthAt.get(start) === length) return start;
      same.starts.pop();
    }
  }

  /** Up to `startsTriedMax` starts of free extents of one length, lowest first. */
  #someStarts(length: number): Set<number> {
    const found = new Set<number>();
    const same = must(this.#byLength.get(length), 'a length has extents');
    while (found.size < Math.min(startsTriedMax, same.live)) {
      found.add(this.#lowest(length));
      same.starts.pop();
    }
    for (const start of found) same.starts.push(start);
    return found;
  }

  /** The first index into the lengths with `units` or more. */
  #atLeast(units: number): number {
    let low = 0;
    let high = this.#lengths.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#lengths[middle] as number) < units) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Where in a free extent a piece lies far enough from [from, from + units), or -1. */
function apart(start: number, length: number, units: number, other: { from: number; distance: number }): number {
  const { from, distance } = other;
  if (start + units + distance <= from) return start;
  const at = Math.max(start, from + units + distance);
  return at + units <= start + length ? at : -1;
}
