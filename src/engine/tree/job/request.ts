// A job is a generator: synchronous code that asks for what it cannot do itself (read a part, write a block, let others go on) and is given
// the answer. In life a runner on the main thread answers, in tests anything may; the job cannot tell.

import { assert } from '../../../base/assert.ts';
import type { BlockNumber } from '../../block/block-number.ts';
import { Run } from '../../run/run.ts';
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

/** Asks for a node. */
export function* readNode(number: BlockNumber): JobStep<TreeNode> {
  const answer = yield { kind: 'node', number };
  assert(typeof answer === 'object' && !(answer instanceof Run), 'a node was asked for');
  return answer;
}

/** Asks for a basement of an extent. */
export function* readRun(extent: Extent, index: number): JobStep<Run> {
  const answer = yield { kind: 'run', extent, index };
  assert(answer instanceof Run, 'a run was asked for');
  return answer;
}

/** Has a block written; it is in no tree before the job's edit is applied. */
export function* writeBlock(image: Uint8Array): JobStep<BlockNumber> {
  const answer = yield { kind: 'write', image };
  assert(typeof answer === 'number', 'a written block has a number');
  return answer;
}

/** Lets others go on. */
export function* pause(): JobStep<void> {
  yield { kind: 'pause' };
}
