// Tidying below one internal node, in idle time, so that space comes back by itself: what waits goes down where it can free much, leaves and
// nodes that have shrunk are joined with their neighbours, a root with one child gives it its place. One piece a job. Joining owns the parent too,
// like a split (law 15); what waits for children that are joined is merged with them, or has gone down before.

import { must } from '../../../base/assert.ts';
import type { BlockNumber } from '../../block/block-number.ts';
import type { Edit } from '../edit.ts';
import { extentsOfAll } from '../edit.ts';
import type { Extent, InternalNode, LeafNode, TreeNode } from '../node.ts';
import type { Tree } from '../tree.ts';
import type { JobContext } from './job-context.ts';
import { leafWork, leavesFor, pivotsBetween, present, sourcesOf } from './job-context.ts';
import { hinder, holderOf, tryNode } from './hindrance.ts';
import { closeEdit, tryChild } from './push-job.ts';
import { replaceChildren } from './replace-children.ts';
import type { JobStep } from './request.ts';
import { merge, readNode } from './request.ts';

/** Messages that are so many times fewer than the rows below them stay where they are: much would be written again for little. */
const fewerBy = 8;
/** Above leaves a buffer goes down in any case when it has this part of a full one: only what it holds is written again. */
const bufferPart = 1 / 4;
/** Leaves are joined up to this part of `pageBytes`, nodes up to this part of the fanout: what is joined does not split at once. */
const leafPart = 3 / 4;
const fanoutPart = 2 / 3;
/** Most leaves that one job joins. */
const joinedMax = 8;

const rawOf = (extents: readonly Extent[]): number => extents.reduce((sum, { fences }) => sum + fences.rawBytes, 0);
const countOf = (extents: readonly Extent[]): number => extents.reduce((sum, { fences }) => sum + fences.count, 0);

/** The next piece of tidying below node `number`; undefined when there is none. */
export function* tidyJob(tree: Tree, context: JobContext, number: BlockNumber): JobStep<Edit | undefined> {
  const node = yield* tryNode(number);
  if (node === undefined || node.kind === 'leaf') return undefined;
  if (number === tree.root && node.children.length === 1 && isFree(node, 0)) {
    return closeEdit(context, tree, { parent: node, below: [], added: [], dropped: [], leavesDelta: 0, removed: [] });
  }
  return node.height === 1 ? yield* tidyLeaves(tree, context, node) : yield* tidyNodes(tree, context, node);
}

/** Whether some of the messages refer to large values. */
function refersToBlobs(extents: readonly Extent[]): boolean {
  return extents.some(({ fences }) => fences.blobBytes > 0);
}

/** Whether nothing waits for a child. */
function isFree(node: InternalNode, child: number): boolean {
  return (node.buffers[child] ?? []).length === 0 && hasNoRanges(node, child);
}

function hasNoRanges(node: InternalNode, child: number): boolean {
  return (node.ranges[child] ?? []).length === 0;
}

function* tidyLeaves(tree: Tree, context: JobContext, node: InternalNode): JobStep<Edit | undefined> {
  const leaves: (LeafNode | undefined)[] = [];
  for (const number of node.children) {
    if (tree.hindered.has(number)) {
      leaves.push(undefined);
      continue;
    }
    const leaf = yield* readChild(node, number);
    if (!('kind' in leaf)) return leaf;
    if (leaf.kind !== 'leaf') return undefined;
    leaves.push(leaf);
    const index = leaves.length - 1;
    const waiting = countOf(node.buffers[index] ?? []);
    const held = [...extentsOfAll([leaf]), ...(node.buffers[index] ?? [])];
    if (waiting > 0 && (waiting * fewerBy >= countOf(extentsOfAll([leaf])) || (context.drains && refersToBlobs(held)))) return yield* tryChild(tree, context, node, index);
  }
  for (let from = 0; from + 1 < leaves.length; from++) {
    const length = joinable(context, node, leaves, from);
    if (length > 1) return yield* tryToJoin(tree, context, { node, from, leaves: leaves.slice(from, from + length).filter((leaf) => leaf !== undefined) });
  }
  return undefined;
}

/** A child; where it is damaged, the edit that notes it. */
function* readChild(node: InternalNode, number: BlockNumber): JobStep<TreeNode | Edit> {
  try {
    return yield* readNode(number);
  } catch (error) {
    return hinder(node, number, error);
  }
}

