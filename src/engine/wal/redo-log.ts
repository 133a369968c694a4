// The environment's own log: one writer, one group in flight. While a group is being written commits gather, and the next group holds them
// all. After a failed write nothing is appended any more: what the file holds is not known (law 25). docs/recovery.md says what is kept how.

import { assert } from '../../base/assert.ts';
import { EngineError } from '../../base/errors.ts';
import type { Env } from '../../env/index.ts';
import type { Durability, Seq, Soon } from '../types.ts';
import type { Appended, CommitLog } from './commit-log.ts';
import { encodeGroup, groupBytes, groupUnit, recordHeaderBytes } from './group.ts';
import type { LogEnd, RecordSink } from './log-reader.ts';
import { LogReader } from './log-reader.ts';
import type { Segment, SegmentFile } from './segment.ts';
import { createSegment, highestNumber, listSegments, recycleSegment } from './segment.ts';

export interface RedoLogOptions {
  readonly segmentBytes: number;
  readonly durability: Durability;
}

/** Where reading begins: the segment that holds the oldest needed record, and that record's seq. */
export interface LogPosition {
  readonly segment: number;
  readonly seq: number;
}

interface Pending {
  readonly body: Uint8Array;
  readonly seq: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

const groupBytesMax = 4 * 1024 * 1024;
const firstSegmentBytes = 128 * 1024;
const sparesMax = 2;

/** The redo log of an open environment. */
export class RedoLog implements CommitLog {
  readonly #env: Env;
  readonly #directory: string;
  readonly #options: RedoLogOptions;
  readonly #delayed: boolean;
  #segment: Segment;
  #offset: number = 0;
  #next: Segment | undefined;
  #preparing: Promise<void> | undefined;
  #numberNext: number;
  #group: number;
  #chain: number;
  /** The newest group that is durable. */
  #synced: number;
  #seqNext: number;
  #pending: Pending[] = [];
  #pendingBytes: number = 0;
  #writer: Promise<void> | undefined;
  #failure: EngineError | undefined;
  #closed: boolean = false;
  /** Segments before the current one, oldest first, with the seq of their last record. */
  #full: { readonly file: SegmentFile; readonly size: number; readonly lastSeq: number }[] = [];
  #spares: { readonly path: string; readonly size: number }[] = [];
  readonly counters: { bytes: number; syncs: number; groups: number } = { bytes: 0, syncs: 0, groups: 0 };

  private constructor(env: Env, directory: string, options: RedoLogOptions, start: { segment: Segment; end: LogEnd; seqNext: number }) {
    this.#env = env;
    this.#directory = directory;
    this.#options = options;
    this.#delayed = options.durability !== 'sync';
    this.#segment = start.segment;
    this.#numberNext = start.segment.number + 1;
    this.#group = start.end.number;
    this.#chain = start.end.checksum;
    this.#synced = start.end.number;
    this.#seqNext = start.seqNext;
  }

  /**
   * Reads what is there from `from` on, gives every record to `sink`, and begins a fresh segment with the last group once more (law 22):
   * what was read after a failed sync may have been in the page cache only.
   */
  static async open(env: Env, directory: string, options: RedoLogOptions, recovery: { readonly from: LogPosition; readonly sink: RecordSink }): Promise<RedoLog> {
    await env.files.makeDirectory(directory);
    const found = await listSegments(env, directory);
    const needed = found.filter((file) => file.number >= recovery.from.segment);
    const end = await new LogReader(env, recovery.from.seq, recovery.sink).read(needed);
    const number = Math.max(highestNumber(found) + 1, recovery.from.segment);
    const size = Math.max(firstSegmentBytes, groupBytes(end.bodies.reduce((sum, body) => sum + recordHeaderBytes + body.length, 0)));
    const segment = await createSegment(env, directory, number, { size, durableWrites: options.durability === 'sync' });
    const log = new RedoLog(env, directory, options, { segment, end, seqNext: Math.max(end.lastSeq + 1, recovery.from.seq) });
    await log.#repeat(end);
    for (const file of found) await log.#keepOrRemove(file, end, recovery.from.segment);
    if (found.length > 0) await env.files.syncDirectory(directory);
    log.#prepareNext(0);
    return log;
  }

