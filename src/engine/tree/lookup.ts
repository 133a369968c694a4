// Basements in memory: what every synchronous walk asks for, and what it says when one is not there.

import { basementKey } from '../cache/part-cache.ts';
import type { PartKey } from '../cache/part-cache.ts';
import { Run } from '../run/run.ts';
import type { Extent } from './node.ts';
import type { Miss, Part } from './tree.ts';

/** Where a walk finds parts: the cache, or that and what the walk has read for itself. */
export interface PartsInMemory {
  get(key: PartKey): Part | undefined;
}

/** A basement, if it is in memory. */
export function basementRun(cache: PartsInMemory, extent: Extent, index: number): Run | undefined {
  const part = cache.get(basementKey(extent.block, index));
  return part instanceof Run ? part : undefined;
}

/** Says that basement `index` of `extent` must be read before the search can go on; `ahead`: so many behind it will be wanted, or before it. */
export function missOf(extent: Extent, index: number, ahead: number = 0): Miss {
  return { kind: 'miss', block: extent.block, part: { kind: 'basement', index, extent, ahead } };
}
