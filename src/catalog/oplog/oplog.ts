// The log of what was done: for each commit that changes documents or the catalog, its operations, written by the same commit under its time
// (law 8). So no crash leaves a write without its entry or an entry without its write, and a reader never finds a later entry before an
// earlier one. What is in `local` and `config` is the server's own and not logged.

import { Timestamp } from '../../bson/index.ts';
import type { DictionaryId, Direction, Environment, Soon, StampedRows, Transaction } from '../../engine/index.ts';
import type { Clock } from '../../env/index.ts';
import { afterSoon } from '../soon.ts';
import type { CatalogTransaction, Collection, OperationLog } from '../types.ts';
import { compareTimes, RowCursor, timeKey } from './operation-cursor.ts';
import type { NotedOperations } from './noted-operations.ts';
import type { CommitHead, EncodedCommit } from './operation-row.ts';
import { encodeElsewhere } from './operation-row.ts';
import type { OperationClock, OperationCursor, OperationOwner } from './operation.ts';
import { OplogCollection } from './oplog-collection.ts';
import { OplogSegments } from './segments.ts';
import type { OplogLimits } from './segments.ts';
import { SideRows } from './side-rows.ts';

/** Rows for a commit, and what is to be said when it is done. */
export interface CommitRows {
  readonly rows: StampedRows;
  committed(): void;
}

/** What a transaction keeps in memory of its operations before it puts them out: a part of the cache, within these. */
const asideMin = 1024 * 1024;
const asideMax = 16 * 1024 * 1024;

const noLimits: OplogLimits = { bytesMax: 0, ageMaxMs: 0 };

/** The log of one environment. */
export class Oplog implements OperationLog {
  readonly #clock: Clock;
  readonly #catalogDictionary: DictionaryId;
  readonly #segments: OplogSegments | undefined;
  readonly #listeners: Set<() => void> = new Set();
  #times: OperationClock | undefined;
  version = 0;
  /** The collection `local.oplog.rs`; undefined where nothing is logged. */
  readonly collection: Collection | undefined;

  /** A transaction whose operations are more bytes puts them into rows beside the log (side-rows.ts). */
  readonly asideBytes: number;

  private constructor(engine: Environment, clock: Clock, segments?: OplogSegments, { bytesMax, asideBytes }: OplogLimits = noLimits) {
    this.#clock = clock;
    this.#catalogDictionary = engine.catalogDictionary;
    this.asideBytes = asideBytes ?? Math.min(asideMax, Math.max(asideMin, engine.statistics().cacheBytesMax / 16));
    this.#segments = segments;
    this.collection = segments === undefined ? undefined : new OplogCollection(this, segments, bytesMax);
  }

  /** Without limits nothing is logged; with `bytesMax` 0 what was is dropped, too. */
  static async open(engine: Environment, clock: Clock, limits: OplogLimits | undefined): Promise<Oplog> {
    if (limits === undefined) return new Oplog(engine, clock);
    if (limits.bytesMax > 0) return new Oplog(engine, clock, await OplogSegments.open(engine, clock, limits), limits);
    await OplogSegments.drop(engine, clock);
    return new Oplog(engine, clock);
  }

  /** Whether commits are logged. */
  get isOn(): boolean {
    return this.#times !== undefined;
  }

  /** From now on commits are logged, with times of this clock. */
  start(times: OperationClock): void {
    if (this.#segments !== undefined) this.#times = times;
  }

  /** Whether what happens in this database is logged. */
  logs(db: string): boolean {
    return this.#times !== undefined && db !== 'local' && db !== 'config';
  }

  /** The rows of a commit. */
  rowsFor(noted: NotedOperations, commit: CommitHead): CommitRows | undefined {
    const [times, segments] = [this.#times, this.#segments];
    if (times === undefined || segments === undefined || noted.count === 0) return undefined;
    return this.#stamped({ times, segments }, noted.commitRows(commit, this.#clock.nowMs()), undefined);
  }

  /** Begins to put operations of a transaction aside. */
  aside(txn: Transaction): Soon<SideRows> {
    const side = new SideRows(txn, this.#clock.nowMs());
    return afterSoon(side.register(this.#catalogDictionary), () => side);
  }

  /** Puts operations aside; `more`: others will follow. */
  writeAside(side: SideRows, noted: NotedOperations, commit: CommitHead, more: boolean): Soon<void> {
    return side.write(noted, commit, { wallMs: this.#clock.nowMs(), more });
  }

  /** The row of a commit whose operations are all aside. */
  rowFor(side: SideRows, owner: OperationOwner | undefined): CommitRows | undefined {
    const [times, segments] = [this.#times, this.#segments];
    if (times === undefined || segments === undefined) return undefined;
    const { dictionary, progress: { ticks } } = side;
    return this.#stamped({ times, segments }, { values: [encodeElsewhere({ dictionary, ticks, owner })], ticks, entries: ticks }, side);
  }

  #stamped({ times, segments }: { readonly times: OperationClock; readonly segments: OplogSegments }, { values, ticks, entries }: EncodedCommit, side: SideRows | undefined): CommitRows {
    let last: Timestamp | undefined;
    return {
      rows: {
        values,
        counted: entries,
        // As the dictionaries of the log: it is written much more than it is read.
        compression: 'lz4',
        dictionary: () => segments.current,
        stamp: () => {
          const first = times.reserve(ticks);
          last = ticks === 1 ? first : movedOn(first, ticks - 1);
          return timeKey(first);
        },
      },
      committed: () => {
        if (side !== undefined) segments.addSide(side.dictionary, side.madeMs);
        if (last !== undefined) times.reached(last);
        this.version += 1;
        if (this.#listeners.size > 0) for (const listener of [...this.#listeners]) listener();
      },
    };
  }

  /** The operations that a snapshot sees, from a time on (inside), or backwards. */
  read(txn: CatalogTransaction, from: Timestamp | undefined, direction: Direction = 1): OperationCursor {
    return new RowCursor(txn, this.#segments?.dictionaries ?? [], from, direction);
  }

  isLost(time: Timestamp): boolean {
    const dropped = this.#segments?.dropped;
    return dropped !== undefined && compareTimes(time, dropped) <= 0;
  }

  /** Calls `wake` after each commit that is logged, until the function given back is called. */
  subscribe(wake: () => void): () => void {
    this.#listeners.add(wake);
    return () => {
      this.#listeners.delete(wake);
    };
  }

  /** Drops what is older or more than is kept. To be called now and then. */
  async trim(): Promise<void> {
    await this.#segments?.trim();
  }
}

function movedOn(time: Timestamp, ticks: number): Timestamp {
  return new Timestamp(time.seconds, time.increment + ticks);
}
