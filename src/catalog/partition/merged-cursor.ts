// A scan of an index over several parts: rows of all of them in one order. Where one part's rows are used up before the batch is full, its rows
// in the batch are copied, for its cursor is asked again.

import { compareBytes } from '../../base/bytes.ts';
import type { Batch, BatchLimit, Cursor, Direction } from '../../engine/index.ts';
import { JoinedBatch } from './joined-batch.ts';

/** One part's cursor and where its batch stands. */
interface Source {
  readonly cursor: Cursor;
  batch: Batch | undefined;
  at: number;
}

/** Cursors merged by key; equal keys in the order of the parts. */
export class MergedCursor implements Cursor {
  /** Those that are not at their end. */
  #sources: readonly Source[];
  readonly #cursors: readonly Cursor[];
  readonly #direction: Direction;

  constructor(cursors: readonly Cursor[], direction: Direction) {
    this.#cursors = cursors;
    this.#sources = begin(cursors);
    this.#direction = direction;
  }

  async nextBatch(limit: BatchLimit): Promise<Batch> {
    const joined = new JoinedBatch();
    for (const source of this.#sources) await refill(source, limit);
    this.#sources = this.#sources.filter(hasRows);
    for (let next = this.#next(); next?.batch !== undefined && joined.room(limit) !== undefined; next = this.#next()) {
      joined.add(next.batch, next.at);
      next.at += 1;
      if (next.at < next.batch.length || joined.room(limit) === undefined) continue;
      joined.keep(next.batch);
      await refill(next, limit);
      if (!hasRows(next)) this.#sources = this.#sources.filter((source) => source !== next);
    }
    return joined;
  }

  /** The source whose row comes next. */
  #next(): Source | undefined {
    let best: Source | undefined;
    let bestKey: Uint8Array | undefined;
    for (const source of this.#sources) {
      if (source.batch === undefined || source.at >= source.batch.length) continue;
      const key = source.batch.key(source.at);
      if (bestKey !== undefined && compareBytes(key, bestKey) * this.#direction >= 0) continue;
      best = source;
      bestKey = key;
    }
    return best;
  }

  seek(key: Uint8Array): void {
    for (const cursor of this.#cursors) cursor.seek(key);
    this.#sources = begin(this.#cursors);
  }

  close(): void {
    for (const cursor of this.#cursors) cursor.close();
  }
}

const begin = (cursors: readonly Cursor[]): readonly Source[] => cursors.map((cursor) => ({ cursor, batch: undefined, at: 0 }));
const hasRows = ({ batch, at }: Source): boolean => batch !== undefined && at < batch.length;

/** Gives a source rows where it has none left. */
async function refill(source: Source, limit: BatchLimit): Promise<void> {
  if (hasRows(source)) return;
  const found = source.cursor.nextBatch(limit);
  source.batch = found instanceof Promise ? await found : found;
  source.at = 0;
}
