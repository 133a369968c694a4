// A job is a generator: synchronous code that decides what becomes of a tree, and asks for what it cannot do itself: a node, or a merge, which
// is the long part and runs elsewhere (merge-work.ts). A runner on the main thread answers; the job cannot tell where the merge was done.

import { assert } from '../../../base/assert.ts';
import type { BlockNumber } from '../../block/block-number.ts';
import type { Extent, TreeNode } from '../node.ts';
import type { MergeWork } from './merge-request.ts';

/** What a job asks for. */
export type JobRequest = { readonly kind: 'node'; readonly number: BlockNumber } | { readonly kind: 'merge'; readonly work: MergeWork };

/** The extents of a merge by range (merge-request.ts); written, and in no tree before the job's edit is applied. */
export type MergedExtents = readonly (Extent | undefined)[];

/** The answers: a node, or what a merge made. */
export type JobAnswer = TreeNode | MergedExtents | undefined;

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
  assert(answer !== undefined && !('kind' in answer), 'a merge was asked for');
  return answer;
}
