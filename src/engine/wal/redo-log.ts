// The environment's own log: one writer, one group in flight. While a group is being written commits gather, and the next group holds them
// all. After a failed write nothing is appended any more: what the file holds is not known (law 25). docs/recovery.md says what is kept how.

import { assert } from '../../base/assert.ts';
import { EngineError } from '../../base/errors.ts';
import type { Env } from '../../env/index.ts';
import type { Durability, LogWriterName, Seq, Soon } from '../types.ts';
import type { Appended, CommitLog } from './commit-log.ts';
import { GroupEncoder, groupBytes, groupUnit, recordHeaderBytes } from './group.ts';
import type { LogEnd, LoggedGroup, RecordSink } from './log-reader.ts';
import { LogReader } from './log-reader.ts';
import { LogWriter, logWriters } from './log-writer.ts';
import type { Segment, SegmentFile, WrittenSegment } from './segment.ts';
import { createSegment, highestNumber, listSegments, recycleSegment } from './segment.ts';

export interface RedoLogOptions {
  readonly segmentBytes: number;
  readonly durability: Durability;
  readonly logWriter: LogWriterName;
}

/** Where reading begins: the segment that holds the oldest needed record, and that record's seq. */
export interface LogPosition {
  readonly segment: number;
  readonly seq: number;
}

/** What opening reads. */
export interface Recovery {
  readonly from: LogPosition;
  /** The newest record that is known to have been durable. */
  readonly upTo: number;
  readonly sink: RecordSink;
  /** Told when the log can promise nothing any more. */
  readonly failed: (error: EngineError) => void;
}

interface Pending {
  readonly body: Uint8Array;
  readonly seq: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

const groupBytesMax = 4 * 1024 * 1024;
const firstSegmentBytes = 128 * 1024;
/** Segments that are kept to be used again: as many as the last checkpoint freed, since as many will be wanted before the next. */
const sparesMin = 2;
const sparesMax = 16;
/** The end of a segment that has no next one yet: only what gives space back is written there (law 25). */
const urgentBytes = 32 * 1024;

/** The redo log of an open environment. */
export class RedoLog implements CommitLog {
  readonly #env: Env;
  readonly #directory: string;
  readonly #options: RedoLogOptions;
  readonly #delayed: boolean;
  readonly #encoder: GroupEncoder = new GroupEncoder();
  readonly #writer: LogWriter;
  #segment: Segment;
  #offset: number = 0;
  /** Up to where groups of it are written. */
  #writtenTo: number = 0;
  /** Bytes of a group that was taken and has no place yet, because the log goes on in the next segment. */
  #unplaced: number = 0;
  #next: Segment | undefined;
  #preparing: Promise<void> | undefined;
  #numberNext: number;
  #group: number;
  #chain: number = 0;
  /** The newest group that is durable. */
  #synced: number;
  #seqNext: number;
  #pending: Pending[] = [];
  #pendingBytes: number = 0;
  #writing: Promise<void> | undefined;
  #failure: EngineError | undefined;
  readonly #failed: (error: EngineError) => void;
  #closed: boolean = false;
  /** Segments before the current one, oldest first, with the seq of their last record and where their groups end. */
  #full: { readonly file: SegmentFile; readonly size: number; readonly lastSeq: number; readonly end: number }[] = [];
  #fullBytes: number = 0;
  #spares: { readonly path: string; readonly size: number }[] = [];
  readonly counters: { bytes: number; syncs: number; groups: number } = { bytes: 0, syncs: 0, groups: 0 };

  private constructor(env: Env, directory: string, options: RedoLogOptions, start: { writer: LogWriter; segment: Segment; end: LogEnd; seqNext: number; failed: Recovery['failed'] }) {
    this.#env = env;
    this.#directory = directory;
    this.#options = options;
    this.#delayed = options.durability !== 'sync';
    this.#writer = start.writer;
    this.#segment = start.segment;
    this.#numberNext = start.segment.number + 1;
    this.#group = start.end.tail.at(-1)?.number ?? 0;
    this.#synced = this.#group;
    this.#seqNext = start.seqNext;
    this.#failed = start.failed;
  }

