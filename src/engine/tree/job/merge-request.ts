// A merge to be done as plain data, and what it asks for while it is: the words between a job, the merge, and whoever answers, on any thread.

import { compareBytes } from '../../../base/bytes.ts';
import type { EngineError } from '../../../base/errors.ts';
import type { CodecName } from '../../../env/index.ts';
import type { Fences } from '../../run/fences.ts';
import type { RangeDelete } from '../../run/range-delete.ts';
import type { Front } from '../front.ts';
import type { Extent } from '../node.ts';

/** What an extent holds from a key on (inside) to a key (outside). */
export interface ExtentSource {
  readonly kind: 'extent';
  readonly extent: Extent;
  readonly from?: Uint8Array;
  readonly to?: Uint8Array;
  /** Goes on where the source before it ends: both are one input. */
  readonly follows?: boolean;
  /** The seq of all its messages, in place of their own. */
  readonly seq?: number;
}

/** Messages of one age: a frozen front, or an extent. */
export type MergeSource = { readonly kind: 'front'; readonly front: Front } | ExtentSource;

/** Where extents end: before each pivot, for buffers; after so many raw bytes, for leaves, of which the oldest source is one. */
export type MergeCut =
  | { readonly kind: 'pivots'; readonly pivots: readonly Uint8Array[] }
  | { readonly kind: 'leaves'; readonly bytes: number }
  /** Rows that are loaded, after so many raw bytes: all are kept; in the last pass each key may come once, and everybody sees it. */
  | { readonly kind: 'load'; readonly bytes: number; readonly isLast: boolean }
  /** What a transaction wrote, after so many raw bytes: of each key the newest message that was not taken back, with seq 0. */
  | { readonly kind: 'spill'; readonly bytes: number; readonly takenBack: readonly { readonly after: number; readonly upTo: number }[] };

/** A merge to be done. Nothing in it changes while it is. */
export interface MergeWork {
  /** Newest first. */
  readonly sources: readonly MergeSource[];
  /** Range deletes that go with the sources. */
  readonly ranges: readonly RangeDelete[];
  readonly cut: MergeCut;
  /** Open snapshots and the newest visible seq, ascending (law 3). */
  readonly snapshots: Float64Array;
  readonly codec: CodecName;
  readonly readPageBytes: number;
}

/** Stored bytes of basements [from, to) of a source, one after the other. */
export interface StoredRequest {
  readonly kind: 'stored';
  readonly source: number;
  readonly from: number;
  readonly to: number;
}

/** Stored bytes that are asked for at once; at least one basement. */
const batchBytes = 256 * 1024;

/** The basements of a source that are asked for together: from `from` on, of those before `last`. */
export function batchOf(fences: Fences, source: number, from: number, last: number): StoredRequest {
  let to = from;
  let bytes = 0;
  do bytes += fences.storedLength(to++);
  while (to < last && bytes + fences.storedLength(to) <= batchBytes);
  return { kind: 'stored', source, from, to };
}

/** The basements [from, to) of a source that may hold keys of its range. */
export function basementsOf({ extent: { fences }, from, to }: ExtentSource): { readonly from: number; readonly to: number } {
  const first = from === undefined ? 0 : fences.firstFor(from);
  if (to === undefined) return { from: first, to: fences.length };
  let end = first;
  while (end < fences.length && compareBytes(fences.firstKey(end), to) < 0) end++;
  return { from: first, to: end };
}

/** An extent is ready: that of range `range` between pivots, or leaf number `range`. */
export interface BuiltExtent {
  readonly kind: 'built';
  readonly range: number;
  readonly image: Uint8Array;
  readonly fences: Fences;
}

/** A basement is not what was written; whoever answers throws, with the place. */
export interface Damage {
  readonly kind: 'damaged';
  readonly source: number;
  readonly basement: number;
  readonly error: EngineError;
}

/** A load has two rows of one key; the merge is over. */
export interface DuplicateRow {
  readonly kind: 'duplicate';
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/** The large value that updates of a key build on. */
export interface LargeRequest {
  readonly kind: 'large';
  readonly key: Uint8Array;
  readonly reference: Uint8Array;
}

/** What a merge asks for and hands out; only `stored` and `large` have answers. `functions`: it goes on when the functions of updates are there. */
export type MergeRequest = StoredRequest | LargeRequest | BuiltExtent | Damage | DuplicateRow | { readonly kind: 'pause' } | { readonly kind: 'functions' };

/** A piece of a merge. */
export type MergeStep<T> = Generator<MergeRequest, T, Uint8Array | undefined>;
