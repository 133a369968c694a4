// A job is a generator: synchronous code that decides what becomes of a tree, and asks for what it cannot do itself: a node, or a merge, which
// is the long part and runs elsewhere (merge-work.ts). A runner on the main thread answers; the job cannot tell where the merge was done.
// Where damage is met, it may ask which parts of an extent are damaged, and for an extent to be written.

import { assert } from '../../../base/assert.ts';
import type { BlockNumber } from '../../block/block-number.ts';
import type { Fences } from '../../run/fences.ts';
import type { Extent, TreeNode } from '../node.ts';
import type { MergeWork } from './merge-request.ts';

/** What a job asks for. */
export type JobRequest =
  | { readonly kind: 'node'; readonly number: BlockNumber }
  | { readonly kind: 'merge'; readonly work: MergeWork }
  | { readonly kind: 'damaged'; readonly extent: Extent }
  | { readonly kind: 'write'; readonly image: Uint8Array; readonly fences: Fences };

/** The extents of a merge by range (merge-request.ts); written, and in no tree before the job's edit is applied. */
export type MergedExtents = readonly (Extent | undefined)[];

/** The answers: a node; what a merge made; the damaged basements; what was written. */
export type JobAnswer = TreeNode | MergedExtents | DamagedBasements | Extent | undefined;

/** Basements of an extent that cannot be read, ascending. */
export interface DamagedBasements {
  readonly indexes: readonly number[];
}

/** A piece of a job that yields requests and returns `T`. */
export type JobStep<T> = Generator<JobRequest, T, JobAnswer>;

/** Asks for a node. */
export function* readNode(number: BlockNumber): JobStep<TreeNode> {
  const answer = yield { kind: 'node', number };
  assert(answer !== undefined && 'kind' in answer, 'a node was asked for');
  return answer;
}

/** Asks for a merge. */
export function* merge(work: MergeWork): JobStep<MergedExtents> {
  const answer = yield { kind: 'merge', work };
  assert(answer instanceof Array, 'a merge was asked for');
  return answer;
}

/** Asks which basements of an extent cannot be read. */
export function* damagedBasements(extent: Extent): JobStep<readonly number[]> {
  const answer = yield { kind: 'damaged', extent };
  assert(answer !== undefined && 'indexes' in answer, 'it was asked what is damaged');
  return answer.indexes;
}

/** Asks for an extent to be written; it is in no tree before the job's edit is applied. */
export function* writeExtent(image: Uint8Array, fences: Fences): JobStep<Extent> {
  const answer = yield { kind: 'write', image, fences };
  assert(answer !== undefined && 'block' in answer, 'an extent was asked for');
  return answer;
}
