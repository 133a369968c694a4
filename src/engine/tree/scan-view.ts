// What an ordered read reads: a tree as one snapshot sees it, and beneath the reader's hands its own writes, as many of them as count (law 6).

import type { PartCache } from '../cache/part-cache.ts';
import type { Front } from './front.ts';
import type { Chain, TakenBack } from './spilled.ts';
import type { Part, Tree } from './tree.ts';

/** A transaction's own writes, as many of them as count; the spilled ones newest first. */
export interface OwnWrites {
  readonly front: Front;
  readonly seqMax: number;
  readonly spilled: readonly Chain[];
  readonly takenBack: readonly TakenBack[];
}

/** What a scan reads. */
export interface ScanView {
  readonly tree: Tree;
  readonly cache: PartCache<Part>;
  readonly seq: number;
  readonly forward: boolean;
  /** The transaction's own writes and how many of them count. */
  readonly own: OwnWrites | undefined;
}
