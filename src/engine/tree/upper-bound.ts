// What no key below a tree's fronts is greater than: keys that rise, as most new ones do, are known to be absent by one comparison in the place of a
// walk through nodes, buffers and filters. Found on the rightmost path, once for each edit of the tree.

import { compareBytes } from '../../base/bytes.ts';
import type { Tree } from './tree.ts';

const none: Uint8Array = new Uint8Array(0);

function greater(a: Uint8Array, b: Uint8Array): Uint8Array {
  return compareBytes(a, b) < 0 ? b : a;
}

/** No key below the fronts is greater; undefined: a node on the way is not in memory. All that is not on the rightmost path is below its pivots. */
function upperBound(tree: Tree): Uint8Array | undefined {
  let bound = none;
  let number = tree.root;
  for (;;) {
    const node = tree.node(number);
    if (node === undefined) return undefined;
    if (node.kind === 'leaf') return node.extent === undefined ? bound : greater(bound, node.extent.fences.lastKey);
    const last = node.children.length - 1;
    bound = greater(bound, node.pivots.at(-1) ?? none);
    for (const { fences } of node.buffers[last] ?? []) bound = greater(bound, fences.lastKey);
    number = node.children[last] as typeof number;
  }
}

/** Whether no message below the fronts has this key or a greater one, as far as is known. */
export function isAboveAll(tree: Tree, key: Uint8Array): boolean {
  if (tree.upperBound?.version !== tree.version) {
    const bound = upperBound(tree);
    if (bound === undefined) return false;
    tree.upperBound = { version: tree.version, key: bound.slice() };
  }
  return compareBytes(key, tree.upperBound.key) > 0;
}
