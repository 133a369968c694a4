// A job is a generator: synchronous code that asks for what it cannot do itself (read a part, write a block, let others go on) and is given
// the answer. In life a runner on the main thread answers, in tests anything may; the job cannot tell.

import type { BlockNumber } from '../../block/block-number.ts';
import type { Run } from '../../run/run.ts';
import type { Extent, TreeNode } from '../node.ts';

/** What a job asks for. */
export type JobRequest =
  | { readonly kind: 'node'; readonly number: BlockNumber }
  | { readonly kind: 'run'; readonly extent: Extent; readonly index: number }
  | { readonly kind: 'write'; readonly image: Uint8Array }
  | { readonly kind: 'pause' };

/** The answers: a node, a run, the number of the written block, nothing. */
export type JobAnswer = TreeNode | Run | BlockNumber | undefined;

/** A piece of a job that yields requests and returns `T`. */
export type JobStep<T> = Generator<JobRequest, T, JobAnswer>;

export function* readNode(number: BlockNumber): JobStep<TreeNode> {
  return (yield { kind: 'node', number }) as TreeNode;
}

export function* readRun(extent: Extent, index: number): JobStep<Run> {
  return (yield { kind: 'run', extent, index }) as Run;
}

export function* writeBlock(image: Uint8Array): JobStep<BlockNumber> {
  return (yield { kind: 'write', image }) as BlockNumber;
}

export function* pause(): JobStep<void> {
  yield { kind: 'pause' };
}
