// Flushing a frozen front: into one new run for each child of the root, which is not read; or, where the root is a leaf, into that leaf.

import { must } from '../../../base/assert.ts';
import type { Edit } from '../edit.ts';
import { extentsOfAll } from '../edit.ts';
import type { Front } from '../front.ts';
import type { InternalNode, LeafNode, TreeNode } from '../node.ts';
import type { Tree } from '../tree.ts';
import type { JobContext } from './job-context.ts';
import { bufferWork, leafWork, leavesFor, pivotsBetween, present, sourcesOf } from './job-context.ts';
import type { MergeSource } from './merge-work.ts';
import type { JobStep } from './request.ts';
import { merge, readNode } from './request.ts';
import { splitRoot } from './split.ts';

/** Moves the tree's oldest frozen front one level down. */
export function* flushJob(tree: Tree, context: JobContext): JobStep<Edit> {
  const front = must(tree.frozen.at(-1), 'a frozen front');
  const root = yield* readNode(tree.root);
  return root.kind === 'leaf' ? yield* flushToLeaf(context, root, front) : yield* flushToBuffers(context, root, front);
}

function* flushToBuffers(context: JobContext, root: InternalNode, front: Front): JobStep<Edit> {
  const extents = yield* merge(bufferWork(context, [{ kind: 'front', front }], root.pivots));
  const buffers = root.buffers.map((buffer, child) => {
    const extent = extents[child];
    return extent === undefined ? buffer : [extent, ...buffer];
  });
  const added = present(extents);
  const node: InternalNode = { ...root, buffers };
  return { nodes: [node], removed: [], dropped: [], added, root: undefined, height: undefined, leavesDelta: 0, flushed: front };
}

function* flushToLeaf(context: JobContext, leaf: LeafNode, front: Front): JobStep<Edit> {
  const rawBytes = front.messageBytes + (leaf.extent?.fences.rawBytes ?? 0);
  const sources: MergeSource[] = [{ kind: 'front', front }, ...sourcesOf(extentsOfAll([leaf]))];
  const extents = present(yield* merge(leafWork(context, sources, rawBytes)));
  const leaves = leavesFor(context, extents, leaf.number);
  const grown = growRoot(context, leaves, pivotsBetween(extents));
  return {
    nodes: grown.nodes, removed: [], dropped: extentsOfAll([leaf]), added: extents, root: grown.root?.number, height: grown.root?.height,
    leavesDelta: leaves.length - 1, flushed: front,
  };
}

/** Puts as many internal levels over leaves as they need: none over one. */
function growRoot(context: JobContext, leaves: readonly LeafNode[], pivots: readonly Uint8Array[]): { nodes: TreeNode[]; root: InternalNode | undefined } {
  if (leaves.length === 1) return { nodes: [...leaves], root: undefined };
  const root: InternalNode = {
    kind: 'internal', number: context.newNumber(), height: 1, pivots, children: leaves.map((leaf) => leaf.number), buffers: leaves.map(() => []),
  };
  const split = splitRoot(context, root);
  return { nodes: [...leaves, ...split.nodes], root: split.root };
}
