// The dictionaries that hold the oplog, oldest first. New rows go into the newest; the oldest is dropped whole when the log is larger or older
// than it may be, so trimming costs nothing and leaves no removals behind. Rows `o` and the dictionary's number in dictionary 1 name them;
// numbers rise, so their order is that of the rows. The row of number 0 says up to which time operations were dropped.

import { must } from '../../base/assert.ts';
import { DateTime, Document, Timestamp } from '../../bson/index.ts';
import type { StorageFigures } from '../types.ts';
import type { DictionaryId, Environment, Transaction } from '../../engine/index.ts';
import type { Clock } from '../../env/index.ts';
import { segmentKey, segmentOfKey, segmentRange } from '../entry.ts';
import { eachRow } from '../rows.ts';
import { lastTimeOf } from './operation-row.ts';

/** How much of the past is kept. */
export interface OplogLimits {
  readonly bytesMax: number;
  readonly ageMaxMs: number;
  /** Operations of one transaction beyond this are put aside; absent: a part of the cache. */
  readonly asideBytes?: number | undefined;
}

/** The log is cut into so many pieces, of which the oldest goes. */
const pieces = 16;

interface Segment {
  readonly dictionary: DictionaryId;
  /** When it was made: all rows of those before are older. */
  readonly madeMs: number;
}

/** Longest time from the first row that a commit puts aside to its end. */
const commitMsMax = 3_600_000;

const noDictionary = 0 as DictionaryId;
/** Nothing is logged: whatever happens is lost. */
const everything = new Timestamp(0xffffffff, 0xffffffff);

const rowOf = (madeMs: number): Uint8Array => Document.of({ made: new DateTime(madeMs) }).toBytes();

/** The segments of one environment. */
export class OplogSegments {
  readonly #engine: Environment;
  readonly #clock: Clock;
  readonly #limits: OplogLimits;
  #list: readonly Segment[];
  /** Dictionaries that hold the rows of one large commit each (side-rows.ts), with the time they were made. */
  #sides: readonly Segment[];
  /** Operations up to this time are not there any more. */
  dropped: Timestamp | undefined;

  private constructor(engine: Environment, clock: Clock, limits: OplogLimits, { list, sides }: Pick<SegmentRows, 'list' | 'sides'>) {
    this.#engine = engine;
    this.#clock = clock;
    this.#limits = limits;
    this.#list = list;
    this.#sides = sides;
  }

  /** Those that are there; a first one is made where there is none. */
  static async open(engine: Environment, clock: Clock, limits: OplogLimits): Promise<OplogSegments> {
    const rows = await readRows(engine);
    const { list, dropped } = rows;
    const segments = new OplogSegments(engine, clock, limits, rows);
    // Since when it was not logged only the clock can tell.
    segments.dropped = dropped?.seconds === everything.seconds ? new Timestamp(Math.floor(clock.nowMs() / 1000), 0) : dropped;
    if (list.length === 0) await segments.#change(0);
    return segments;
  }

  /** Drops what an earlier start kept that had a log. */
  static async drop(engine: Environment, clock: Clock): Promise<void> {
    const rows = await readRows(engine);
    const { list, sides } = rows;
    if (list.length === 0) return;
    const segments = new OplogSegments(engine, clock, { bytesMax: 0, ageMaxMs: 0 }, rows);
    const txn = engine.begin('statement');
    await segments.#remove(txn, [...list, ...sides], everything);
    await segments.#commit(txn);
  }

  /** A commit has rows in a dictionary of their own. */
  addSide(dictionary: DictionaryId, madeMs: number): void {
    this.#sides = [...this.#sides, { dictionary, madeMs }];
  }

