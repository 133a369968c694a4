// The way of an ordered read from the root to the leaf that holds its position: the extents on it, newest first, and the range of keys for which
// there are no others. Where a range delete hides all that is below, the way ends there (law 12).

import { compareBytes } from '../../base/bytes.ts';
import type { BlockNumber } from '../block/block-number.ts';
import type { Extent, InternalNode } from './node.ts';
import { childOf } from './node.ts';
import { scanPrice } from './read-pressure.ts';
import type { ScanCover } from './scan-cover.ts';
import type { ScanRange } from './scan-source.ts';
import type { ScanView } from './scan-view.ts';
import type { Miss } from './tree.ts';

/** What one leaf's range of keys can be in, below the fronts. */
export interface ScanPath {
  readonly extents: readonly Extent[];
  readonly segment: ScanRange;
}

const everything: ScanRange = { from: undefined, to: undefined };

/** The way down to `position` (backwards: to what is just before it); adds the range deletes on it to `cover`. */
export function descend({ tree, forward }: ScanView, cover: ScanCover, position: Uint8Array | undefined): Miss | ScanPath {
  const extents: Extent[] = [];
  let hidden = cover.isEmpty ? undefined : cover.around(position, forward);
  let { low, high }: { low: Uint8Array | undefined; high: Uint8Array | undefined } = { low: undefined, high: undefined };
  let number: BlockNumber = tree.root;
  while (hidden === undefined) {
    const node = tree.node(number);
    if (node === undefined) return { kind: 'miss', block: number };
    if (node.kind === 'leaf') {
      if (node.extent !== undefined) extents.push(node.extent);
      break;
    }
    const child = childAt(node, position, forward);
    tree.notePassed(node, child, scanPrice);
    extents.push(...(node.buffers[child] ?? []));
    low = node.pivots[child - 1] ?? low;
    high = node.pivots[child] ?? high;
    number = node.children[child] as BlockNumber;
    const ranges = node.ranges[child] ?? [];
    if (ranges.length === 0) continue;
    cover.add(ranges);
    hidden = cover.around(position, forward);
  }
  return { extents, segment: intersect({ from: low, to: high }, hidden ?? everything) };
}

/** The child that holds `position`; backwards, the one that holds what is just before it. */
function childAt(node: InternalNode, position: Uint8Array | undefined, forward: boolean): number {
  if (position === undefined) return forward ? 0 : node.children.length - 1;
  const child = childOf(node, position);
  const low = node.pivots[child - 1];
  return !forward && low !== undefined && compareBytes(low, position) === 0 ? child - 1 : child;
}

/** The keys that are in all of the ranges. */
export function intersect(...ranges: readonly ScanRange[]): ScanRange {
  let { from, to }: ScanRange = { from: undefined, to: undefined };
  for (const range of ranges) {
    if (range.from !== undefined && (from === undefined || compareBytes(range.from, from) > 0)) from = range.from;
    if (range.to !== undefined && (to === undefined || compareBytes(range.to, to) < 0)) to = range.to;
  }
  return { from, to };
}
