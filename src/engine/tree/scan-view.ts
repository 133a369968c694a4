// What an ordered read reads: a tree as one snapshot sees it, and beneath the reader's hands its own writes, as many of them as count (law 6).

import type { Front } from './front.ts';
import type { PartsInMemory } from './lookup.ts';
import type { Chain, TakenBack } from './spilled.ts';
import type { Tree } from './tree.ts';

/** A transaction's own writes, as many of them as count; the spilled ones newest first. */
export interface OwnWrites {
  readonly front: Front;
  readonly seqMax: number;
  readonly spilled: readonly Chain[];
  readonly takenBack: readonly TakenBack[];
}

/** How much a scan will want, as far as is known: so far it reads ahead, and not further. */
export interface WantedRows {
  /** Rows that the batch has room for. */
  rows: number;
  /** The scan has given batches before: more of it will be wanted. */
  readonly isLong: boolean;
}

/** What a scan reads. */
export interface ScanView {
  readonly tree: Tree;
  readonly cache: PartsInMemory;
  readonly wanted: WantedRows;
  readonly seq: number;
  readonly forward: boolean;
  /** The transaction's own writes and how many of them count. */
  readonly own: OwnWrites | undefined;
}
