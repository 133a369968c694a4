// Sources of an ordered scan: each gives runs one after the other, in the direction of the scan, within a range of keys. A front gives
// slices of itself as small runs; an extent gives its basements. Both give whole groups of versions of a key, but for an extent whose
// basement boundary cuts a group.

import { compareBytes } from '../../base/bytes.ts';
import { emptySlice } from '../run/message.ts';
import { RunBuilder } from '../run/run-builder.ts';
import type { Run } from '../run/run.ts';
import type { Front } from './front.ts';
import { compareEntries } from './front-image.ts';
import type { FrontImage } from './front-image.ts';
import type { Extent } from './node.ts';
import { basementRun, missOf } from './lookup.ts';
import type { PartsInMemory } from './lookup.ts';
import type { WantedRows } from './scan-view.ts';
import type { Chain, TakenBack } from './spilled.ts';
import type { Miss } from './tree.ts';

/** Bounds of a part of a scan; absent: open. `from` is inside, `to` outside. */
export interface ScanRange {
  readonly from: Uint8Array | undefined;
  readonly to: Uint8Array | undefined;
}

/** The window of a source that the scan stands in: entries [start, end) of a run. */
export interface Window {
  readonly run: Run;
  readonly start: number;
  readonly end: number;
  /** Whether the first group of the run may have begun in the run before it. */
  readonly cutBefore: boolean;
  /** Whether the last group of the run goes on in the run behind it. */
  readonly cutAfter: boolean;
}

export interface ScanSource {
  /** The seq of all its messages, where they have none of their own. */
  readonly fixedSeq?: number;
  /** Operations of the transaction that do not count. */
  readonly takenBack?: readonly TakenBack[];
  /** Messages with a higher seq are not seen. */
  readonly seqMax: number;
  /** The next window in the direction of the scan; `end` after the last. After a Miss the same call is made again. */
  next(): Window | 'end' | Miss;
}

/** What a source is asked for. */
export interface SourceView {
  /** Messages with a higher seq are not seen. */
  readonly seqMax: number;
  readonly range: ScanRange;
  readonly forward: boolean;
  readonly wanted: WantedRows;
}

const sliceFirst = 32;
const sliceMax = 512;

/** A front in order: merges its sorted pieces and copies slices of them into runs. */
export class FrontSource implements ScanSource {
  readonly seqMax: number;
  readonly #front: Front;
  readonly #image: FrontImage;
  readonly #pieces: readonly Uint32Array[];
  readonly #at: number[];
  readonly #stop: number[];
  readonly #forward: boolean;
  #length: number = sliceFirst;

  constructor(front: Front, seqMax: number, range: ScanRange, forward: boolean) {
    this.seqMax = seqMax;
    this.#front = front;
    this.#image = front.image();
    this.#forward = forward;
    this.#pieces = front.sortedPieces().slice();
    const low = this.#pieces.map((piece) => (range.from === undefined ? 0 : front.lowerBound(piece, range.from)));
    const high = this.#pieces.map((piece) => (range.to === undefined ? piece.length : front.lowerBound(piece, range.to)));
    this.#at = forward ? low : high.map((index) => index - 1);
    this.#stop = forward ? high : low.map((index) => index - 1);
  }

