// Point reads: the fronts, then on the way from root to leaf the runs that wait for the key's child, then the leaf; the first message that
// the snapshot sees decides. Of an extent first its filter is asked, so that a key that is not there costs no basement (law 28). Synchronous;
// what is not in memory comes back as a Miss.

import { compareBytes } from '../../base/bytes.ts';
import { keyHash } from '../../base/hash.ts';
import { filterKey } from '../cache/part-cache.ts';
import { Filter } from '../run/filter.ts';
import { messageKinds } from '../run/message.ts';
import { coveringSeq } from '../run/range-delete.ts';
import type { Run } from '../run/run.ts';
import { said, updatedBy } from './found.ts';
import type { Found } from './found.ts';
import { basementRun, missOf } from './lookup.ts';
import type { PartsInMemory } from './lookup.ts';
import { searchChain } from './search-chain.ts';
import { SpilledFront } from './spilled.ts';
import type { Extent, TreeNode } from './node.ts';
import { childOf } from './node.ts';
import type { Miss, Tree } from './tree.ts';
import { isAboveAll } from './upper-bound.ts';

/** Whether a search or lookup stopped at something that is not in memory. */
export function isMiss(found: Found | TreeNode | Run | Miss): found is Miss {
  return typeof found === 'object' && 'block' in found;
}

/** A key that is looked for, the newest seq that counts, and the newest seq with which a range delete on the path covers it; 0: none does. */
interface Wanted {
  readonly key: Uint8Array;
  readonly hash: number;
  readonly seq: number;
  hidden: number;
  /** Updates that were met on the way to what they build on, newest first; absent: none. */
  updates: Uint8Array[] | undefined;
}

/** Takes a message that the snapshot sees: what it says of the key, or undefined when it is an update of what is older. */
function take(wanted: Wanted, kind: number, value: Uint8Array): Found {
  if (kind === messageKinds.update) {
    (wanted.updates ??= []).push(value);
    return undefined;
  }
  return said(kind, value);
}

/** The newest message of the key that is seen in one extent. */
function searchExtent(cache: PartsInMemory, extent: Extent, wanted: Wanted): Found | Miss {
  const { key, hash, seq } = wanted;
  const { fences } = extent;
  if (fences.minSeq > seq) return undefined;
  // All of it is older than the range delete, and so is what lies behind it.
  if (fences.maxSeq < wanted.hidden) return 'removed';
  const first = fences.firstFor(key);
  if (first >= fences.length || (first === 0 && fences.begins(key))) return undefined;
  const index = fences.filterOf(first);
  if (index >= 0) {
    const filter = cache.get(filterKey(extent.block, index));
    if (!(filter instanceof Filter)) return { kind: 'miss', block: extent.block, part: { kind: 'filter', index, extent } };
    if (!filter.mayHold(hash)) return undefined;
  }
  for (let i = first; i < fences.length; i++) {
    const run = basementRun(cache, extent, i);
    if (run === undefined) return missOf(extent, i);
    const found = searchRun(run, wanted);
    if (found !== undefined) return found;
    if (i + 1 < fences.length && compareBytes(fences.firstKey(i + 1), key) > 0) break;
  }
  return undefined;
}

/** The message of the key in one basement that decides, if one does. */
function searchRun(run: Run, wanted: Wanted): Found {
  const { key, seq, hidden } = wanted;
  const first = run.find(key, 0, run.count, seq);
  if (first < 0) return undefined;
  for (let at = first; at < run.count && (at === first || run.sorted.equals(at, key)); at++) {
    if (run.seq(at) < hidden) return 'removed';
    const found = take(wanted, run.kinds[at] as number, run.value(at));
    if (found !== undefined) return found;
  }
  return undefined;
}

function searchFronts(tree: Tree, cache: PartsInMemory, wanted: Wanted): Found | Miss {
  const { key, hash, seq } = wanted;
  for (const front of tree.fronts()) {
    if (front instanceof SpilledFront) {
      const found = searchSpilled(cache, front, wanted);
      if (found !== undefined) return found;
      continue;
    }
    const entry = front.find(key, seq, hash);
    const hidden = front.ranges.length === 0 ? 0 : coveringSeq(front.ranges, key, seq);
    for (let at = entry; at >= 0; at = front.olderOf(at)) {
      const found = front.seq(at) >= hidden ? take(wanted, front.kind(at), front.value(at)) : 'removed';
      if (found !== undefined) return found;
    }
    // What is below is older than the range delete.
    if (hidden > 0) return 'removed';
  }
  return undefined;
}

/** A committed transaction's spilled part: what it put or removed, or hid with a range delete. */
function searchSpilled(cache: PartsInMemory, front: SpilledFront, wanted: Wanted): Found | Miss {
  const { key, seq } = wanted;
  if (front.seq > seq) return undefined;
  const found = searchChain(cache, front.spill.extents, key, everyOperation);
  if (found !== undefined && 'block' in found) return found;
  const taken = found === undefined ? undefined : take(wanted, found.run.kinds[found.index] as number, found.run.value(found.index));
  if (taken !== undefined) return taken;
  return coveringSeq(front.ranges, key, seq) > 0 ? 'removed' : undefined;
}

const everyOperation = { seqMax: Infinity, takenBack: [] };

/** The value of `key` as the snapshot `seq` sees it; `removed` and undefined both mean that there is none. */
export function search(tree: Tree, cache: PartsInMemory, key: Uint8Array, seq: number): Found | Miss {
  const wanted: Wanted = { key, hash: keyHash(key, 0, key.length), seq, hidden: 0, updates: undefined };
  const found = searchPath(tree, cache, wanted);
  if (wanted.updates === undefined || isMiss(found)) return found;
  return updatedBy(tree.updates, found, wanted.updates);
}

/** The message that decides, on the way from the fronts to the leaf. */
function searchPath(tree: Tree, cache: PartsInMemory, wanted: Wanted): Found | Miss {
  const { key, seq } = wanted;
  let found: Found | Miss = searchFronts(tree, cache, wanted);
  if (found === undefined && isAboveAll(tree, key)) return undefined;
  let number = tree.root;
  while (found === undefined) {
    const node = tree.node(number);
    if (node === undefined) return { kind: 'miss', block: number };
    if (node.kind === 'leaf') {
      wanted.hidden = 0;
      return node.extent === undefined ? undefined : searchExtent(cache, node.extent, wanted);
    }
    const child = childOf(node, key);
    const ranges = node.ranges[child] ?? [];
    const hidden = ranges.length === 0 ? 0 : coveringSeq(ranges, key, seq);
    wanted.hidden = hidden;
    tree.notePassed(node, child, 1);
    for (const extent of node.buffers[child] ?? []) {
      found = searchExtent(cache, extent, wanted);
      if (found !== undefined) break;
    }
    if (found === undefined && hidden > 0) return 'removed';
    number = node.children[child] as typeof number;
  }
  return found;
}
