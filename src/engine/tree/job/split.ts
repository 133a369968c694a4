// Splitting internal nodes that have more children than the fanout. Nothing is read or written: children and their buffers are dealt out to
// several nodes. The parent must have nothing waiting for the node, since a buffer belongs to one child.

import { must } from '../../../base/assert.ts';
import type { InternalNode, LeafNode, TreeNode } from '../node.ts';
import type { JobContext } from './job-context.ts';

/** A node as several, and the pivots between them. The first keeps the number. */
export interface Split {
  readonly nodes: readonly InternalNode[];
  readonly pivots: readonly Uint8Array[];
}

/** Deals the children out evenly; one node when there are not too many. */
export function splitNode(context: JobContext, node: InternalNode): Split {
  const { fanout } = context.options;
  if (node.children.length <= fanout) return { nodes: [node], pivots: [] };
  // Two thirds full, so that the parts do not split again at once.
  const parts = Math.max(2, Math.ceil(node.children.length / Math.ceil((fanout * 2) / 3)));
  const nodes: InternalNode[] = [];
  const pivots: Uint8Array[] = [];
  for (let part = 0; part < parts; part++) {
    const from = Math.floor((node.children.length * part) / parts);
    const to = Math.floor((node.children.length * (part + 1)) / parts);
    nodes.push({
      kind: 'internal', number: part === 0 ? node.number : context.newNumber(), height: node.height,
      pivots: node.pivots.slice(from, to - 1), children: node.children.slice(from, to), buffers: node.buffers.slice(from, to),
      ranges: node.ranges.slice(from, to),
    });
    if (part > 0) pivots.push(must(node.pivots[from - 1], 'a pivot before every child but the first'));
  }
  return { nodes, pivots };
}

/** Splits a root as often as needed, with new roots above. */
export function splitRoot(context: JobContext, root: InternalNode): { readonly nodes: readonly InternalNode[]; readonly root: InternalNode } {
  const nodes: InternalNode[] = [];
  let top = root;
  for (;;) {
    const split = splitNode(context, top);
    if (split.nodes.length === 1) return { nodes: [...nodes, top], root: top };
    nodes.push(...split.nodes);
    top = {
      kind: 'internal', number: context.newNumber(), height: top.height + 1, pivots: split.pivots,
      children: split.nodes.map((node) => node.number), buffers: split.nodes.map(() => []), ranges: split.nodes.map(() => []),
    };
  }
}

/** Puts as many internal levels over leaves as they need: none over one. */
export function growRoot(context: JobContext, leaves: readonly LeafNode[], pivots: readonly Uint8Array[]): { nodes: TreeNode[]; root: InternalNode | undefined } {
  if (leaves.length === 1) return { nodes: [...leaves], root: undefined };
  const root: InternalNode = {
    kind: 'internal', number: context.newNumber(), height: 1, pivots, children: leaves.map((leaf) => leaf.number), buffers: leaves.map(() => []),
    ranges: leaves.map(() => []),
  };
  const split = splitRoot(context, root);
  return { nodes: [...leaves, ...split.nodes], root: split.root };
}
