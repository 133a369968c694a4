// Subtrees that a range delete covers whole and nobody sees any more: found by their node headers alone, dropped without a leaf being read,
// and followed by the smallest tree of the same height.

import { must } from '../../../base/assert.ts';
import type { BlockNumber } from '../../block/block-number.ts';
import type { RangeDelete } from '../../run/range-delete.ts';
import { isWhole } from '../../run/range-delete.ts';
import type { Extent, InternalNode, LeafNode } from '../node.ts';
import { extentsOf } from '../node.ts';
import type { JobContext } from './job-context.ts';
import type { JobStep } from './request.ts';
import { readNode } from './request.ts';

/** What is below a node, itself included. */
export interface Subtree {
  readonly nodes: readonly BlockNumber[];
  readonly extents: readonly Extent[];
  readonly leaves: number;
}

/** Names everything below a node. */
export function* collectSubtree(root: BlockNumber): JobStep<Subtree> {
  const nodes = [root];
  const extents: Extent[] = [];
  let leaves = 0;
  for (let at = 0; at < nodes.length; at++) {
    const node = yield* readNode(must(nodes[at], 'a node of the subtree'));
    extents.push(...extentsOf(node));
    if (node.kind === 'internal') nodes.push(...node.children);
    else leaves += 1;
  }
  return { nodes, extents, leaves };
}

/** Whether one of a child's range deletes hides everything that is below it, for everybody. */
export function hidesAll(context: JobContext, ranges: readonly RangeDelete[]): boolean {
  return ranges.some((range) => isWhole(range) && range.seq <= context.limits.settledSeq);
}

/** Range deletes that hide what somebody still sees. */
export function unsettled(context: JobContext, ranges: readonly RangeDelete[]): RangeDelete[] {
  return ranges.filter(({ seq }) => seq > context.limits.settledSeq);
}

/** An internal node of that height above one empty leaf, with what waits for it. */
export function emptySubtree(
  context: JobContext,
  { number, height }: Pick<InternalNode, 'number' | 'height'>,
  waiting: { readonly extents: readonly Extent[]; readonly ranges: readonly RangeDelete[] },
): (InternalNode | LeafNode)[] {
  const child = context.newNumber();
  const node: InternalNode = { kind: 'internal', number, height, pivots: [], children: [child], buffers: [waiting.extents], ranges: [waiting.ranges] };
  const below = height === 1 ? [leafOf(child)] : emptySubtree(context, { number: child, height: height - 1 }, { extents: [], ranges: [] });
  return [node, ...below];
}

function leafOf(number: BlockNumber): LeafNode {
  return { kind: 'leaf', number, extent: undefined };
}
