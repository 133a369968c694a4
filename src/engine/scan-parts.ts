// What one batch of a long scan reads for itself: basements read ahead do not go into the cache, where they would displace what others use and
// outlive their use. At the end of the batch the cache gets those with which the next batch goes on, so that a cursor holds nothing in between (law 26).

import type { PartCache, PartKey } from './cache/part-cache.ts';
import type { Run } from './run/run.ts';
import type { PartsInMemory } from './tree/lookup.ts';
import type { Scan } from './tree/scan.ts';
import type { Part } from './tree/tree.ts';

/** The cache and what one batch has read for itself. */
export class ScanParts implements PartsInMemory {
  readonly #cache: PartCache<Part>;
  #own: Map<PartKey, Run> | undefined;
  #untouched: Set<PartKey> | undefined;

  constructor(cache: PartCache<Part>) {
    this.#cache = cache;
  }

  get(key: PartKey): Part | undefined {
    const run = this.#own?.get(key);
    if (run === undefined) return this.#cache.get(key);
    this.#untouched?.delete(key);
    return run;
  }

  /** Keeps a basement for this batch. */
  put(key: PartKey, run: Run): void {
    (this.#own ??= new Map()).set(key, run);
    (this.#untouched ??= new Set()).add(key);
  }

  /** The batch is full: what the scan has not passed is the cache's. */
  end(scan: Scan): void {
    for (const [key, run] of this.#own ?? []) {
      if (this.#untouched?.has(key) === true || scan.standsIn(run)) this.#cache.put(key, run, run.byteSize, { as: 'data', pinned: false });
    }
    this.#own = undefined;
  }
}
