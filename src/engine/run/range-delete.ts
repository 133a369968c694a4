// Range deletes: one message that removes every key of a range with a smaller seq (law 12). They are kept apart from points, beside a front's
// entries and beside the buffer of a node's child; since every message above a leaf carries its seq, their place among the runs of a buffer
// says nothing. At equal seq the point wins. A merge that includes the leaf ends them.

import { compareBytes, compareRange } from '../../base/bytes.ts';

/** Removes the keys from `from` (inside) to `to` (outside) whose seq is below `seq`. Absent: no bound; beside a child's buffer, the child's own bound. */
export interface RangeDelete {
  readonly from: Uint8Array | undefined;
  readonly to: Uint8Array | undefined;
  readonly seq: number;
}

/** Memory to charge for one, and what it counts in a front. */
export function rangeBytes(range: RangeDelete): number {
  return 96 + (range.from?.length ?? 0) + (range.to?.length ?? 0);
}

/** Whether a key lies in the range. */
export function coversKey(range: RangeDelete, key: Uint8Array): boolean {
  return (range.from === undefined || compareBytes(range.from, key) <= 0) && (range.to === undefined || compareBytes(key, range.to) < 0);
}

/** The newest seq of at most `seqMax` with which one of the ranges covers the key; 0: none does. */
export function coveringSeq(ranges: readonly RangeDelete[], key: Uint8Array, seqMax: number): number {
  let newest = 0;
  for (const range of ranges) if (range.seq <= seqMax && range.seq > newest && coversKey(range, key)) newest = range.seq;
  return newest;
}

/** Whether a range has no bound of its own: beside a buffer it covers the whole child. */
export function isWhole(range: RangeDelete): boolean {
  return range.from === undefined && range.to === undefined;
}

/** The parts of ranges that lie in [low, high); a bound that is not inside becomes absent. */
export function clipRanges(ranges: readonly RangeDelete[], low: Uint8Array | undefined, high: Uint8Array | undefined): RangeDelete[] {
  const clipped: RangeDelete[] = [];
  for (const { from, to, seq } of ranges) {
    if (to !== undefined && low !== undefined && compareBytes(to, low) <= 0) continue;
    if (from !== undefined && high !== undefined && compareBytes(from, high) >= 0) continue;
    clipped.push({
      from: from !== undefined && (low === undefined || compareBytes(from, low) > 0) ? from : undefined,
      to: to !== undefined && (high === undefined || compareBytes(to, high) < 0) ? to : undefined,
      seq,
    });
  }
  return clipped;
}

/** Both lists as one. An older range inside a newer one goes where no snapshot lies between them (law 11). */
export function joinRanges(newer: readonly RangeDelete[], older: readonly RangeDelete[], snapshots: Float64Array): readonly RangeDelete[] {
  if (newer.length === 0) return older;
  const joined: RangeDelete[] = [];
  for (const range of [...newer, ...older].sort((a, b) => b.seq - a.seq)) {
    const said = joined.some((other) => encloses(other, range) && !snapshots.some((snapshot) => snapshot >= range.seq && snapshot < other.seq));
    if (!said) joined.push(range);
  }
  return joined;
}

function encloses(outer: RangeDelete, inner: RangeDelete): boolean {
  const from = outer.from === undefined || (inner.from !== undefined && compareBytes(outer.from, inner.from) <= 0);
  return from && (outer.to === undefined || (inner.to !== undefined && compareBytes(inner.to, outer.to) <= 0));
}

/** Ranges cut at each other's bounds, to be asked by a merge with keys that only ascend. */
export class RangeCover {
  readonly #bounds: readonly Uint8Array[];
  /** For each piece between two bounds the seqs that cover it, ascending. */
  readonly #pieces: readonly (readonly number[])[];
  #at: number = 0;

  constructor(ranges: readonly RangeDelete[]) {
    const all = ranges.flatMap(({ from, to }) => [from, to]).filter((bound) => bound !== undefined).sort(compareBytes);
    this.#bounds = all.filter((bound, i) => i === 0 || compareBytes(bound, all[i - 1] as Uint8Array) !== 0);
    const pieces: number[][] = [];
    for (let piece = 0; piece <= this.#bounds.length; piece++) {
      const [low, high] = [this.#bounds[piece - 1], this.#bounds[piece]];
      const seqs = ranges.filter((range) => covers(range, low, high)).map(({ seq }) => seq);
      pieces.push([...new Set(seqs)].sort((a, b) => a - b));
    }
    this.#pieces = pieces;
  }

  /** The smallest seq above `seq` with which a range covers keys[start, end); Infinity: none does. */
  above(keys: Uint8Array, start: number, end: number, seq: number): number {
    const bounds = this.#bounds;
    for (let bound = bounds[this.#at]; bound !== undefined && compareRange(bound, 0, bound.length, keys, start, end) <= 0; bound = bounds[this.#at]) this.#at++;
    for (const covering of this.#pieces[this.#at] as readonly number[]) if (covering > seq) return covering;
    return Infinity;
  }
}

/** Whether a range covers the piece [low, high) between two neighbouring bounds. */
function covers({ from, to }: RangeDelete, low: Uint8Array | undefined, high: Uint8Array | undefined): boolean {
  const begins = from === undefined || (low !== undefined && compareBytes(from, low) <= 0);
  return begins && (to === undefined || (high !== undefined && compareBytes(high, to) <= 0));
}
