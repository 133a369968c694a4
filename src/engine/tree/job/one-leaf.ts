// Flushing a front of which all keys belong to one leaf, as those of documents do that come in the order of their keys: past the buffers into that
// leaf, or into new leaves behind it, which is then not read. What waits on the way is older than the front and newer than the leaf, so it goes
// along, and only where all of it is that leaf's too; else nothing is done here. Afterwards nothing waits on the way, so each node of it may split.

import { compareBytes } from '../../../base/bytes.ts';
import { must } from '../../../base/assert.ts';
import type { Edit } from '../edit.ts';
import { extentsOfAll } from '../edit.ts';
import type { Front } from '../front.ts';
import { childOf } from '../node.ts';
import type { Extent, InternalNode, LeafNode, TreeNode } from '../node.ts';
import type { Tree } from '../tree.ts';
import type { JobContext } from './job-context.ts';
import { leafWork, leavesFor, pivotsBetween, present, sourcesOf } from './job-context.ts';
import { closeEdit } from './push-job.ts';
import { replaceChildren } from './replace-children.ts';
import type { JobStep } from './request.ts';
import { merge, readNode } from './request.ts';
import { splitNode } from './split.ts';

/** Less than this part of a leaf waits in buffers for company: a leaf is not written again for it. */
const leafPart = 1 / 2;
/** A leaf with this part of `pageBytes` is left as it is when everything comes behind it. */
const fullPart = 1 / 2;

/** One node of the way down, and which child is next. */
interface Step {
  readonly node: InternalNode;
  readonly index: number;
}

/** The way to a leaf, and what waits on it, newest first. */
interface Way {
  readonly steps: readonly Step[];
  readonly leaf: LeafNode;
  readonly waiting: readonly Extent[];
}

/** The edit of a front that belongs to one leaf; undefined where it does not, or is not worth it. */
export function* flushToOneLeaf(tree: Tree, context: JobContext, root: InternalNode, front: Front): JobStep<Edit | undefined> {
  if (front.count === 0 || front.ranges.length > 0 || tree.hindered.size > 0) return undefined;
  const way = yield* wayOf(root, front);
  if (way === undefined) return undefined;
  const bytes = front.messageBytes + rawOf(way.waiting);
  if (bytes < context.options.pageBytes * leafPart) return undefined;
  const { leaf, waiting } = way;
  const isBehind = leaf.extent !== undefined && leaf.extent.fences.rawBytes >= context.options.pageBytes * fullPart && isAllBehind(leaf.extent.fences.lastKey, front, waiting);
  const below = isBehind ? [] : extentsOfAll([leaf]);
  const sources = [{ kind: 'front' as const, front }, ...sourcesOf([...waiting, ...below])];
  const extents = present(yield* merge(leafWork(context, { sources, ranges: [] }, bytes + rawOf(below))));
  const made = isBehind ? extents.map((extent): LeafNode => ({ kind: 'leaf', number: context.newNumber(), extent })) : leavesFor(context, extents, leaf.number);
  const children = isBehind ? [leaf, ...made] : made;
  const between = isBehind ? extents.map(({ fences }) => fences.firstKey(0).slice()) : pivotsBetween(extents);
  const { parent, nodes } = climb(context, way.steps, children, between);
  const edit = closeEdit(context, tree, { parent, below: [...made, ...nodes], added: extents, dropped: [...waiting, ...below], leavesDelta: children.length - 1, removed: [] });
  return { ...edit, flushed: front };
}

/** The way to the leaf of all keys of the front, if one has them and what waits on the way. */
function* wayOf(root: InternalNode, front: Front): JobStep<Way | undefined> {
  const [key, last] = [front.key(0), front.key(front.count - 1)];
  const steps: Step[] = [];
  const waiting: Extent[] = [];
  let from: Uint8Array | undefined;
  let to: Uint8Array | undefined;
  let node: TreeNode = root;
  while (node.kind === 'internal') {
    const index = childOf(node, key);
    from = index === 0 ? from : node.pivots[index - 1];
    to = node.pivots[index] ?? to;
    // Keys in no order are most often told by the first and the last that came; all are looked at when these two belong to one leaf.
    if ((node.ranges[index] ?? []).length > 0 || childOf(node, last) !== index) return undefined;
    steps.push({ node, index });
    waiting.push(...(node.buffers[index] ?? []));
    node = yield* readNode(must(node.children[index], 'a child'));
  }
  return waiting.every((extent) => isWithin(extent, from, to)) && front.isWithin(from, to) ? { steps, leaf: node, waiting } : undefined;
}

function isWithin({ fences }: Extent, from: Uint8Array | undefined, to: Uint8Array | undefined): boolean {
  return (from === undefined || compareBytes(fences.firstKey(0), from) >= 0) && (to === undefined || compareBytes(fences.lastKey, to) < 0);
}

/** Whether all keys are behind `last`. */
function isAllBehind(last: Uint8Array, front: Front, waiting: readonly Extent[]): boolean {
  const next = new Uint8Array(last.length + 1);
  next.set(last);
  return front.isWithin(next, undefined) && waiting.every(({ fences }) => fences.begins(last));
}

/** Puts children in the place of the leaf; nodes that get too wide by it are split, up to the root. The uppermost that has changed, and those below it. */
function climb(context: JobContext, steps: readonly Step[], leaves: readonly LeafNode[], pivots: readonly Uint8Array[]): { readonly parent: InternalNode; readonly nodes: readonly InternalNode[] } {
  const nodes: InternalNode[] = [];
  let [children, between]: [readonly InternalNode['number'][], readonly Uint8Array[]] = [leaves.map(({ number }) => number), pivots];
  for (let level = steps.length - 1; ; level--) {
    const { node, index } = must(steps[level], 'a node of the way');
    const parent = replaceChildren(node, { from: index, count: 1 }, children, between);
    if (level === 0) return { parent, nodes };
    const split = splitNode(context, parent);
    nodes.push(...split.nodes);
    [children, between] = [split.nodes.map(({ number }) => number), split.pivots];
  }
}

function rawOf(extents: readonly Extent[]): number {
  return extents.reduce((sum, { fences }) => sum + fences.rawBytes, 0);
}