  /**
   * Reads what is there from `from` on, gives every record to `sink`, and begins a fresh segment with the last groups once more (law 22):
   * what was read after a failed sync, or of a process that ended, may have been in the page cache only. `corruption` when the log ends
   * before the record `upTo`. The directory is there, and its name durable.
   */
  static async open(env: Env, directory: string, options: RedoLogOptions, recovery: Recovery): Promise<RedoLog> {
    const found = await listSegments(env, directory);
    const needed = found.filter((file) => file.number >= recovery.from.segment);
    const end = await new LogReader(env, recovery.from.seq, recovery.sink).read(needed);
    const lastSeq = Math.max(end.lastSeq, recovery.from.seq - 1);
    if (lastSeq < recovery.upTo) {
      throw new EngineError('corruption', `${directory}: the log ends with record ${lastSeq}, but record ${recovery.upTo} was durable`, { place: { file: directory } });
    }
    const number = Math.max(highestNumber(found) + 1, recovery.from.segment);
    const size = Math.max(firstSegmentBytes, end.tail.reduce((sum, group) => sum + groupBytes(bytesOf(group.bodies)), 0));
    const writer = new LogWriter(logWriters[options.logWriter], env.clock, options.durability === 'sync');
    const segment = await createSegment(env, directory, number, { size, preallocates: writer.preallocates, durableWrites: writer.durableWrites });
    const log = new RedoLog(env, directory, options, { writer, segment, end, seqNext: lastSeq + 1, failed: recovery.failed });
    await log.#repeat(end.tail);
    for (const file of found) await log.#keepOrRemove(file, end, recovery.from.segment);
    if (found.length > 0) await env.files.syncDirectory(directory);
    log.#prepareNext(0);
    return log;
  }

  /** Writes groups as they were, so that whichever copy a later failure leaves is a part of the chain. */
  async #repeat(tail: readonly LoggedGroup[]): Promise<void> {
    const [first] = tail;
    if (first === undefined) return;
    this.#chain = first.chain;
    for (const { number, firstSeq, bodies } of tail) {
      const { image, checksum } = this.#encoder.encode(bodies, { segment: this.#segment.number, number, firstSeq, chain: this.#chain, synced: first.number - 1 });
      await this.#segment.file.write(image, this.#offset);
      this.#offset += image.length;
      this.#chain = checksum;
    }
    if (!this.#writer.durableWrites) await this.#segment.file.sync();
    this.#writtenTo = this.#offset;
  }

  async #keepOrRemove(file: SegmentFile, end: LogEnd, from: number): Promise<void> {
    const read = end.segments.get(file.number);
    if (file.number >= from && read !== undefined) {
      const handle = await this.#env.files.open(file.path, 'read');
      const size = await handle.size();
      await handle.close();
      this.#full.push({ file, size, ...read });
      this.#fullBytes += size;
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
    const spare = this.#spares.reduce((sum, segment) => sum + segment.size, 0);
    return this.#fullBytes + spare + this.#segment.size + (this.#next?.size ?? 0);
  }

  /** Bytes of segments that hold records, the current one counted as far as it is written. */
  get bytesInUse(): number {
    return this.#fullBytes + this.#offset;
  }

