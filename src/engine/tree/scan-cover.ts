// The range deletes that an ordered read meets in one segment: asked first, on the path from the top, so that what they hide is not even
// descended into (law 12). Those of the transaction itself hide all that is committed; among its own writes the order of operations decides.

import { compareBytes } from '../../base/bytes.ts';
import { coveringSeq, coversKey } from '../run/range-delete.ts';
import type { RangeDelete } from '../run/range-delete.ts';
import type { ScanRange } from './scan-source.ts';

/** The range deletes of a segment. */
export class ScanCover {
  readonly #seq: number;
  #own: readonly RangeDelete[];
  #ranges: RangeDelete[] = [];

  /** `seq`: the snapshot; `own`: those of the transaction that count. */
  constructor(seq: number, own: readonly RangeDelete[]) {
    this.#seq = seq;
    this.#own = own;
  }

  get isEmpty(): boolean {
    return this.#own.length === 0 && this.#ranges.length === 0;
  }

  /** Adds those of the next level down that the snapshot sees. */
  add(ranges: readonly RangeDelete[]): void {
    for (const range of ranges) if (range.seq <= this.#seq) this.#ranges.push(range);
  }

  /** Forgets those of which no part is in [from, to). */
  clip({ from, to }: ScanRange): void {
    const isNear = (range: RangeDelete): boolean =>
      (from === undefined || range.to === undefined || compareBytes(range.to, from) > 0) && (to === undefined || range.from === undefined || compareBytes(range.from, to) < 0);
    this.#own = this.#own.filter(isNear);
    this.#ranges = this.#ranges.filter(isNear);
  }

  /** The furthest reaching range around `position`, where all that lies below the levels added is hidden; undefined: something may be there. */
  around(position: Uint8Array | undefined, forward: boolean): ScanRange | undefined {
    let best: RangeDelete | undefined;
    for (const range of [...this.#own, ...this.#ranges]) {
      const covers = forward ? coversFrom(range, position) : coversUpTo(range, position);
      if (covers && (best === undefined || reachesFurther(range, best, forward))) best = range;
    }
    return best;
  }

  /** Messages of `key` with a smaller seq are hidden. */
  hiddenBelow(key: Uint8Array, isOwn: boolean): number {
    if (isOwn) return coveringSeq(this.#own, key, Infinity);
    return this.#own.some((range) => coversKey(range, key)) ? Infinity : coveringSeq(this.#ranges, key, Infinity);
  }
}

function coversFrom(range: RangeDelete, position: Uint8Array | undefined): boolean {
  return position === undefined ? range.from === undefined : coversKey(range, position);
}

/** Whether the keys just before `position` are in the range. */
function coversUpTo({ from, to }: RangeDelete, position: Uint8Array | undefined): boolean {
  if (position === undefined) return to === undefined;
  return (to === undefined || compareBytes(position, to) <= 0) && (from === undefined || compareBytes(from, position) < 0);
}

/** Whether `a` reaches further in the direction of the scan than `b`. */
function reachesFurther(a: RangeDelete, b: RangeDelete, forward: boolean): boolean {
  const [far, other] = forward ? [a.to, b.to] : [a.from, b.from];
  if (far === undefined || other === undefined) return far === undefined && other !== undefined;
  return forward ? compareBytes(far, other) > 0 : compareBytes(far, other) < 0;
}
