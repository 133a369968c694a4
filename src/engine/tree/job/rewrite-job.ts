// Writing a tree anew, leaf by leaf, as its options say now: codec, size of leaves, size of basements. One step a job, so that commits and reads go
// on between: on the way down to the leaf of a key what waits above is pushed first, then the leaf is written with what waits for it. A place is
// a key, so that whatever other jobs do between two steps changes nothing of it.

import { compareBytes } from '../../../base/bytes.ts';
import { must } from '../../../base/assert.ts';
import type { Edit } from '../edit.ts';
import { extentsOfAll } from '../edit.ts';
import type { InternalNode, LeafNode } from '../node.ts';
import type { Tree } from '../tree.ts';
import type { JobContext } from './job-context.ts';
import { leafWork, leavesFor, pivotsBetween, present, sourcesOf } from './job-context.ts';
import { pushChild } from './push-job.ts';
import type { JobStep } from './request.ts';
import { merge, readNode } from './request.ts';
import { growRoot } from './split.ts';

/** Where the writing stands. */
export interface RewritePlace {
  /** The leaf that holds this key, or would, is next; undefined: the first. */
  from: Uint8Array | undefined;
  /** How many levels of the way to it have been pushed. */
  pushed: number;
  /** The last leaf is written. */
  done: boolean;
}

/** The next step, which moves the place on; without an edit where nothing waited on that level. */
export function* rewriteJob(tree: Tree, context: JobContext, place: RewritePlace): JobStep<Edit | undefined> {
  const root = yield* readNode(tree.root);
  if (root.kind === 'leaf') {
    place.done = true;
    return yield* rewriteRoot(context, root);
  }
  let node: InternalNode = root;
  let end: Uint8Array | undefined;
  for (let level = 0; ; level++) {
    const index = childFor(node, place.from);
    end = node.pivots[index] ?? end;
    if (node.height === 1) {
      place.from = end;
      place.pushed = 0;
      place.done = end === undefined;
      return yield* pushChild(tree, context, node, index);
    }
    if (level >= place.pushed) {
      place.pushed = level + 1;
      const waits = (node.buffers[index] ?? []).length > 0 || (node.ranges[index] ?? []).length > 0;
      return waits ? yield* pushChild(tree, context, node, index) : undefined;
    }
    const child = yield* readNode(must(node.children[index], 'a child'));
    if (child.kind === 'leaf') return undefined;
    node = child;
  }
}

/** The child that has a key. */
function childFor({ pivots }: InternalNode, key: Uint8Array | undefined): number {
  if (key === undefined) return 0;
  let index = 0;
  while (index < pivots.length && compareBytes(must(pivots[index], 'a pivot'), key) <= 0) index += 1;
  return index;
}

function* rewriteRoot(context: JobContext, leaf: LeafNode): JobStep<Edit | undefined> {
  const below = extentsOfAll([leaf]);
  if (below.length === 0) return undefined;
  const rawBytes = below.reduce((sum, { fences }) => sum + fences.rawBytes, 0);
  const extents = present(yield* merge(leafWork(context, { sources: sourcesOf(below), ranges: [] }, rawBytes)));
  const leaves = leavesFor(context, extents, leaf.number);
  const grown = growRoot(context, leaves, pivotsBetween(extents));
  return {
    nodes: grown.nodes, removed: [], dropped: below, added: extents, root: grown.root?.number, height: grown.root?.height,
    leavesDelta: leaves.length - 1, flushed: undefined,
  };
}
