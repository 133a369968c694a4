// Pushing one child's whole buffer down: to an internal child as one new run for each grandchild, to a leaf as new leaves. On the way nodes
// split that have grown too wide, and a leaf with nothing left goes. Under a range delete that hides a whole child from everybody the child
// goes unread. A child that damage keeps it from is left with what waits for it (hindrance.ts). Many small runs are first merged where they are.

import { assert, must } from '../../../base/assert.ts';
import { compareBytes } from '../../../base/bytes.ts';
import type { Edit } from '../edit.ts';
import { extentsOfAll, goesUnread, heaviestChild, isThin } from '../edit.ts';
import { childOf } from '../node.ts';
import type { Extent, InternalNode, LeafNode, TreeNode } from '../node.ts';
import type { BlockNumber } from '../../block/block-number.ts';
import type { Tree } from '../tree.ts';
import { clipRanges, joinRanges } from '../../run/range-delete.ts';
import type { RangeDelete } from '../../run/range-delete.ts';
import { gatherJob, hinder, tryNode, weighedAgain } from './hindrance.ts';
import type { JobContext } from './job-context.ts';
import { bufferWork, leafWork, leavesFor, pivotsBetween, present, sourcesOf } from './job-context.ts';
import type { JobStep } from './request.ts';
import { merge, readNode } from './request.ts';
import { replaceChildren } from './replace-children.ts';
import { splitNode, splitRoot } from './split.ts';
import { collectSubtree, emptySubtree, hidesAll, unsettled } from './subtree.ts';

/** Pushes the heaviest buffer of node `number` one level down. */
export function* pushJob(tree: Tree, context: JobContext, number: BlockNumber): JobStep<Edit> {
  const node = yield* readNode(number);
  assert(node.kind === 'internal', 'only internal nodes have buffers');
  const { child: index, weight } = heaviestChild(tree, node, context.limits);
  if (tree.hindered.has(must(node.children[index], 'a child')) && !goesUnread(tree, node, index, context.limits)) {
    return weight > 0 ? yield* gatherJob(tree, context, node, index) : weighedAgain(node);
  }
  const stays = isThin(node, index, context) && !(yield* isHandedOn(node, index));
  return stays ? yield* gatherJob(tree, context, node, index) : yield* tryChild(tree, context, node, index);
}

/** Whether what waits for a child goes down as it is. */
function* isHandedOn(node: InternalNode, index: number): JobStep<boolean> {
  if (node.height === 1 || (node.ranges[index] ?? []).length > 0) return false;
  const child = yield* tryNode(must(node.children[index], 'a child'));
  return child === undefined || (child.kind === 'internal' && receiverOf(must(node.buffers[index], 'a buffer'), child) !== undefined);
}

/** Pushes down what waits for child `index`; where damage does not let it, the child is noted as hindered. */
export function* tryChild(tree: Tree, context: JobContext, node: InternalNode, index: number): JobStep<Edit> {
  try {
    return yield* pushChild(tree, context, node, index);
  } catch (error) {
    return hinder(node, must(node.children[index], 'a child'), error, node.buffers[index]);
  }
}

/** Pushes down what waits for child `index`. */
export function* pushChild(tree: Tree, context: JobContext, node: InternalNode, index: number): JobStep<Edit> {
  const child = yield* readNode(must(node.children[index], 'a child'));
  const buffer = must(node.buffers[index], 'a buffer');
  const work = { tree, node, index, buffer, ranges: node.ranges[index] ?? [] };
  if (child.kind === 'leaf') return yield* pushToLeaf(context, work, child);
  return hidesAll(context, work.ranges) ? yield* pushOverSubtree(context, work, child) : yield* pushToNode(context, work, child);
}

interface Work {
  readonly tree: Tree;
  readonly node: InternalNode;
  readonly index: number;
  readonly buffer: readonly Extent[];
  readonly ranges: readonly RangeDelete[];
}

function* pushToNode(context: JobContext, work: Work, child: InternalNode): JobStep<Edit> {
  const receiver = work.ranges.length === 0 ? receiverOf(work.buffer, child) : undefined;
  const extents = receiver === undefined ? yield* merge(bufferWork(context, { sources: sourcesOf(work.buffer), ranges: work.ranges }, child.pivots)) : [];
  const buffers = child.buffers.map((below, grandchild) => {
    if (grandchild === receiver) return [...work.buffer, ...below];
    const extent = extents[grandchild];
    return extent === undefined ? below : [extent, ...below];
  });
  const ranges = child.ranges.map((below, grandchild) => {
    const added = clipRanges(work.ranges, child.pivots[grandchild - 1], child.pivots[grandchild]);
    return joinRanges(added, below, context.snapshots);
  });
  // Nothing waits for the child now, so this is the moment in which it may split.
  const split = splitNode(context, { ...child, buffers, ranges });
  const added = present(extents);
  const parent = replaceChild(work, split.nodes.map((node) => node.number), split.pivots);
  return closeEdit(context, work.tree, { parent, below: split.nodes, added, dropped: receiver === undefined ? work.buffer : [], leavesDelta: 0, removed: [] });
}

