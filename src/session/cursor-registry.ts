// The open client cursors of this server. One operation uses a cursor at a time; idle ones are closed after ten minutes
// (cursorTimeoutMillis) unless opened with noCursorTimeout; numbers are random so that no client guesses another's.

import type { Clock, Random } from '../env/index.ts';
import { CommandError } from '../base/errors.ts';
import { ClientCursor, type ClientCursorOptions } from './client-cursor.ts';
import type { OperationContext } from './operation-context.ts';

/** Milliseconds a cursor may be idle. */
export const CURSOR_TIMEOUT_MS: number = 10 * 60_000;

/** Milliseconds after which an idle cursor gives up its snapshot: old versions are kept for those who come back soon. */
const SNAPSHOT_IDLE_MS = 60_000;

/** Counts for serverStatus. */
export interface CursorCounts {
  readonly open: number;
  readonly timedOut: number;
  readonly opened: number;
}

/** All open client cursors. */
export class CursorRegistry {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #cursors: Map<bigint, ClientCursor> = new Map();
  #timedOut = 0;
  #opened = 0;

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  counts(): CursorCounts {
    return { open: this.#cursors.size, timedOut: this.#timedOut, opened: this.#opened };
  }

  /** A cursor that is not registered yet. */
  create(options: ClientCursorOptions): ClientCursor {
    return new ClientCursor(options, this.#clock.monotonicMs());
  }

  /** Keeps the cursor for later batches. */
  keep(cursor: ClientCursor): void {
    cursor.lastUsedMs = this.#clock.monotonicMs();
    cursor.id = this.#freshId();
    this.#cursors.set(cursor.id, cursor);
    this.#opened += 1;
  }

  find(id: bigint): ClientCursor | undefined {
    return this.#cursors.get(id);
  }

  all(): readonly ClientCursor[] {
    return [...this.#cursors.values()];
  }

  /** Takes the cursor for an operation; `release` gives it back. */
  acquire(id: bigint, context: OperationContext): ClientCursor {
    const cursor = this.#cursors.get(id);
    if (cursor === undefined) throw new CommandError(43, 'CursorNotFound', `cursor id ${String(id)} not found`);
    if (cursor.usedBy !== undefined) {
      throw new CommandError(143, 'CursorInUse', `cursor id ${String(id)} is already in use`);
    }
    if (cursor.failure !== undefined) {
      this.#cursors.delete(id);
      throw cursor.failure;
    }
    cursor.usedBy = context;
    return cursor;
  }

  /** Gives the cursor back; one that is exhausted is forgotten. */
  release(cursor: ClientCursor): void {
    cursor.usedBy = undefined;
    cursor.lastUsedMs = this.#clock.monotonicMs();
    if (cursor.exhausted) this.#cursors.delete(cursor.id);
  }

  /** Closes the cursor; one in use ends at its operation's next check. Tells whether it was there. */
  kill(id: bigint): boolean {
    const cursor = this.#cursors.get(id);
    if (cursor === undefined) return false;
    this.#cursors.delete(id);
    cursor.usedBy?.interrupt('cursor-killed');
    if (cursor.usedBy === undefined) cursor.close();
    return true;
  }

  /** Closes the cursors for which `predicate` holds. */
  killWhere(predicate: (cursor: ClientCursor) => boolean): void {
    for (const cursor of this.#cursors.values()) if (predicate(cursor)) this.kill(cursor.id);
  }

  /** Ends the cursors on a collection, or on all of a database (`collection` undefined), because it is no more; their next users are told. */
  collectionGone(database: string, collection: string | undefined): void {
    const error = new CommandError(175, 'QueryPlanKilled', 'collection dropped or renamed while a cursor was open on it');
    const namespace = `${database}.${collection ?? ''}`;
    for (const cursor of this.#cursors.values()) {
      const { namespace: own, tail } = cursor.options;
      // A change stream tells of it.
      if (tail?.token !== undefined) continue;
      if (collection === undefined ? own.startsWith(namespace) : own === namespace) cursor.fail(error);
    }
  }

  /** Closes cursors that were idle for longer than allowed; those that were for a while give up their snapshots. */
  sweep(): void {
    const now = this.#clock.monotonicMs();
    const limit = now - CURSOR_TIMEOUT_MS;
    for (const cursor of this.#cursors.values()) {
      if (cursor.lastUsedMs <= now - SNAPSHOT_IDLE_MS) cursor.release();
      const idle = cursor.usedBy === undefined && cursor.lastUsedMs <= limit;
      if (!idle || cursor.options.noTimeout === true) continue;
      this.kill(cursor.id);
      this.#timedOut += 1;
    }
  }

  #freshId(): bigint {
    for (;;) {
      const id = (BigInt(this.#random.uint32() & 0x7fffffff) << 32n) | BigInt(this.#random.uint32());
      if (id !== 0n && !this.#cursors.has(id)) return id;
    }
  }
}