  next(): Window | 'end' {
    const entries = this.#take();
    if (entries.length === 0) return 'end';
    this.#length = Math.min(this.#length * 2, sliceMax);
    if (!this.#forward) entries.reverse();
    const builder = new RunBuilder();
    const slice = emptySlice();
    for (const entry of entries) {
      this.#front.slice(entry, slice);
      builder.appendSlice(slice);
    }
    const run = builder.finish();
    return { run, start: 0, end: run.count, cutBefore: false, cutAfter: false };
  }

  /** The next entries over all pieces, with all versions of the last one's key. */
  #take(): number[] {
    const entries: number[] = [];
    for (let piece = this.#first(); piece >= 0; piece = this.#first()) {
      const entry = this.#entryOf(piece);
      if (entries.length >= this.#length && !this.#front.haveOneKey(entries.at(-1) as number, entry)) break;
      entries.push(entry);
      this.#at[piece] = (this.#at[piece] as number) + (this.#forward ? 1 : -1);
    }
    return entries;
  }

  /** The piece with the next entry, or -1. Of one key forwards the newest entry comes first, backwards the oldest. */
  #first(): number {
    const image = this.#image;
    let best = -1;
    for (let i = 0; i < this.#pieces.length; i++) {
      if (this.#at[i] === this.#stop[i]) continue;
      if (best >= 0) {
        const order = compareEntries(image, this.#entryOf(i), this.#entryOf(best));
        if (this.#forward ? order > 0 : order < 0) continue;
      }
      best = i;
    }
    return best;
  }

  #entryOf(piece: number): number {
    return (this.#pieces[piece] as Uint32Array)[this.#at[piece] as number] as number;
  }
}

/** Most basements that are read ahead, and most bytes: a large value is read when it is wanted. */
const aheadMax = 15;
const aheadBytesMax = 128 * 1024;

/** An extent in order: its basements one after the other. */
export class ExtentSource implements ScanSource {
  readonly seqMax: number;
  readonly #cache: PartsInMemory;
  readonly #extent: Extent;
  readonly #range: ScanRange;
  readonly #forward: boolean;
  readonly #wanted: WantedRows;
  #basement: number;
  #passed: number;

  constructor(cache: PartsInMemory, extent: Extent, view: SourceView) {
    this.#cache = cache;
    this.#extent = extent;
    this.seqMax = view.seqMax;
    this.#range = view.range;
    this.#forward = view.forward;
    this.#wanted = view.wanted;
    this.#passed = view.wanted.isLong ? aheadMax : 0;
    const { fences } = extent;
    const { from, to } = view.range;
    if (!fences.overlaps(from, to)) this.#basement = -1;
    else if (view.forward) this.#basement = from === undefined ? 0 : fences.firstFor(from);
    else this.#basement = to === undefined ? fences.length - 1 : fences.find(to);
  }

  next(): Window | 'end' | Miss {
    const { fences } = this.#extent;
    const { from, to } = this.#range;
    for (;;) {
      const index = this.#basement;
      if (this.#past(index)) return 'end';
      const run = basementRun(this.#cache, this.#extent, index);
      if (run === undefined) return missOf(this.#extent, index, this.#ahead());
      this.#passed += 1;
      this.#basement += this.#forward ? 1 : -1;
      const start = from === undefined ? 0 : run.lowerBound(from, 0, run.count);
      const end = to === undefined ? run.count : run.lowerBound(to, 0, run.count);
      if (start < end) return { run, start, end, cutBefore: fences.continues(index), cutAfter: index + 1 < fences.length && fences.continues(index + 1) };
    }
  }

  /** How many basements behind the next to read with it: as many as were passed, so a short scan reads nothing in vain, and no more than the batch has room for. */
  #ahead(): number {
    const step = this.#forward ? 1 : -1;
    const most = Math.min(this.#passed, aheadMax);
    const { fences } = this.#extent;
    let ahead = 0;
    let bytes = 0;
    let rows = fences.rows(this.#basement);
    while (ahead < most) {
      const next = this.#basement + step * (ahead + 1);
      if (this.#past(next)) break;
      bytes += fences.rawLength(next);
      if (bytes > aheadBytesMax || rows >= this.#wanted.rows) break;
      rows += fences.rows(next);
      ahead += 1;
    }
    return step * ahead;
  }

  /** Whether the basement lies beyond the range's far end, or there is none. */
  #past(index: number): boolean {
    const { fences } = this.#extent;
    const { from, to } = this.#range;
    if (index < 0 || index >= fences.length) return true;
    if (this.#forward) return to !== undefined && compareBytes(fences.firstKey(index), to) >= 0;
    return from !== undefined && index + 1 < fences.length && compareBytes(fences.firstKey(index + 1), from) < 0;
  }
}

/** Extents whose keys follow one another, in order: what a transaction has spilled. */
export class ChainSource implements ScanSource {
  readonly seqMax: number;
  readonly fixedSeq?: number;
  readonly takenBack?: readonly TakenBack[];
  readonly #sources: readonly ExtentSource[];
  #at: number = 0;

  constructor(
    cache: PartsInMemory,
    chain: Chain,
    view: SourceView & { readonly fixedSeq?: number; readonly takenBack?: readonly TakenBack[] },
  ) {
    this.seqMax = view.seqMax;
    if (view.fixedSeq !== undefined) this.fixedSeq = view.fixedSeq;
    if (view.takenBack !== undefined && view.takenBack.length > 0) this.takenBack = view.takenBack;
    const inside = chain.filter(({ fences }) => fences.overlaps(view.range.from, view.range.to));
    this.#sources = (view.forward ? inside : inside.toReversed()).map((extent) => new ExtentSource(cache, extent, view));
  }

  next(): Window | 'end' | Miss {
    for (let source = this.#sources[this.#at]; source !== undefined; source = this.#sources[++this.#at]) {
      const window = source.next();
      if (window !== 'end') return window;
    }
    return 'end';
  }
}
