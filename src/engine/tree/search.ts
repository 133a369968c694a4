// Point reads: the fronts, then on the way from root to leaf the runs that wait for the key's child, then the leaf; the first message that
// the snapshot sees decides. Of an extent first its filter is asked, so that a key that is not there costs no basement (law 28). Synchronous;
// what is not in memory comes back as a Miss.

import { compareBytes } from '../../base/bytes.ts';
import { keyHash } from '../../base/hash.ts';
import type { PartCache } from '../cache/part-cache.ts';
import { filterKey } from '../cache/part-cache.ts';
import { Filter } from '../run/filter.ts';
import type { Front } from './front.ts';
import { decodeReference } from '../run/blob-reference.ts';
import type { BlobReference } from '../run/blob-reference.ts';
import { messageKinds } from '../run/message.ts';
import { coveringSeq } from '../run/range-delete.ts';
import type { Run } from '../run/run.ts';
import { basementRun, missOf } from './lookup.ts';
import { searchChain } from './search-chain.ts';
import { SpilledFront } from './spilled.ts';
import type { Extent, TreeNode } from './node.ts';
import { childOf } from './node.ts';
import type { Miss, Part, Tree } from './tree.ts';

/** What a search found: a value, a reference to one, or `removed`, or nothing. */
export type Found = Uint8Array | BlobReference | 'removed' | undefined;

/** Whether what was found is a reference. */
export function isReference(found: Found): found is BlobReference {
  return typeof found === 'object' && 'segment' in found;
}

/** Whether a search or lookup stopped at something that is not in memory. */
export function isMiss(found: Found | TreeNode | Run | Miss): found is Miss {
  return typeof found === 'object' && 'block' in found;
}

/** What a message says of its key. */
export function foundIn(run: Run, index: number): Exclude<Found, undefined> {
  const kind = run.kinds[index];
  if (kind === messageKinds.put) return run.value(index);
  return kind === messageKinds.reference ? decodeReference(run.value(index)) : 'removed';
}

/** As `foundIn`, of an entry of a front. */
export function foundInFront(front: Front, entry: number): Exclude<Found, undefined> {
  const kind = front.kind(entry);
  if (kind === messageKinds.put) return front.value(entry);
  return kind === messageKinds.reference ? decodeReference(front.value(entry)) : 'removed';
}

/** A key that is looked for, the newest seq that counts, and the newest seq with which a range delete on the path covers it; 0: none does. */
interface Wanted {
  readonly key: Uint8Array;
  readonly hash: number;
  readonly seq: number;
  hidden: number;
}

/** The newest message of the key that is seen in one extent. */
function searchExtent(cache: PartCache<Part>, extent: Extent, { key, hash, seq, hidden }: Wanted): Found | Miss {
  const { fences } = extent;
  if (fences.minSeq > seq) return undefined;
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
    const at = run.find(key, 0, run.count, seq);
    if (at >= 0) return run.seq(at) >= hidden ? foundIn(run, at) : 'removed';
    if (i + 1 < fences.length && compareBytes(fences.firstKey(i + 1), key) > 0) break;
  }
  return undefined;
}

function searchFronts(tree: Tree, cache: PartCache<Part>, wanted: Wanted): Found | Miss {
  const { key, hash, seq } = wanted;
  for (const front of tree.fronts()) {
    if (front instanceof SpilledFront) {
      const found = searchSpilled(cache, front, wanted);
      if (found !== undefined) return found;
      continue;
    }
    const entry = front.find(key, seq, hash);
    const hidden = front.ranges.length === 0 ? 0 : coveringSeq(front.ranges, key, seq);
    if (entry >= 0) return front.seq(entry) >= hidden ? foundInFront(front, entry) : 'removed';
    // What is below is older than the range delete.
    if (hidden > 0) return 'removed';
  }
  return undefined;
}

/** A committed transaction's spilled part: what it put or removed, or hid with a range delete. */
function searchSpilled(cache: PartCache<Part>, front: SpilledFront, { key, seq }: Wanted): Found | Miss {
  if (front.seq > seq) return undefined;
  const found = searchChain(cache, front.spill.extents, key, everyOperation);
  if (found !== undefined && 'block' in found) return found;
  if (found !== undefined) return foundIn(found.run, found.index);
  return coveringSeq(front.ranges, key, seq) > 0 ? 'removed' : undefined;
}

const everyOperation = { seqMax: Infinity, takenBack: [] };

/** The value of `key` as the snapshot `seq` sees it; `removed` and undefined both mean that there is none. */
export function search(tree: Tree, cache: PartCache<Part>, key: Uint8Array, seq: number): Found | Miss {
  const wanted: Wanted = { key, hash: keyHash(key, 0, key.length), seq, hidden: 0 };
  let found: Found | Miss = searchFronts(tree, cache, wanted);
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
    for (const extent of node.buffers[child] ?? []) {
      found = searchExtent(cache, extent, wanted);
      if (found !== undefined) break;
    }
    if (found === undefined && hidden > 0) return 'removed';
    number = node.children[child] as typeof number;
  }
  return found;
}
