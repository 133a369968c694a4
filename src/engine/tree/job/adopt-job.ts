// The last step of a load: its leaves become the tree, beneath everything that was written to the dictionary since its loading began.

import { assert } from '../../../base/assert.ts';
import { clipRanges } from '../../run/range-delete.ts';
import type { Edit } from '../edit.ts';
import type { Extent, InternalNode, TreeNode } from '../node.ts';
import type { Tree } from '../tree.ts';
import type { JobContext } from './job-context.ts';
import { bufferWork, leavesFor, pivotsBetween, present, sourcesOf } from './job-context.ts';
import type { JobStep } from './request.ts';
import { merge, readNode } from './request.ts';
import { growRoot } from './split.ts';

/** Puts leaves, in order of keys, under what waits in a hollow tree. */
export function* adoptJob(tree: Tree, context: JobContext, loaded: readonly Extent[]): JobStep<Edit> {
  assert(tree.isHollow, 'only a tree that is being loaded takes leaves');
  const top = yield* readNode(tree.root);
  const waiting = top.kind === 'internal' ? top.buffers.flat() : [];
  const leaves = leavesFor(context, loaded, context.newNumber());
  const grown = growRoot(context, leaves, pivotsBetween(loaded));
  const root = grown.root ?? overOne(context, leaves[0]?.number ?? tree.root);
  const extents = root.pivots.length === 0 ? [] : yield* merge(bufferWork(context, { sources: sourcesOf(waiting), ranges: top.kind === 'internal' ? top.ranges.flat() : [] }, root.pivots));
  const filled = withBuffers(root, top, root.pivots.length === 0 ? [waiting] : root.children.map((_, child) => present([extents[child]])));
  const nodes: TreeNode[] = [...grown.nodes.filter(({ number }) => number !== root.number), filled];
  const removed = top.kind === 'internal' ? [top.number, ...top.children] : [top.number];
  return {
    nodes, removed, dropped: root.pivots.length === 0 ? [] : waiting, added: [...loaded, ...present(extents)], root: root.number, height: filled.height,
    leavesDelta: leaves.length - 1, flushed: undefined,
  };
}

/** A root over a single leaf, for what waits. */
function overOne(context: JobContext, child: InternalNode['number']): InternalNode {
  return { kind: 'internal', number: context.newNumber(), height: 1, pivots: [], children: [child], buffers: [[]], ranges: [[]] };
}

function withBuffers(root: InternalNode, top: TreeNode, buffers: readonly (readonly Extent[])[]): InternalNode {
  const ranges = top.kind === 'internal' ? top.ranges.flat() : [];
  return { ...root, buffers, ranges: root.children.map((_, child) => clipRanges(ranges, root.pivots[child - 1], root.pivots[child])) };
}
