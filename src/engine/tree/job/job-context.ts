// What every job is given, and how the leaves that come of a merge are cut and named.

import type { BlockNumber } from '../../block/block-number.ts';
import type { DictionaryOptions } from '../../types.ts';
import type { FlushLimits } from '../edit.ts';
import type { Extent, LeafNode } from '../node.ts';
import type { RangeDelete } from '../../run/range-delete.ts';
import type { MergeSource, MergeWork } from './merge-request.ts';

/** What a job is given when it is made. */
export interface JobContext {
  readonly options: DictionaryOptions;
  readonly limits: FlushLimits;
  /** Open snapshots and the newest visible seq, ascending (law 3). */
  readonly snapshots: Float64Array;
  /** Large values wait for their references to go: what waits above them goes down in idle time. */
  readonly drains: boolean;
  /** A fresh number for a new node. */
  readonly newNumber: () => BlockNumber;
}

/** What is merged: newest first, and the range deletes that go with it. */
export interface Messages {
  readonly sources: readonly MergeSource[];
  readonly ranges: readonly RangeDelete[];
}

/** Merging into one buffered run for each range between pivots. */
export function bufferWork(context: JobContext, messages: Messages, pivots: readonly Uint8Array[]): MergeWork {
  return { ...messages, cut: { kind: 'pivots', pivots }, snapshots: context.snapshots, codec: 'lz4', readPageBytes: context.options.readPageBytes };
}

/** Merging (the leaf last) into leaves; `rawBytes` is what the sources hold together. Range deletes end. */
export function leafWork(context: JobContext, messages: Messages, rawBytes: number): MergeWork {
  const { compression, pageBytes, readPageBytes } = context.options;
  return { ...messages, cut: { kind: 'leaves', bytes: leafBytesFor(rawBytes, pageBytes) }, snapshots: context.snapshots, codec: compression, readPageBytes };
}

/** Sources for extents, newest first. */
export function sourcesOf(extents: readonly Extent[]): MergeSource[] {
  return extents.map((extent) => ({ kind: 'extent', extent }));
}

/** Raw bytes of each new leaf, so that what comes of `rawBytes` is cut evenly. */
function leafBytesFor(rawBytes: number, pageBytes: number): number {
  const leaves = Math.max(1, Math.round(rawBytes / pageBytes));
  // A little more than the even share: the last leaf shall not be a crumb.
  return leaves === 1 ? Number.POSITIVE_INFINITY : Math.ceil((rawBytes / leaves) * 1.02);
}

/** Leaves for extents in key order; the first one takes over `number`. Without extents one empty leaf. */
export function leavesFor(context: JobContext, extents: readonly Extent[], number: BlockNumber): LeafNode[] {
  if (extents.length === 0) return [{ kind: 'leaf', number, extent: undefined }];
  return extents.map((extent, index) => ({ kind: 'leaf', number: index === 0 ? number : context.newNumber(), extent }));
}

/** The keys at which extents in key order are told apart: the first key of each but the first. */
export function pivotsBetween(extents: readonly Extent[]): Uint8Array[] {
  return extents.slice(1).map((extent) => extent.fences.firstKey(0).slice());
}

/** The extents that there are. */
export function present(extents: readonly (Extent | undefined)[]): Extent[] {
  return extents.filter((extent) => extent !== undefined);
}