  /** Bytes of a segment and of what is beside it of its time; `next`: the segment behind it. */
  #bytesOf({ dictionary, madeMs }: Segment, next: Segment | undefined): number {
    const bytes = (id: DictionaryId): number => this.#engine.dictionaryStatistics(id).bytes;
    const beside = this.#sides.filter((side) => side.madeMs >= madeMs && side.madeMs < (next?.madeMs ?? Infinity));
    return beside.reduce((sum, side) => sum + bytes(side.dictionary), bytes(dictionary));
  }

  /** Where new rows go. */
  get current(): DictionaryId {
    return must(this.#list.at(-1), 'the newest segment').dictionary;
  }

  /** Those that a snapshot may see, oldest first. */
  get dictionaries(): readonly DictionaryId[] {
    return this.#list.map(({ dictionary }) => dictionary);
  }

  /** What all of them take. */
  figures(): StorageFigures {
    const total = { rows: 0, bytes: 0, diskBytes: 0, rawBytes: 0, height: 0, leaves: 0 };
    for (const { dictionary } of [...this.#list, ...this.#sides]) {
      const { rows, bytes, diskBytes, rawBytes, height, leaves } = this.#engine.dictionaryStatistics(dictionary);
      total.rows += rows;
      total.rawBytes += rawBytes;
      total.height = Math.max(total.height, height);
      total.leaves += leaves;
      total.bytes += bytes;
      total.diskBytes += diskBytes;
    }
    return total;
  }

  /** Goes on in a new segment when the newest is full or old, and drops the oldest ones that are not to be kept. */
  async trim(): Promise<void> {
    const { bytesMax, ageMaxMs } = this.#limits;
    const now = this.#clock.nowMs();
    const sizes = this.#list.map((segment, at) => this.#bytesOf(segment, this.#list[at + 1]));
    const newest = must(this.#list.at(-1), 'the newest segment');
    const isFull = (sizes.at(-1) ?? 0) >= bytesMax / pieces;
    const isOld = now - newest.madeMs >= ageMaxMs / pieces && (sizes.at(-1) ?? 0) > 0;
    if (!isFull && !isOld) return;
    let bytes = sizes.reduce((sum, size) => sum + size, 0);
    let gone = 0;
    // The rows of a segment are older than the making of the next one.
    while (gone < this.#list.length - 1 && (bytes - (sizes[gone] ?? 0) >= bytesMax || (this.#list[gone + 1]?.madeMs ?? now) < now - ageMaxMs)) {
      bytes -= sizes[gone] ?? 0;
      gone += 1;
    }
    await this.#change(gone);
  }

  /** One commit: the oldest go, a new one comes. */
  async #change(gone: number): Promise<void> {
    const txn = this.#engine.begin('statement');
    const madeMs = this.#clock.nowMs();
    const dictionary = txn.createDictionary({ compression: 'lz4' });
    await txn.put(this.#engine.catalogDictionary, segmentKey(dictionary), rowOf(madeMs));
    const last = gone === 0 ? this.dropped : ((await lastTime(txn, this.#list.slice(0, gone))) ?? this.dropped);
    // What a large commit began to put aside belongs to a segment of its end.
    const kept = (this.#list[gone]?.madeMs ?? madeMs) - commitMsMax;
    const sides = gone === 0 ? [] : this.#sides.filter((side) => side.madeMs < kept);
    await this.#remove(txn, [...this.#list.slice(0, gone), ...sides], last);
    await this.#commit(txn);
    this.dropped = last;
    this.#list = [...this.#list.slice(gone), { dictionary, madeMs }];
    this.#sides = this.#sides.filter((side) => !sides.includes(side));
  }

  async #remove(txn: Transaction, segments: readonly Segment[], last: Timestamp | undefined): Promise<void> {
    const { catalogDictionary } = this.#engine;
    for (const { dictionary } of segments) {
      txn.dropDictionary(dictionary);
      await txn.remove(catalogDictionary, segmentKey(dictionary));
    }
    if (last !== undefined) await txn.put(catalogDictionary, segmentKey(noDictionary), Document.of({ dropped: last }).toBytes());
  }

  async #commit(txn: Transaction): Promise<void> {
    try {
      await txn.commit();
    } finally {
      txn.abort();
    }
  }
}

/** The newest time in the last of these that is not empty. */
async function lastTime(txn: Transaction, segments: readonly Segment[]): Promise<Timestamp | undefined> {
  for (const { dictionary } of segments.toReversed()) {
    const cursor = txn.cursor(dictionary, {}, -1);
    const batch = await cursor.nextBatch({ rows: 1, bytes: 1 });
    const last = batch.length === 0 ? undefined : lastTimeOf(batch.key(0), batch.value(0));
    cursor.close();
    if (last !== undefined) return last;
  }
  return undefined;
}

interface SegmentRows {
  readonly list: readonly Segment[];
  readonly sides: readonly Segment[];
  readonly dropped: Timestamp | undefined;
}

async function readRows(engine: Environment): Promise<SegmentRows> {
  const list: Segment[] = [];
  const sides: Segment[] = [];
  let dropped: Timestamp | undefined;
  const txn = engine.begin('read');
  try {
    await eachRow(txn.cursor(engine.catalogDictionary, segmentRange, 1), (key, value) => {
      const row = Document.fromBytes(value.slice());
      const [made, last] = [row.get('made'), row.get('dropped')];
      if (last instanceof Timestamp) dropped = last;
      else (row.get('side') === true ? sides : list).push({ dictionary: segmentOfKey(key), madeMs: made instanceof DateTime ? made.ms : 0 });
    });
  } finally {
    txn.abort();
  }
  return { list, sides, dropped };
}
