// How many entries the bounds of an index hold: counted a little way, by a scan of keys that stops at a cap. All candidates are counted in turn
// with growing caps until the smallest is known; the others are then at least as large.

import type { CatalogTransaction, Cursor, KeyRange } from '../catalog/index.ts';
import type { OperationContext } from '../session/index.ts';
import type { IndexBounds } from './index-bounds.ts';
import { scanRanges } from './scan-ranges.ts';

/** Counts the entries of one index's bounds. */
export class EntryCounter {
  readonly bounds: IndexBounds;
  readonly #ranges: readonly KeyRange[];
  #range = 0;
  #cursor: Cursor | undefined;
  /** Entries counted so far. */
  count = 0;
  /** Whether that is all of them. */
  isComplete = false;

  constructor(bounds: IndexBounds) {
    this.bounds = bounds;
    this.#ranges = scanRanges(bounds).ranges;
  }

  /** Counts on until `cap` entries or the end. */
  async countTo(txn: CatalogTransaction, cap: number): Promise<void> {
    while (!this.isComplete && this.count < cap) {
      const range = this.#ranges[this.#range];
      if (range === undefined) {
        this.isComplete = true;
        return;
      }
      this.#cursor ??= this.bounds.index.scan(txn, range, 1);
      const found = this.#cursor.nextBatch({ rows: Math.min(cap - this.count, 512), bytes: 1 << 20 });
      const batch = found instanceof Promise ? await found : found;
      this.count += batch.length;
      if (batch.length > 0) continue;
      this.close();
      this.#range += 1;
    }
  }

  close(): void {
    this.#cursor?.close();
    this.#cursor = undefined;
  }
}

/** Counts all candidates with the caps in turn, until one is complete. */
export async function countCandidates(
  txn: CatalogTransaction,
  candidates: readonly IndexBounds[],
  caps: readonly number[],
  context: OperationContext,
): Promise<readonly EntryCounter[]> {
  const counters = candidates.map((bounds) => new EntryCounter(bounds));
  for (const cap of caps) {
    for (const counter of counters) await counter.countTo(txn, cap);
    context.checkInterrupt();
    if (counters.some((counter) => counter.isComplete)) break;
  }
  for (const counter of counters) counter.close();
  return counters;
}
