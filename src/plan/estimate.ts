// How many entries the bounds of an index hold: counted a little way, by a scan of keys that stops at a cap. All candidates are counted in turn
// with growing caps until the smallest is known, then the others to a few times its size: beyond that they cannot win. Scans that
// begin in the same ranges are counted once, and what was counted is remembered while the collection keeps about its size.

import type { CatalogTransaction, Collection, Cursor, KeyRange } from '../catalog/index.ts';
import { rankIntervals } from './index-bounds.ts';
import type { IndexBounds } from './index-bounds.ts';
import { scanRanges } from './scan-ranges.ts';
import type { Interruptible } from './row.ts';

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
      const found = this.#cursor.nextBatch({ rows: Math.min(cap - this.count, 4096), bytes: 1 << 20 });
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

/** Caps of the trial; the later ones only where every row will be read. */
const caps = [128, 1024] as const;
const wholeCaps = [128, 1024, 8192, 65536] as const;
/** A way whose entries are so many times those of the narrowest costs more even if it fetches nothing. */
const worthCounting = 10;
const rememberedMax = 1000;

/** What is to be estimated. */
export interface Estimation {
  readonly txn: CatalogTransaction;
  readonly collection: Collection;
  readonly candidates: readonly IndexBounds[];
  /** Whether every row will be read, so that a longer look pays. */
  readonly whole: boolean;
}

/** About how many entries each candidate has in its bounds. */
export async function estimateSizes(estimation: Estimation, context: Interruptible): Promise<ReadonlyMap<IndexBounds, number>> {
  const { txn, collection, candidates, whole } = estimation;
  const total = collection.totals(txn).rows;
  const memory = memoryOf(collection);
  const names = new Map(candidates.map((bounds) => [bounds, nameOf(bounds)]));
  const counted = new Map<string, EntryCounter>();
  for (const [bounds, name] of names) if (!memory.knows(name, total) && !counted.has(name)) counted.set(name, new EntryCounter(bounds));
  const known = [...names.values()].map((name) => memory.sizeOf(name)).filter((size) => size !== undefined);
  await countInTurn([...counted.values()], { txn, whole, least: Math.min(total, ...known) }, context);
  for (const [name, counter] of counted) {
    counter.close();
    memory.remember(name, { entries: sizeOf(counter, total), total });
  }
  return new Map(candidates.map((bounds) => [bounds, memory.sizeOf(names.get(bounds) ?? '') ?? total]));
}

interface Turn {
  readonly txn: CatalogTransaction;
  readonly whole: boolean;
  /** The smallest size that is known already. */
  readonly least: number;
}

async function countInTurn(counters: readonly EntryCounter[], { txn, whole, least: known }: Turn, context: Interruptible): Promise<void> {
  let least = known;
  for (const cap of whole ? wholeCaps : caps) {
    if (least <= cap) break;
    for (const counter of counters) await counter.countTo(txn, cap);
    await context.turn();
    least = Math.min(least, ...counters.filter((counter) => counter.isComplete).map((counter) => counter.count));
  }
  if (!whole) return;
  const most = Math.min(least * worthCounting + 64, 2 * wholeCaps[3]);
  for (const counter of counters) await counter.countTo(txn, most);
}

/** A count that was not finished stands for more the wider its bounds look. */
function sizeOf(counter: EntryCounter, total: number): number {
  if (counter.isComplete) return counter.count;
  const shares = [1, 0.6, 0.3, 0.1, 0.05];
  const share = counter.bounds.fields.reduce((product, intervals) => product * (shares[rankIntervals(intervals)] ?? 1), 1);
  return Math.max(counter.count * 1.5, Math.min(total * share, counter.count * 100));
}

interface Remembered {
  readonly entries: number;
  /** Documents of the collection when it was counted. */
  readonly total: number;
}

/** What was counted of one collection, the oldest first. */
class SizeMemory {
  readonly #sizes: Map<string, Remembered> = new Map();

  knows(name: string, total: number): boolean {
    const size = this.#sizes.get(name);
    if (size !== undefined && Math.abs(size.total - total) <= 0.1 * total) return true;
    this.#sizes.delete(name);
    return false;
  }

  sizeOf(name: string): number | undefined {
    return this.#sizes.get(name)?.entries;
  }

  remember(name: string, size: Remembered): void {
    this.#sizes.set(name, size);
    const [oldest] = this.#sizes.keys();
    if (this.#sizes.size > rememberedMax && oldest !== undefined) this.#sizes.delete(oldest);
  }
}

const memories: WeakMap<Collection, SizeMemory> = new WeakMap();

function memoryOf(collection: Collection): SizeMemory {
  const memory = memories.get(collection) ?? new SizeMemory();
  memories.set(collection, memory);
  return memory;
}

/** The leading fields and the scanned ranges; the index too, where it leaves documents out. */
function nameOf({ index, fields }: IndexBounds): string {
  const { ranges, pointFields } = scanRanges({ index, fields, settled: new Set() });
  const leading = index.paths.slice(0, pointFields + 1).map((path, field) => `${path}:${index.directions[field] ?? 1}`);
  const only = index.sparse || index.partialFilter !== undefined ? index.name : '';
  const ends = ranges.slice(0, 20).map(({ from, to }) => `${textOf(from)}-${textOf(to)}`);
  return [only, ...leading, ranges.length, ...ends].join('|');
}

function textOf(bytes: Uint8Array | undefined): string {
  let text = '';
  for (const byte of bytes ?? []) text += String.fromCharCode(byte);
  return text;
}
