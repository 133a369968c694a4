// Damage below a tree's fronts costs its own keys and stops nobody else: a child that cannot be pushed to, because it, or what waits for it, cannot
// be read, is *hindered*. What is written to its keys from then on stays above it, where reads find it, merged now and then so that it never is many
// runs. Nothing of this is on the disk: after the next start whoever meets the damage notes it again.

import { EngineError } from '../../../base/errors.ts';
import type { BlockNumber } from '../../block/block-number.ts';
import type { Edit } from '../edit.ts';
import { readableRuns } from '../edit.ts';
import type { Extent, InternalNode, TreeNode } from '../node.ts';
import { extentsOf } from '../node.ts';
import type { Tree } from '../tree.ts';
import type { JobContext } from './job-context.ts';
import { bufferWork, present, sourcesOf } from './job-context.ts';
import type { JobStep } from './request.ts';
import { merge, readNode } from './request.ts';

/** Runs of which each is at most so many times what is newer are merged with it: what waits is written again a few times, not with each run. */
const tierFactor = 2;

/** Whether an error says that what a job wants to read is damaged. */
export function isHindrance(error: unknown): error is EngineError {
  return error instanceof EngineError && error.code === 'corruption';
}

/** The edit that notes a child as hindered; other errors are thrown on. `suspects`: what it may be where the error does not say it. */
export function hinder(node: InternalNode, child: BlockNumber, error: unknown, suspects: readonly Extent[] = []): Edit {
  if (!isHindrance(error)) throw error;
  const { block } = error.place;
  const blocks = block === undefined ? suspects.map((extent) => extent.block) : [block as BlockNumber];
  return { nodes: [node], removed: [], dropped: [], added: [], root: undefined, height: undefined, leavesDelta: 0, flushed: undefined, hindered: { child, blocks } };
}

/** A node; undefined where it is damaged. */
export function* tryNode(number: BlockNumber): JobStep<TreeNode | undefined> {
  try {
    return yield* readNode(number);
  } catch (error) {
    if (!isHindrance(error)) throw error;
    return undefined;
  }
}

/** A node as it is, to be weighed again. */
export function weighedAgain(node: InternalNode): Edit {
  return { nodes: [node], removed: [], dropped: [], added: [], root: undefined, height: undefined, leavesDelta: 0, flushed: undefined };
}

/** Merges the newest runs that wait for a hindered child into one. */
export function* gatherJob(tree: Tree, context: JobContext, node: InternalNode, index: number): JobStep<Edit> {
  const buffer = node.buffers[index] ?? [];
  const newest = buffer.slice(0, runsToGather(buffer.slice(0, readableRuns(tree, buffer))));
  const child = node.children[index] as BlockNumber;
  if (newest.length < 2) return weighedAgain(node);
  try {
    const extents = present(yield* merge(bufferWork(context, { sources: sourcesOf(newest), ranges: node.ranges[index] ?? [] }, [])));
    const buffers = node.buffers.map((waiting, other) => (other === index ? [...extents, ...buffer.slice(newest.length)] : waiting));
    return { nodes: [{ ...node, buffers }], removed: [], dropped: newest, added: extents, root: undefined, height: undefined, leavesDelta: 0, flushed: undefined };
  } catch (error) {
    return hinder(node, child, error, newest);
  }
}

/** How many of some runs, newest first, are merged together. */
function runsToGather(runs: readonly Extent[]): number {
  let bytes = runs[0]?.fences.rawBytes ?? 0;
  let count = 1;
  for (; count < runs.length; count++) {
    const next = runs[count]?.fences.rawBytes ?? 0;
    if (next > bytes * tierFactor) break;
    bytes += next;
  }
  return count < 2 ? runs.length : count;
}

/** Which of some children, with what waits for each, holds a block; undefined: none of them. */
export function holderOf(children: readonly { readonly node: TreeNode; readonly waiting: readonly Extent[] }[], error: unknown): TreeNode | undefined {
  const block = isHindrance(error) ? error.place.block : undefined;
  return children.find(({ node, waiting }) => [...extentsOf(node), ...waiting].some((extent) => extent.block === block))?.node;
}
