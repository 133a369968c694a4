// What a job makes of a node whose children changed: others in the place of some neighbours. See law 15: whoever does this owns the node.

import type { BlockNumber } from '../../block/block-number.ts';
import type { InternalNode } from '../node.ts';

/** The node with other children in the place of some, each with nothing waiting for it. A neighbour takes over the range of those that go. */
export function replaceChildren(
  node: InternalNode,
  { from, count }: { readonly from: number; readonly count: number },
  children: readonly BlockNumber[],
  between: readonly Uint8Array[],
): InternalNode {
  const pivots = [...node.pivots];
  if (children.length === 0) pivots.splice(Math.max(0, from - 1), count);
  else pivots.splice(from, count - 1, ...between);
  return {
    ...node,
    pivots,
    children: [...node.children.slice(0, from), ...children, ...node.children.slice(from + count)],
    buffers: [...node.buffers.slice(0, from), ...children.map(() => []), ...node.buffers.slice(from + count)],
    ranges: [...node.ranges.slice(0, from), ...children.map(() => []), ...node.ranges.slice(from + count)],
  };
}
