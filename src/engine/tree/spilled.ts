// Messages of one transaction that lie in the data file: sorted extents whose keys follow one another. While the transaction is open their seqs
// are numbers of its operations; once committed they are one frozen front of their dictionary, whose seq is the commit's (law 7).

import { noBlobs } from '../run/blob-reference.ts';
import type { BlobTally } from '../run/blob-reference.ts';
import type { RangeDelete } from '../run/range-delete.ts';
import { rangeBytes } from '../run/range-delete.ts';
import type { DictionaryId } from '../types.ts';
import type { MergeSource } from './job/merge-request.ts';
import type { Extent } from './node.ts';

/** Extents in order of keys; no key is in two of them. */
export type Chain = readonly Extent[];

/** Operations [after + 1, upTo] of a transaction that were taken back. */
export interface TakenBack {
  readonly after: number;
  readonly upTo: number;
}

/** Whether an operation was taken back. */
export function isTakenBack(takenBack: readonly TakenBack[], operation: number): boolean {
  return takenBack.some(({ after, upTo }) => operation > after && operation <= upTo);
}

/** What is written of a transaction that is to be committed, known to checkpoints from before its record is logged until it is below the fronts. */
export interface Spill {
  readonly number: number;
  readonly dictionary: DictionaryId;
  readonly extents: Chain;
}

/** A committed transaction's part in one dictionary, as a frozen front. Its messages have seq 0 in the file and `seq` here. */
export class SpilledFront {
  readonly spill: Spill;
  readonly seq: number;
  ranges: readonly RangeDelete[] = [];
  rows: number = 0;
  bytes: number = 0;
  readonly isVoid: boolean = false;
  readonly count: number;
  /** Bytes of keys and values, roughly. */
  readonly messageBytes: number;
  readonly blobBytes: number;

  constructor(spill: Spill, seq: number) {
    this.spill = spill;
    this.seq = seq;
    this.count = spill.extents.reduce((sum, { fences }) => sum + fences.count, 0);
    this.messageBytes = spill.extents.reduce((sum, { fences }) => sum + fences.rawBytes, 0);
    this.blobBytes = spill.extents.reduce((sum, { fences }) => sum + fences.blobBytes, 0);
  }

  get seqMin(): number {
    return this.seq;
  }

  get seqMax(): number {
    return this.seq;
  }

  /** Memory held, for the budget. */
  get byteSize(): number {
    let size = 256;
    for (const { fences } of this.spill.extents) size += fences.byteSize;
    for (const range of this.ranges) size += rangeBytes(range);
    return size;
  }

  get usedBytes(): number {
    return this.byteSize;
  }

  appendRange(range: RangeDelete): void {
    this.ranges = [range, ...this.ranges];
  }

  /** Bytes of blobs that its messages refer to, by segment. */
  blobs(): BlobTally {
    if (this.blobBytes === 0) return noBlobs;
    const tally = new Map<number, number>();
    for (const { fences } of this.spill.extents) for (const [segment, bytes] of fences.blobs) tally.set(segment, (tally.get(segment) ?? 0) + bytes);
    return tally;
  }

  /** Nothing: the front covers its commit anyway. */
  touch(): void {
    // Its seq is that of the commit.
  }

  /** As sources of one input of a merge. */
  sources(): MergeSource[] {
    return this.spill.extents.map((extent, i) => ({ kind: 'extent', extent, seq: this.seq, ...(i === 0 ? {} : { follows: true }) }));
  }
}