/** How many leaves from `from` on make one that is not too large, with what waits for them. */
function joinable(context: JobContext, node: InternalNode, leaves: readonly (LeafNode | undefined)[], from: number): number {
  let [length, bytes] = [0, 0];
  while (from + length < leaves.length && length < joinedMax && hasNoRanges(node, from + length)) {
    const leaf = leaves[from + length];
    if (leaf === undefined) break;
    bytes += rawOf(node.buffers[from + length] ?? []) + rawOf(extentsOfAll([leaf]));
    if (bytes > context.options.pageBytes * leafPart) break;
    length += 1;
  }
  return length;
}

interface Joined {
  readonly node: InternalNode;
  /** The first child that is joined. */
  readonly from: number;
  readonly leaves: readonly LeafNode[];
}

function* tryToJoin(tree: Tree, context: JobContext, joined: Joined): JobStep<Edit> {
  const { node, from, leaves } = joined;
  try {
    return yield* joinLeaves(tree, context, joined);
  } catch (error) {
    const holder = holderOf(leaves.map((leaf, index) => ({ node: leaf, waiting: node.buffers[from + index] ?? [] })), error);
    return hinder(node, (holder ?? must(leaves[0], 'a leaf that is joined')).number, error);
  }
}

function* joinLeaves(tree: Tree, context: JobContext, { node, from, leaves }: Joined): JobStep<Edit> {
  const count = leaves.length;
  // Those of one key are in one child's buffer and leaf, in order of age; between children the order does not matter.
  const waiting = node.buffers.slice(from, from + count).flat();
  const dropped = [...waiting, ...extentsOfAll(leaves)];
  const extents = present(yield* merge(leafWork(context, { sources: sourcesOf(dropped), ranges: [] }, rawOf(dropped))));
  const goes = extents.length === 0 && node.children.length > count;
  const numbers = leaves.map(({ number }) => number);
  const made = goes ? [] : leavesFor(context, extents, must(numbers[0], 'a leaf that is joined'));
  const parent = replaceChildren(node, { from, count }, made.map(({ number }) => number), pivotsBetween(extents));
  const removed = goes ? numbers : numbers.slice(1);
  return closeEdit(context, tree, { parent, below: made, added: extents, dropped, leavesDelta: made.length - count, removed });
}

/** Whether what waits above other nodes is much, or much beside the rows below, as far as they can be guessed. */
function isWorthPushing(tree: Tree, { limits, options, drains }: JobContext, node: InternalNode, index: number): boolean {
  const buffer = node.buffers[index] ?? [];
  if (buffer.length === 0) return false;
  if (drains && tree.blobBytes > 0) return true;
  if (rawOf(buffer) >= limits.bufferBytes * bufferPart) return true;
  const rowsBelow = (tree.totalsAt(Infinity).rows / tree.leaves) * (options.fanout * fanoutPart) ** (node.height - 1);
  return countOf(buffer) * fewerBy >= rowsBelow;
}

function* tidyNodes(tree: Tree, context: JobContext, node: InternalNode): JobStep<Edit | undefined> {
  let before: InternalNode | undefined;
  for (const [index, number] of node.children.entries()) {
    if (tree.hindered.has(number)) {
      before = undefined;
      continue;
    }
    if (isWorthPushing(tree, context, node, index)) return yield* tryChild(tree, context, node, index);
    const child = yield* readChild(node, number);
    if (!('kind' in child)) return child;
    if (child.kind === 'leaf') return undefined;
    const small = before !== undefined && before.children.length + child.children.length <= context.options.fanout * fanoutPart;
    if (before !== undefined && small && hasNoRanges(node, index - 1) && hasNoRanges(node, index)) {
      if (!isFree(node, index - 1)) return yield* tryChild(tree, context, node, index - 1);
      if (!isFree(node, index)) return yield* tryChild(tree, context, node, index);
      return joinNodes(tree, context, { node, index, left: before, right: child });
    }
    before = child;
  }
  return undefined;
}

/** Nothing is read or written: the children of two nodes become those of one, each with what waits for it. */
function joinNodes(tree: Tree, context: JobContext, pair: { node: InternalNode; index: number; left: InternalNode; right: InternalNode }): Edit {
  const { node, index, left, right } = pair;
  const joined: InternalNode = {
    ...left,
    pivots: [...left.pivots, must(node.pivots[index - 1], 'a pivot between two children'), ...right.pivots],
    children: [...left.children, ...right.children],
    buffers: [...left.buffers, ...right.buffers],
    ranges: [...left.ranges, ...right.ranges],
  };
  const parent = replaceChildren(node, { from: index - 1, count: 2 }, [left.number], []);
  return closeEdit(context, tree, { parent, below: [joined], added: [], dropped: [], leavesDelta: 0, removed: [right.number] });
}