  /** What a recovery might read: segments with records, oldest first, as far as they are written. */
  get written(): readonly WrittenSegment[] {
    const { number, file: { path } } = this.#segment;
    return [...this.#full.map(({ file, end }) => ({ ...file, end })), { number, path, end: this.#writtenTo }];
  }

  /** The number of the segment in which reading must begin to find the record `seq`. */
  segmentOf(seq: number): number {
    return this.#full.find((segment) => segment.lastSeq >= seq)?.file.number ?? this.#segment.number;
  }

  /** The last seq of the oldest segment, if it is not the current one: what pins it. */
  get oldestFullSeq(): number | undefined {
    return this.#full[0]?.lastSeq;
  }

  room(bytes: number, urgent: boolean = false): Soon<void> {
    if (this.#failure !== undefined) throw this.#failure;
    return this.#hasRoom(bytes, urgent) ? undefined : this.#makeRoom(bytes, urgent);
  }

  /** Bytes of groups that are still to be written if a record of so many bytes comes now: it may miss the group of those that wait. */
  #needed(bytes: number): number {
    const waiting = this.#pendingBytes === 0 ? 0 : groupBytes(this.#pendingBytes) + Math.floor(this.#pendingBytes / groupBytesMax) * groupUnit;
    return this.#unplaced + waiting + groupBytes(bytes + recordHeaderBytes);
  }

  /** Whether the record is sure of its space without anything being made. Without a next segment the end of this one is for what is urgent. */
  #hasRoom(bytes: number, urgent: boolean): boolean {
    const needed = this.#needed(bytes);
    const left = this.#segment.size - this.#offset;
    if (this.#next !== undefined) return needed <= left || needed <= this.#next.size;
    return needed <= left - (urgent ? 0 : urgentBytes);
  }

  async #makeRoom(bytes: number, urgent: boolean): Promise<void> {
    while (!this.#hasRoom(bytes, urgent)) {
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#next === undefined) await this.#prepared(this.#needed(bytes));
      else await this.#enlargeNext(this.#needed(bytes));
    }
  }

