// Flushing a frozen front: into one new run for each child of the root, which is not read; or, where the root is a leaf, into that leaf, and
// where all keys are one leaf's past the buffers (one-leaf.ts). A
// range delete over everything makes a new tree of what came with it and after it. What is damaged below does not keep a front in memory.

import { assert, must } from '../../../base/assert.ts';
import type { EngineError } from '../../../base/errors.ts';
import type { Edit } from '../edit.ts';
import { extentsOfAll } from '../edit.ts';
import type { Front } from '../front.ts';
import { clipRanges, joinRanges } from '../../run/range-delete.ts';
import type { Extent, InternalNode, LeafNode, TreeNode } from '../node.ts';
import { SpilledFront } from '../spilled.ts';
import type { Tree } from '../tree.ts';
import { hinder, isHindrance, tryNode } from './hindrance.ts';
import { mergeReadable } from './lost-stretch.ts';
import type { JobContext } from './job-context.ts';
import { bufferWork, leafWork, leavesFor, pivotsBetween, present, sourcesOf } from './job-context.ts';
import type { MergeSource } from './merge-request.ts';
import { flushToOneLeaf } from './one-leaf.ts';
import type { JobStep } from './request.ts';
import { merge, readNode } from './request.ts';
import { growRoot } from './split.ts';
import { collectSubtree, hidesAll } from './subtree.ts';

/** Moves the tree's oldest frozen front one level down. */
export function* flushJob(tree: Tree, context: JobContext): JobStep<Edit> {
  const front = must(tree.frozen.at(-1), 'a frozen front');
  try {
    return yield* flushDown(tree, context, front);
  } catch (error) {
    if (!isHindrance(error) || tree.isHollow) throw error;
    return yield* flushAboveDamage(tree, context, front, error);
  }
}

function* flushDown(tree: Tree, context: JobContext, front: Front | SpilledFront): JobStep<Edit> {
  const root = yield* readNode(tree.root);
  if (tree.isHollow) return yield* flushToHollow(context, root, front);
  if (hidesAll(context, front.ranges)) return yield* flushOverAll(context, root, front);
  if (root.kind === 'leaf') return yield* flushToLeaf(context, root, front);
  const ordered = front instanceof SpilledFront ? undefined : yield* flushToOneLeaf(tree, context, root, front);
  return ordered ?? (yield* flushToBuffers(context, root, front));
}

/** Where the root is a leaf, or cannot be read, or what is below it, the front waits above what is damaged: under a root of its own where there is none. */
function* flushAboveDamage(tree: Tree, context: JobContext, front: Front | SpilledFront, error: EngineError): JobStep<Edit> {
  const root = yield* tryNode(tree.root);
  if (root?.kind === 'internal') return yield* flushToBuffers(context, root, front);
  const top: InternalNode = { kind: 'internal', number: context.newNumber(), height: tree.height + 1, pivots: [], children: [tree.root], buffers: [[]], ranges: [[]] };
  const hindered = isOwnDamage(front, error) ? undefined : hinder(top, tree.root, error).hindered;
  const edit = yield* flushToBuffers(context, top, front);
  return { ...edit, root: top.number, height: top.height, ...(hindered === undefined ? {} : { hindered }) };
}

/** Whether it is the front itself that is damaged, and not what is below it. */
function isOwnDamage(front: Front | SpilledFront, { place: { block } }: EngineError): boolean {
  return front instanceof SpilledFront && front.spill.extents.some((extent) => extent.block === block);
}

function* flushToBuffers(context: JobContext, root: InternalNode, front: Front | SpilledFront): JobStep<Edit> {
  const { merged, lost } = front instanceof SpilledFront ? yield* mergeReadable(context, front, root) : { merged: yield* merge(bufferWork(context, { sources: sourcesOfFront(front), ranges: front.ranges }, root.pivots)), lost: [] };
  const newest = root.buffers.map((_, child) => [...present([merged[child]]), ...(lost[child] ?? [])]);
  const buffers = root.buffers.map((buffer, child) => [...(newest[child] ?? []), ...buffer]);
  const added = newest.flat();
  const ranges = root.ranges.map((waiting, child) => joinRanges(clipRanges(front.ranges, root.pivots[child - 1], root.pivots[child]), waiting, context.snapshots));
  const node: InternalNode = { ...root, buffers, ranges };
  return { nodes: [node], removed: [], dropped: [], added, root: undefined, height: undefined, leavesDelta: 0, flushed: front };
}

function* flushToLeaf(context: JobContext, leaf: LeafNode, front: Front | SpilledFront): JobStep<Edit> {
  const extents = yield* mergeFront(context, front, extentsOfAll([leaf]));
  const leaves = leavesFor(context, extents, leaf.number);
  const grown = growRoot(context, leaves, pivotsBetween(extents));
  return {
    nodes: grown.nodes, removed: [], dropped: extentsOfAll([leaf]), added: extents, root: grown.root?.number, height: grown.root?.height,
    leavesDelta: leaves.length - 1, flushed: front,
  };
}

function sourcesOfFront(front: Front | SpilledFront): MergeSource[] {
  if (front instanceof SpilledFront) return front.sources();
  return front.count === 0 ? [] : [{ kind: 'front', front }];
}

/** Leaves of a front and what is below it. */
function* mergeFront(context: JobContext, front: Front | SpilledFront, below: readonly Extent[]): JobStep<Extent[]> {
  const rawBytes = front.messageBytes + below.reduce((sum, extent) => sum + extent.fences.rawBytes, 0);
  const sources = [...sourcesOfFront(front), ...sourcesOf(below)];
  return present(yield* merge(leafWork(context, { sources, ranges: front.ranges }, rawBytes)));
}

/** What is in the tree goes, unread; what the front holds is the new one. */
function* flushOverAll(context: JobContext, root: TreeNode, front: Front | SpilledFront): JobStep<Edit> {
  const below = yield* collectSubtree(root.number);
  const extents = yield* mergeFront(context, front, []);
  const leaves = leavesFor(context, extents, context.newNumber());
  const grown = growRoot(context, leaves, pivotsBetween(extents));
  return {
    nodes: grown.nodes, removed: below.nodes, dropped: below.extents, added: extents,
    root: grown.root?.number ?? must(leaves[0], 'a tree has a leaf').number, height: grown.root?.height ?? 0,
    leavesDelta: leaves.length - below.leaves, flushed: front,
  };
}

/** Of a tree that is being loaded everything waits at the top, since nobody knows yet what it is newer than. */
function* flushToHollow(context: JobContext, root: TreeNode, front: Front | SpilledFront): JobStep<Edit> {
  if (root.kind === 'internal') return yield* flushToBuffers(context, root, front);
  assert(root.extent === undefined, 'a tree is empty when its loading begins');
  const number = context.newNumber();
  const empty: InternalNode = { kind: 'internal', number, height: 1, pivots: [], children: [root.number], buffers: [[]], ranges: [[]] };
  const edit = yield* flushToBuffers(context, empty, front);
  return { ...edit, root: number, height: 1 };
}