  async #repeat(end: LogEnd): Promise<void> {
    if (end.number === 0) return;
    // The chain of a repeated group is not looked at; the next one's chain is this one's checksum.
    const { image, checksum } = encodeGroup(end.bodies, { segment: this.#segment.number, number: end.number, firstSeq: end.firstSeq, chain: 0, synced: end.number - 1 });
    await this.#segment.file.write(image, 0);
    if (this.#delayed) await this.#segment.file.sync();
    this.#offset = image.length;
    this.#chain = checksum;
  }

  async #keepOrRemove(file: SegmentFile, end: LogEnd, from: number): Promise<void> {
    const lastSeq = end.lastSeqs.get(file.number);
    if (file.number >= from && lastSeq !== undefined) {
      const handle = await this.#env.files.open(file.path, 'read');
      this.#full.push({ file, size: await handle.size(), lastSeq });
      await handle.close();
    } else await this.#env.files.remove(file.path);
  }

  get nextSeq(): number {
    return this.#seqNext;
  }

  /** The newest seq given so far. */
  get lastSeq(): number {
    return this.#seqNext - 1;
  }

  get bytesOnDisk(): number {
    const full = this.#full.reduce((sum, segment) => sum + segment.size, 0);
    const spare = this.#spares.reduce((sum, segment) => sum + segment.size, 0);
    return full + spare + this.#segment.size + (this.#next?.size ?? 0);
  }

  /** Bytes of segments that hold records, the current one counted as far as it is written. */
  get bytesInUse(): number {
    return this.#full.reduce((sum, segment) => sum + segment.size, 0) + this.#offset;
  }

  /** The number of the segment in which reading must begin to find the record `seq`. */
  segmentOf(seq: number): number {
    return this.#full.find((segment) => segment.lastSeq >= seq)?.file.number ?? this.#segment.number;
  }

  /** The last seq of the oldest segment, if it is not the current one: what pins it. */
  get oldestFullSeq(): number | undefined {
    return this.#full[0]?.lastSeq;
  }

  room(bytes: number): Soon<void> {
    if (this.#failure !== undefined) throw this.#failure;
    const needed = groupBytes(this.#pendingBytes + bytes + recordHeaderBytes);
    if (needed <= this.#segment.size - this.#offset) return undefined;
    if (this.#next !== undefined && needed <= this.#next.size) return undefined;
    return this.#roomInNext(bytes);
  }

  async #roomInNext(bytes: number): Promise<void> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure;
      const needed = groupBytes(this.#pendingBytes + bytes + recordHeaderBytes);
      if (needed <= this.#segment.size - this.#offset || (this.#next !== undefined && needed <= this.#next.size)) return;
      if (this.#next !== undefined) await this.#replaceNext(needed);
      else await this.#prepared(needed);
    }
  }

  /** The prepared segment is too small for what comes: it becomes a spare, and a larger one is made. */
  async #replaceNext(size: number): Promise<void> {
    await this.#idle();
    if (this.#next === undefined || this.#next.size >= size) return;
    await this.#dropNext();
    await this.#prepared(size);
  }

  async #dropNext(): Promise<void> {
    const next = this.#next;
    if (next === undefined) return;
    this.#next = undefined;
    await next.file.close();
    await this.#env.files.remove(next.file.path);
  }

  append(body: Uint8Array): Appended {
    if (this.#failure !== undefined) throw this.#failure;
    assert(!this.#closed, 'nothing is appended to a closed log');
    const seq = this.#seqNext++;
    const safe = new Promise<void>((resolve, reject) => {
      this.#pending.push({ body, seq, resolve, reject });
    });
    this.#pendingBytes += body.length + recordHeaderBytes;
    this.#writer ??= this.#write();
    return { seq: seq as Seq, safe };
  }

  /** Writes groups until nothing is pending. */
  async #write(): Promise<void> {
    // Commits of the same turn of the event loop shall share a group.
    await Promise.resolve();
    while (this.#pending.length > 0 && this.#failure === undefined) {
      const group = this.#takeGroup();
      try {
        await this.#writeGroup(group);
      } catch (cause) {
        this.#fail(new EngineError('poisoned', 'writing the log failed', { cause }), group);
        break;
      }
      for (const pending of group) pending.resolve();
    }
    this.#writer = undefined;
  }

  #takeGroup(): Pending[] {
    let bytes = 0;
    let count = 0;
    for (const pending of this.#pending) {
      bytes += pending.body.length + recordHeaderBytes;
      if (count > 0 && bytes > groupBytesMax) break;
      count += 1;
    }
    const group = this.#pending.splice(0, count);
    for (const pending of group) this.#pendingBytes -= pending.body.length + recordHeaderBytes;
    return group;
  }

  async #writeGroup(group: readonly Pending[]): Promise<void> {
    const bodies = group.map((pending) => pending.body);
    const firstSeq = (group[0] as Pending).seq;
    const length = groupBytes(bodies.reduce((sum, body) => sum + body.length + recordHeaderBytes, 0));
    if (length > this.#segment.size - this.#offset) await this.#roll(length, firstSeq - 1);
    const place = { segment: this.#segment.number, number: this.#group + 1, firstSeq, chain: this.#chain, synced: this.#synced };
    const { image, checksum } = encodeGroup(bodies, place);
    const at = this.#offset;
    this.#offset += image.length;
    await this.#segment.file.write(image, at);
    this.#group = place.number;
    this.#chain = checksum;
    this.counters.bytes += image.length;
    this.counters.groups += 1;
    if (this.#delayed) return;
    this.#synced = this.#group;
    this.counters.syncs += 1;
  }

  /** Goes on in the next segment. */
  async #roll(length: number, lastSeq: number): Promise<void> {
    const next = await this.#nextOf(length);
    const full = this.#segment;
    if (this.#group > this.#synced) await full.file.sync();
    this.#synced = this.#group;
    this.#full.push({ file: { number: full.number, path: full.file.path }, size: full.size, lastSeq });
    this.#segment = next;
    this.#offset = 0;
    this.#next = undefined;
    await full.file.close();
    this.#prepareNext(0);
  }

  /** The next segment, large enough. Room was found for each commit by itself: several at once can need more than was made ahead. */
  async #nextOf(length: number): Promise<Segment> {
    for (;;) {
      const next = this.#next;
      if (next !== undefined && next.size >= length) return next;
      await this.#dropNext();
      await this.#prepared(length);
    }
  }

  /** Begins to make the next segment, one ahead. That it fails is told to those who need it. */
  #prepareNext(size: number): void {
    this.#prepared(size).catch((error: unknown) => {
      if (!(error instanceof EngineError && error.code === 'no-space')) this.#fail(new EngineError('poisoned', 'making a log segment failed', { cause: error }), []);
    });
  }

  /** Resolves when a next segment is there, made now if need be. */
  async #prepared(size: number): Promise<void> {
    await this.#preparing;
    if (this.#next !== undefined) return;
    this.#preparing ??= this.#makeNext(size).finally(() => {
      this.#preparing = undefined;
    });
    await this.#preparing;
  }

  async #makeNext(needed: number): Promise<void> {
    const grown = Math.min(this.#options.segmentBytes, this.#segment.size * 2);
    const size = Math.max(needed, grown, firstSegmentBytes);
    const number = this.#numberNext++;
    const spareAt = this.#spares.findIndex((spare) => spare.size >= size && spare.size <= size * 2);
    if (spareAt >= 0) {
      const [spare] = this.#spares.splice(spareAt, 1);
      if (spare !== undefined) {
        this.#next = await recycleSegment(this.#env, this.#directory, number, { path: spare.path, durableWrites: !this.#delayed });
        return;
      }
    }
    this.#next = await createSegment(this.#env, this.#directory, number, { size, durableWrites: !this.#delayed });
  }

  #fail(error: EngineError, group: readonly Pending[]): void {
    this.#failure ??= error;
    const waiting = [...group, ...this.#pending];
    this.#pending = [];
    this.#pendingBytes = 0;
    for (const pending of waiting) pending.reject(this.#failure);
  }

  async #idle(): Promise<void> {
    while (this.#writer !== undefined) await this.#writer;
  }

  async sync(): Promise<void> {
    await this.#idle();
    if (this.#failure !== undefined) throw this.#failure;
    const group = this.#group;
    if (group <= this.#synced) return;
    try {
      await this.#segment.file.sync();
      this.#synced = Math.max(this.#synced, group);
      this.counters.syncs += 1;
    } catch (cause) {
      const failure = new EngineError('poisoned', 'syncing the log failed', { cause });
      this.#fail(failure, []);
      throw failure;
    }
  }

  async trim(seq: number): Promise<void> {
    while (this.#full.length > 0 && (this.#full[0]?.lastSeq ?? Infinity) <= seq) {
      const segment = this.#full.shift();
      if (segment === undefined) break;
      if (this.#spares.length < sparesMax && segment.size <= this.#options.segmentBytes) this.#spares.push({ path: segment.file.path, size: segment.size });
      else await this.#env.files.remove(segment.file.path);
    }
  }

  /** Ends writing; what was appended is written first. */
  async close(): Promise<void> {
    await this.#idle();
    this.#closed = true;
    await this.#preparing?.catch((cause: unknown) => cause);
    if (this.#failure === undefined) await this.sync();
    await this.#segment.file.close();
    await this.#next?.file.close();
  }
}

/** Smallest size of a segment. */
export const segmentBytesMin: number = Math.max(firstSegmentBytes, groupUnit);