  /** The prepared segment is too small for what comes: a larger one takes its place. Others may rely on it until then. */
  async #enlargeNext(size: number): Promise<void> {
    await this.#preparing;
    const small = this.#next;
    if (small === undefined || small.size >= size) return;
    this.#preparing ??= this.#replace(small, size).finally(() => {
      this.#preparing = undefined;
    });
    await this.#preparing;
  }

  async #replace(small: Segment, size: number): Promise<void> {
    const large = await this.#makeSegment(size);
    // While it was made, a group may have gone on into the small one.
    const isFree = this.#next === small;
    this.#next = large;
    if (!isFree) return;
    await small.file.close();
    await this.#env.files.remove(small.file.path);
  }

  /** Whether the next segment is there; makes it if there is space for it. */
  async ready(): Promise<boolean> {
    try {
      await this.#prepared(0);
      return true;
    } catch (error) {
      if (error instanceof EngineError && error.code === 'no-space') return false;
      throw error;
    }
  }

  append(body: Uint8Array): Appended {
    if (this.#failure !== undefined) throw this.#failure;
    assert(!this.#closed, 'nothing is appended to a closed log');
    const seq = this.#seqNext++;
    const safe = new Promise<void>((resolve, reject) => {
      this.#pending.push({ body, seq, resolve, reject });
    });
    this.#pendingBytes += body.length + recordHeaderBytes;
    this.#writing ??= this.#write();
    return { seq: seq as Seq, safe };
  }

  /** Writes groups until nothing is pending. */
  async #write(): Promise<void> {
    // Commits that begin together shall share a group; where nothing else goes on during a write, those of all sockets that had something to read.
    await (this.#writer.writesNow(this.#segment.file) ? this.#env.tasks.pause() : Promise.resolve());
    while (this.#pending.length > 0 && this.#failure === undefined) {
      const group = this.#takeGroup();
      try {
        const writing = this.#writeGroup(group);
        if (writing !== undefined) await writing;
      } catch (cause) {
        this.#fail(new EngineError('poisoned', 'writing the log failed', { cause }), group);
        break;
      }
      for (const pending of group) pending.resolve();
    }
    this.#writing = undefined;
  }

  #takeGroup(): Pending[] {
    let bytes = 0;
    let count = 0;
    for (const pending of this.#pending) {
      bytes += pending.body.length + recordHeaderBytes;
      if (count > 0 && (bytes > groupBytesMax || count >= this.#writer.recordsMax)) break;
      count += 1;
    }
    const group = this.#pending.splice(0, count);
    for (const pending of group) this.#pendingBytes -= pending.body.length + recordHeaderBytes;
    return group;
  }

  #writeGroup(group: readonly Pending[]): Soon<void> {
    const bodies = group.map((pending) => pending.body);
    const firstSeq = (group[0] as Pending).seq;
    const length = groupBytes(bytesOf(bodies));
    this.#unplaced = length;
    if (length > this.#segment.size - this.#offset) return this.#roll(length, firstSeq - 1).then(() => this.#put(bodies, firstSeq));
    return this.#put(bodies, firstSeq);
  }

  /** Writes a group where there is room for it. */
  #put(bodies: readonly Uint8Array[], firstSeq: number): Soon<void> {
    const place = { segment: this.#segment.number, number: this.#group + 1, firstSeq, chain: this.#chain, synced: this.#synced };
    const { image, checksum } = this.#encoder.encode(bodies, place);
    const at = this.#offset;
    this.#offset += image.length;
    this.#unplaced = 0;
    const written = (): void => {
      this.#writtenTo = at + image.length;
      this.#group = place.number;
      this.#chain = checksum;
      this.counters.bytes += image.length;
      this.counters.groups += 1;
      if (this.#delayed) return;
      this.#synced = this.#group;
      this.counters.syncs += 1;
    };
    const writing = this.#writer.write(this.#segment.file, image, at);
    if (writing !== undefined) return writing.then(written);
    written();
    return undefined;
  }

  /** Goes on in the next segment. */
  async #roll(length: number, lastSeq: number): Promise<void> {
    const full = this.#segment;
    if (this.#group > this.#synced) await full.file.sync();
    this.#synced = this.#group;
    const next = this.#next;
    assert(next !== undefined && next.size >= length, 'room was made in the next segment');
    this.#next = undefined;
    this.#full.push({ file: { number: full.number, path: full.file.path }, size: full.size, lastSeq, end: this.#writtenTo });
    this.#fullBytes += full.size;
    this.#segment = next;
    this.#offset = 0;
    this.#writtenTo = 0;
    await full.file.close();
    this.#prepareNext(0);
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
    this.#next = await this.#makeSegment(needed);
  }

  /** A segment for at least so many bytes: a spare, or a new one; when the disk is full any spare that is large enough. */
  async #makeSegment(needed: number): Promise<Segment> {
    const grown = Math.min(this.#options.segmentBytes, this.#segment.size * 2);
    const size = Math.max(needed, grown, firstSegmentBytes);
    const recycled = await this.#recycle(size, size * 2);
    if (recycled !== undefined) return recycled;
    try {
      return await createSegment(this.#env, this.#directory, this.#numberNext++, { size, preallocates: this.#writer.preallocates, durableWrites: this.#writer.durableWrites });
    } catch (error) {
      const any = error instanceof EngineError && error.code === 'no-space' ? await this.#recycle(Math.max(needed, urgentBytes * 2), Infinity) : undefined;
      if (any === undefined) throw error;
      return any;
    }
  }

  async #recycle(sizeMin: number, sizeMax: number): Promise<Segment | undefined> {
    const at = this.#spares.findIndex((spare) => spare.size >= sizeMin && spare.size <= sizeMax);
    const spare = at < 0 ? undefined : this.#spares.splice(at, 1)[0];
    if (spare === undefined) return undefined;
    return await recycleSegment(this.#env, this.#directory, this.#numberNext++, { path: spare.path, durableWrites: this.#writer.durableWrites });
  }

  #fail(error: EngineError, group: readonly Pending[]): void {
    this.#failure ??= error;
    this.#failed(this.#failure);
    const waiting = [...group, ...this.#pending];
    this.#pending = [];
    this.#pendingBytes = 0;
    for (const pending of waiting) pending.reject(this.#failure);
  }

  async #idle(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
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
    let freed = 0;
    while (this.#full.length > 0 && (this.#full[0]?.lastSeq ?? Infinity) <= seq) {
      const segment = this.#full.shift();
      if (segment === undefined) break;
      freed += 1;
      this.#fullBytes -= segment.size;
      if (this.#writer.preallocates && segment.size <= this.#options.segmentBytes) this.#spares.push({ path: segment.file.path, size: segment.size });
      else await this.#env.files.remove(segment.file.path);
    }
    const kept = Math.min(sparesMax, Math.max(sparesMin, freed));
    // Those that came first may be small ones of the log's beginning.
    for (const { path } of this.#spares.splice(0, this.#spares.length - kept)) await this.#env.files.remove(path);
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

/** Bytes of records with their headers. */
function bytesOf(bodies: readonly Uint8Array[]): number {
  return bodies.reduce((sum, body) => sum + recordHeaderBytes + body.length, 0);
}
