// Reads the oplog: the rows of its segments in order of time, or backwards, taken apart into operations. Begins at a time, which may lie within
// a row. A segment that was dropped before the snapshot is passed over.

import { EngineError } from '../../base/errors.ts';
import type { Timestamp } from '../../bson/index.ts';
import type { Cursor, DictionaryId, Direction } from '../../engine/index.ts';
import type { CatalogTransaction } from '../types.ts';
import { decodeRow } from './operation-row.ts';
import type { Operation, OperationCursor } from './operation.ts';

const batchLimit = { rows: 64, bytes: 1 << 20 };

/** Eight bytes that order as times do. */
export function timeKey(time: Timestamp): Uint8Array {
  const key = new Uint8Array(8);
  const view = new DataView(key.buffer);
  view.setUint32(0, time.seconds);
  view.setUint32(4, time.increment);
  return key;
}

/** The time of the key of a row or entry. */
export function compareTimes(a: Timestamp, b: Timestamp): number {
  return a.seconds - b.seconds || a.increment - b.increment;
}

/** Above every key that begins with this time. */
function above(time: Timestamp): Uint8Array {
  const key = new Uint8Array(11).fill(0xff);
  key.set(timeKey(time));
  return key;
}

/** Operations of one snapshot, those of one commit's row at a time. */
export class RowCursor implements OperationCursor {
  readonly #txn: CatalogTransaction;
  readonly #direction: Direction;
  /** Segments that are still to be read, the next one last. */
  readonly #left: DictionaryId[];
  #from: Timestamp | undefined;
  #cursor: Cursor | undefined;

  /** Backwards it begins at the newest operation, or the last at or before `from`. */
  constructor(txn: CatalogTransaction, segments: readonly DictionaryId[], from: Timestamp | undefined, direction: Direction) {
    this.#txn = txn;
    this.#direction = direction;
    this.#from = from;
    this.#left = direction === 1 ? [...segments].reverse() : [...segments];
  }

  /** The operations of the next rows, each row by itself, in the order of reading; empty at the end. */
  async nextRows(): Promise<readonly (readonly Operation[])[]> {
    for (;;) {
      this.#cursor ??= await this.#nextSegment();
      if (this.#cursor === undefined) return [];
      const batch = await this.#cursor.nextBatch(batchLimit);
      const rows: Operation[][] = [];
      for (let i = 0; i < batch.length; i++) {
        const row = this.#within(decodeRow(batch.key(i), batch.value(i)));
        if (row.length > 0) rows.push(row);
      }
      if (rows.length > 0) return rows;
      if (batch.length > 0) continue;
      this.#cursor.close();
      this.#cursor = undefined;
    }
  }

  close(): void {
    this.#cursor?.close();
    this.#cursor = undefined;
    this.#left.length = 0;
  }

  /** Those at or behind where reading begins, in the order of reading. */
  #within(row: Operation[]): Operation[] {
    const from = this.#from;
    if (from !== undefined) {
      const kept = row.filter(({ time }) => compareTimes(time, from) * this.#direction >= 0);
      if (kept.length === row.length && row.length > 0) this.#from = undefined;
      return this.#direction === 1 ? kept : kept.reverse();
    }
    return this.#direction === 1 ? row : row.reverse();
  }

  async #nextSegment(): Promise<Cursor | undefined> {
    for (let id = this.#left.pop(); id !== undefined; id = this.#left.pop()) {
      try {
        return await this.#open(id);
      } catch (error) {
        if (!(error instanceof EngineError) || error.code !== 'unknown-dictionary') throw error;
      }
    }
    return undefined;
  }

  /** A cursor over the segment, from the row on that may hold the time where reading begins. */
  async #open(id: DictionaryId): Promise<Cursor> {
    const { engine } = this.#txn;
    const from = this.#from;
    if (from === undefined) return engine.cursor(id, {}, this.#direction);
    if (this.#direction === -1) return engine.cursor(id, { to: above(from) }, -1);
    const floor = engine.cursor(id, { to: above(from) }, -1);
    const found = await floor.nextBatch({ rows: 1, bytes: 1 });
    const start = found.length === 0 ? undefined : found.key(0).slice();
    floor.close();
    return engine.cursor(id, start === undefined ? {} : { from: start }, 1);
  }
}
