// Reads the oplog: the rows of its segments in order of time, or backwards, taken apart into operations. Begins at a time, which may lie within
// a row. A segment that was dropped before the snapshot is passed over.

import { EngineError } from '../../base/errors.ts';
import { Timestamp } from '../../bson/index.ts';
import type { Cursor, DictionaryId, Direction } from '../../engine/index.ts';
import type { CatalogTransaction } from '../types.ts';
import { decodeRow, elsewhereOf, lastTimeOf } from './operation-row.ts';
import type { Elsewhere } from './operation-row.ts';
import type { Operation, OperationCursor, OperationOwner } from './operation.ts';
import { sideKey } from './side-rows.ts';

const batchLimit = { rows: 64, bytes: 1 << 20 };
/** Rows are given when they have so many operations. */
const operationsMin = 100;
const sideLimit = { rows: 1, bytes: 1 };

/** Eight bytes that order as times do. */
export function timeKey(time: Timestamp): Uint8Array {
  const key = new Uint8Array(8);
  // A view would have memory made for the few bytes that otherwise lie in the object.
  for (let i = 0; i < 4; i++) {
    key[i] = time.seconds >>> (24 - 8 * i);
    key[4 + i] = time.increment >>> (24 - 8 * i);
  }
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

/** Rows elsewhere that are being read: the key of the row that stands for them, and whose they are. */
interface Side {
  readonly cursor: Cursor;
  readonly key: Uint8Array;
  readonly owner: OperationOwner | undefined;
}

function timeOf(key: Uint8Array): Timestamp {
  const view = new DataView(key.buffer, key.byteOffset, key.length);
  return new Timestamp(view.getUint32(0), view.getUint32(4));
}

/** How many ticks a time is behind that of a row's key; 0 where it is before. */
function tickOf(key: Uint8Array, { seconds, increment }: Timestamp): number {
  const view = new DataView(key.buffer, key.byteOffset, key.length);
  const [own, first] = [view.getUint32(0), view.getUint32(4)];
  if (seconds !== own) return seconds < own ? 0 : ticksMax;
  return Math.max(0, increment - first);
}

const ticksMax = 0xffffffff;

/** Operations of one snapshot, those of one commit's row at a time. */
export class RowCursor implements OperationCursor {
  readonly #txn: CatalogTransaction;
  readonly #direction: Direction;
  /** Segments that are still to be read, the next one last. */
  readonly #left: DictionaryId[];
  #from: Timestamp | undefined;
  #cursor: Cursor | undefined;
  /** Rows of the last batch that are still to be given. */
  #waiting: { readonly key: Uint8Array; readonly value: Uint8Array }[] = [];
  #side: Side | undefined;

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
      const rows = this.#side === undefined ? await this.#ownRows() : await this.#sideRows(this.#side);
      if (rows === 'end') return [];
      if (rows.length > 0) return rows;
    }
  }

  /** Rows of the segment, up to one that stands for others. */
  async #ownRows(): Promise<readonly (readonly Operation[])[] | 'end'> {
    if (this.#waiting.length === 0) {
      this.#cursor ??= await this.#nextSegment();
      if (this.#cursor === undefined) return 'end';
      const batch = await this.#cursor.nextBatch(batchLimit);
      if (batch.length === 0) {
        this.#cursor.close();
        this.#cursor = undefined;
      }
      this.#waiting = Array.from({ length: batch.length }, (_, i) => ({ key: batch.key(i), value: batch.value(i) }));
    }
    const rows: Operation[][] = [];
    let count = 0;
    // What is taken apart is used: a reader takes some and comes again.
    for (let row = this.#waiting.shift(); row !== undefined; row = count < operationsMin ? this.#waiting.shift() : undefined) {
      if (this.#isPassed(row.key, row.value)) continue;
      const elsewhere = elsewhereOf(row.value);
      if (elsewhere !== undefined) {
        this.#side = await this.#openSide(row.key.slice(), elsewhere);
        break;
      }
      const operations = this.#within(decodeRow(row.key, row.value));
      if (operations.length > 0) rows.push(operations);
      count += operations.length;
    }
    return rows;
  }

  /** Whether all of a row is before where reading begins: seen without taking it apart. */
  #isPassed(key: Uint8Array, value: Uint8Array): boolean {
    return this.#direction === 1 && this.#from !== undefined && compareTimes(lastTimeOf(key, value), this.#from) < 0;
  }

  /** Rows of a commit that lie in a dictionary of their own. */
  async #sideRows({ cursor, key, owner }: Side): Promise<readonly (readonly Operation[])[]> {
    const batch = await cursor.nextBatch(sideLimit);
    if (batch.length === 0) {
      cursor.close();
      this.#side = undefined;
      return [];
    }
    const rows = Array.from({ length: batch.length }, (_, i) => this.#within(decodeRow(key, batch.value(i)).map((operation) => ({ ...operation, owner }))));
    return rows.filter((row) => row.length > 0);
  }

  /** Undefined where they were dropped. */
  async #openSide(key: Uint8Array, { dictionary, owner }: Elsewhere): Promise<Side | undefined> {
    const id = dictionary as DictionaryId;
    const { engine } = this.#txn;
    const tick = this.#from === undefined ? undefined : tickOf(key, this.#from);
    try {
      if (tick === undefined) return { cursor: engine.cursor(id, {}, this.#direction), key, owner };
      const upTo = { to: sideKey(Math.min(tick + 1, ticksMax)) };
      if (this.#direction === -1) return { cursor: engine.cursor(id, upTo, -1), key, owner };
      const floor = engine.cursor(id, upTo, -1);
      const found = await floor.nextBatch({ rows: 1, bytes: 1 });
      const start = found.length === 0 ? {} : { from: found.key(0).slice() };
      floor.close();
      return { cursor: engine.cursor(id, start, 1), key, owner };
    } catch (error) {
      if (!(error instanceof EngineError) || error.code !== 'unknown-dictionary') throw error;
      return undefined;
    }
  }

  close(): void {
    this.#cursor?.close();
    this.#side?.cursor.close();
    this.#cursor = undefined;
    this.#side = undefined;
    this.#waiting = [];
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
    // All rows of a commit have its first time: the one that is wanted may be any of them.
    const start = found.length === 0 ? undefined : timeKey(timeOf(found.key(0)));
    floor.close();
    return engine.cursor(id, start === undefined ? {} : { from: start }, 1);
  }
}