/**
 * The grandchild to which a whole buffer goes as it is, unread: all its keys are that one's, and no two runs share keys, so merging them would drop
 * nothing. Keys that come in order, as those of most collections do, are written once above the leaf, however high the tree is.
 */
function receiverOf(buffer: readonly Extent[], child: InternalNode): number | undefined {
  const fences = buffer.map((extent) => extent.fences).sort((a, b) => compareBytes(a.firstKey(0), b.firstKey(0)));
  const [first] = fences;
  if (first === undefined) return undefined;
  const receiver = childOf(child, first.firstKey(0));
  const isOne = fences.every(({ lastKey }, i) => childOf(child, lastKey) === receiver && fences[i + 1]?.begins(lastKey) !== false);
  return isOne ? receiver : undefined;
}

/** Everything below the child goes; what is left of the buffer is newer. */
function* pushOverSubtree(context: JobContext, work: Work, child: InternalNode): JobStep<Edit> {
  const below = yield* collectSubtree(child.number);
  const [left] = yield* merge(bufferWork(context, { sources: sourcesOf(work.buffer), ranges: work.ranges }, []));
  const waiting = { extents: left === undefined ? [] : [left], ranges: left === undefined ? [] : unsettled(context, work.ranges) };
  const dropped = [...work.buffer, ...below.extents];
  if (left === undefined && work.node.children.length > 1) {
    return closeEdit(context, work.tree, { parent: replaceChild(work, [], []), below: [], added: [], dropped, leavesDelta: -below.leaves, removed: below.nodes });
  }
  const nodes = emptySubtree(context, child, waiting);
  const removed = below.nodes.filter((number) => number !== child.number);
  return closeEdit(context, work.tree, {
    parent: replaceChild(work, [child.number], []), below: nodes, added: waiting.extents, dropped, leavesDelta: 1 - below.leaves, removed,
  });
}

function* pushToLeaf(context: JobContext, work: Work, leaf: LeafNode): JobStep<Edit> {
  const dropped = [...work.buffer, ...extentsOfAll([leaf])];
  const merged = hidesAll(context, work.ranges) ? work.buffer : dropped;
  const rawBytes = merged.reduce((sum, extent) => sum + extent.fences.rawBytes, 0);
  const extents = present(yield* merge(leafWork(context, { sources: sourcesOf(merged), ranges: work.ranges }, rawBytes)));
  if (extents.length === 0 && work.node.children.length > 1) {
    const parent = replaceChild(work, [], []);
    return closeEdit(context, work.tree, { parent, below: [], added: [], dropped, leavesDelta: -1, removed: [leaf.number] });
  }
  const leaves = leavesFor(context, extents, leaf.number);
  const parent = replaceChild(work, leaves.map((node) => node.number), pivotsBetween(extents));
  return closeEdit(context, work.tree, { parent, below: leaves, added: extents, dropped, leavesDelta: leaves.length - 1, removed: [] });
}

function replaceChild({ node, index }: Work, children: readonly BlockNumber[], between: readonly Uint8Array[]): InternalNode {
  return replaceChildren(node, { from: index, count: 1 }, children, between);
}

/** What came of a job: the parent, and what is below it. */
export interface Outcome {
  readonly parent: InternalNode;
  readonly below: readonly TreeNode[];
  readonly added: readonly Extent[];
  readonly dropped: readonly Extent[];
  readonly removed: readonly BlockNumber[];
  readonly leavesDelta: number;
}

/** Makes the edit; a root may split, or give its place to its only child. */
export function closeEdit(context: JobContext, tree: Tree, outcome: Outcome): Edit {
  const { parent, below, added, dropped, removed, leavesDelta } = outcome;
  const common = { dropped, added, leavesDelta, flushed: undefined };
  if (parent.number !== tree.root) {
    return { nodes: [...below, parent], removed, root: undefined, height: undefined, ...common };
  }
  const only = parent.children.length === 1 && (parent.buffers[0] ?? []).length === 0 && (parent.ranges[0] ?? []).length === 0 ? parent.children[0] : undefined;
  if (only !== undefined) {
    return { nodes: below, removed: [...removed, parent.number], root: only, height: parent.height - 1, ...common };
  }
  const grown = splitRoot(context, parent);
  return { nodes: [...below, ...grown.nodes], removed, root: grown.root.number, height: grown.root.height, ...common };
}
