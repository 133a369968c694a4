// Point reads: the fronts, then on the way from root to leaf the runs that wait for the key's child, then the leaf; the first message that
// the snapshot sees decides. Synchronous; what is not in memory comes back as a Miss.

import { compareBytes } from '../../base/bytes.ts';
import type { PartCache } from '../cache/part-cache.ts';
import { basementKey } from '../cache/part-cache.ts';
import { messageKinds } from '../run/message.ts';
import { coveringSeq } from '../run/range-delete.ts';
import { Run } from '../run/run.ts';
import type { Extent, TreeNode } from './node.ts';
import { childOf } from './node.ts';
import type { Miss, Part, Tree } from './tree.ts';

/** What a search found: a value, or `removed`, or nothing. */
export type Found = Uint8Array | 'removed' | undefined;

/** A basement, if it is in memory. */
export function basementRun(cache: PartCache<Part>, extent: Extent, index: number): Run | undefined {
  const part = cache.get(basementKey(extent.block, index));
  return part instanceof Run ? part : undefined;
}

/** Says that basement `index` of `extent` must be read before the search can go on. */
export function missOf(extent: Extent, index: number): Miss {
  return { kind: 'miss', block: extent.block, basement: { index, extent } };
}

/** Whether a search or lookup stopped at something that is not in memory. */
export function isMiss(found: Found | TreeNode | Run | Miss): found is Miss {
  return typeof found === 'object' && 'block' in found;
}

/** What the snapshot sees of `key`: up to which seq, and the newest seq with which a range delete on the path covers it; 0: none does. */
interface Sight {
  readonly seq: number;
  readonly hidden: number;
}

/** The newest message of `key` that is seen in one extent. */
function searchExtent(cache: PartCache<Part>, extent: Extent, key: Uint8Array, { seq, hidden }: Sight): Found | Miss {
  const { fences } = extent;
  if (fences.find(key) < 0) return undefined;
  for (let i = fences.firstFor(key); i < fences.length; i++) {
    const run = basementRun(cache, extent, i);
    if (run === undefined) return missOf(extent, i);
    const at = run.find(key, 0, run.count, seq);
    if (at >= 0) return run.kinds[at] === messageKinds.put && run.seq(at) >= hidden ? run.value(at) : 'removed';
    if (i + 1 < fences.length && compareBytes(fences.firstKey(i + 1), key) > 0) break;
  }
  return undefined;
}

function searchFronts(tree: Tree, key: Uint8Array, seq: number): Found {
  for (const front of tree.fronts()) {
    const entry = front.find(key, seq);
    const hidden = front.ranges.length === 0 ? 0 : coveringSeq(front.ranges, key, seq);
    if (entry >= 0) return front.kind(entry) === messageKinds.put && front.seq(entry) >= hidden ? front.value(entry) : 'removed';
    // What is below is older than the range delete.
    if (hidden > 0) return 'removed';
  }
  return undefined;
}

/** The value of `key` as the snapshot `seq` sees it; `removed` and undefined both mean that there is none. */
export function search(tree: Tree, cache: PartCache<Part>, key: Uint8Array, seq: number): Found | Miss {
  let found: Found | Miss = searchFronts(tree, key, seq);
  let number = tree.root;
  while (found === undefined) {
    const node = tree.node(number);
    if (node === undefined) return { kind: 'miss', block: number };
    if (node.kind === 'leaf') return node.extent === undefined ? undefined : searchExtent(cache, node.extent, key, { seq, hidden: 0 });
    const child = childOf(node, key);
    const ranges = node.ranges[child] ?? [];
    const hidden = ranges.length === 0 ? 0 : coveringSeq(ranges, key, seq);
    for (const extent of node.buffers[child] ?? []) {
      found = searchExtent(cache, extent, key, { seq, hidden });
      if (found !== undefined) break;
    }
    if (found === undefined && hidden > 0) return 'removed';
    number = node.children[child] as typeof number;
  }
  return found;
}
