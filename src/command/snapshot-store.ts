// Reads with read concern `snapshot` outside of transactions: each is given a logical time, and what was committed then can be read again by
// naming that time (`atClusterTime`), from any session, as long as its engine snapshot is held (server.md: "A snapshot session holds its
// engine snapshot"). A time that no held one serves is 239.

import { CommandError } from '../base/errors.ts';
import type { Timestamp } from '../bson/index.ts';
import type { Catalog, CatalogTransaction } from '../catalog/index.ts';
import type { Clock } from '../env/index.ts';
import type { ClusterClock } from '../session/index.ts';

/** minSnapshotHistoryWindowInSeconds of MongoDB. */
const HELD_MS = 300_000;

/** Most snapshots held at a time: each keeps old versions from being dropped. */
const HELD_MAX = 64;

interface HeldSnapshot {
  readonly txn: CatalogTransaction;
  readonly time: Timestamp;
  usedMs: number;
}

/** Snapshots by logical time. */
export class SnapshotStore {
  readonly #catalog: Catalog;
  readonly #clock: Clock;
  readonly #time: ClusterClock;
  readonly #held: Map<bigint, HeldSnapshot> = new Map();

  constructor(catalog: Catalog, clock: Clock, time: ClusterClock) {
    this.#catalog = catalog;
    this.#clock = clock;
    this.#time = time;
  }

  /** Holds the present state and gives the time by which it can be read again. */
  hold(): Timestamp {
    // The time is one that no write had and no later write gets.
    const time = this.#time.tick();
    this.#held.set(time.toBigInt(), { txn: this.#catalog.begin('read'), time, usedMs: this.#clock.monotonicMs() });
    if (this.#held.size > HELD_MAX) this.#drop(this.#leastUsed());
    return time;
  }

  /** The held snapshot of that time; undefined where none is named. */
  serve(time: Timestamp | undefined): CatalogTransaction | undefined {
    if (time === undefined) return undefined;
    const held = this.#held.get(time.toBigInt());
    if (held === undefined) {
      const text = `Read timestamp ${String(time.seconds)}:${String(time.increment)} is older than the oldest available timestamp.`;
      throw new CommandError(239, 'SnapshotTooOld', text);
    }
    held.usedMs = this.#clock.monotonicMs();
    return held.txn;
  }

  /** Drops what has not been used for the window. */
  sweep(): void {
    const limit = this.#clock.monotonicMs() - HELD_MS;
    for (const [key, held] of this.#held) if (held.usedMs <= limit) this.#drop(key);
  }

  close(): void {
    for (const key of this.#held.keys()) this.#drop(key);
  }

  #leastUsed(): bigint {
    let oldest: [bigint, number] = [0n, Number.POSITIVE_INFINITY];
    for (const [key, held] of this.#held) if (held.usedMs < oldest[1]) oldest = [key, held.usedMs];
    return oldest[0];
  }

  #drop(key: bigint): void {
    this.#held.get(key)?.txn.abort();
    this.#held.delete(key);
  }
}
