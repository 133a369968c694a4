// Looking for one key in what a transaction has spilled.

import { compareBytes } from '../../base/bytes.ts';
import type { Run } from '../run/run.ts';
import { basementRun, missOf } from './lookup.ts';
import type { PartsInMemory } from './lookup.ts';
import type { Chain, TakenBack } from './spilled.ts';
import type { Miss } from './tree.ts';

/** Where a message of a chain lies. */
export interface ChainPlace {
  readonly run: Run;
  readonly index: number;
}

/** The newest message of `key` up to `seqMax` that was not taken back. */
export function searchChain(
  cache: PartsInMemory,
  chain: Chain,
  key: Uint8Array,
  which: { readonly seqMax: number; readonly takenBack: readonly TakenBack[] },
): ChainPlace | Miss | undefined {
  const extent = chain.findLast(({ fences }) => compareBytes(fences.firstKey(0), key) <= 0);
  if (extent === undefined) return undefined;
  const { fences } = extent;
  for (let i = fences.firstFor(key); i < fences.length; i++) {
    const run = basementRun(cache, extent, i);
    if (run === undefined) return missOf(extent, i);
    const index = findCounting(run, key, which);
    if (index >= 0) return { run, index };
    if (i + 1 < fences.length && compareBytes(fences.firstKey(i + 1), key) > 0) break;
  }
  return undefined;
}

function findCounting(run: Run, key: Uint8Array, { seqMax, takenBack }: { readonly seqMax: number; readonly takenBack: readonly TakenBack[] }): number {
  let index = run.find(key, 0, run.count, seqMax);
  while (index >= 0) {
    const seq = run.seq(index);
    const gone = takenBack.find(({ after, upTo }) => seq > after && seq <= upTo);
    if (gone === undefined) return index;
    index = run.find(key, 0, run.count, gone.after);
  }
  return -1;
}
