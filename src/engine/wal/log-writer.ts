// How a group reaches the disk: interchangeable strategies (the seed is CouchDB's ticket 754 about appends and syncs), chosen by option, measured by
// `frond bench append`, each held to the same tests. What differs is whether a segment is written full before its use, so that a group changes
// no file's size, and what makes a group durable: the write itself (O_DSYNC), or a sync after it.
//
// A small durable write is done without leaving the main thread while the disk is quick: the way through the pool of threads costs more
// processor time than the write, and somebody waits for it anyhow. When several writes of late were slow, or one very slow, all go through the
// pool for a while, and the next try comes later each time. One slow write among many says nothing: the machine was busy with something else.

import type { Clock, File } from '../../env/index.ts';
import type { LogWriterName, Soon } from '../types.ts';

/** What a strategy is. */
export interface LogWriting {
  /** Segments are written full and synced before they are used; else they grow. */
  readonly preallocates: boolean;
  /** What makes a write durable: the write, a sync of the data, a sync of everything. */
  readonly durableBy: 'write' | 'fdatasync' | 'fsync';
  /** Commits that come together share a group. */
  readonly gathers: boolean;
}

/** All strategies. The first is the default: it won. */
export const logWriters: Readonly<Record<LogWriterName, LogWriting>> = {
  'overwrite-dsync': { preallocates: true, durableBy: 'write', gathers: true },
  'overwrite-fdatasync': { preallocates: true, durableBy: 'fdatasync', gathers: true },
  'append-dsync': { preallocates: false, durableBy: 'write', gathers: true },
  'append-fdatasync': { preallocates: false, durableBy: 'fdatasync', gathers: true },
  'append-fsync': { preallocates: false, durableBy: 'fsync', gathers: true },
  'overwrite-dsync-single': { preallocates: true, durableBy: 'write', gathers: false },
};

/** A write of fewer bytes may be done on the main thread. */
const nowBytesMax = 32 * 1024;
/** A write that takes longer is slow, or very slow: who waits for the main thread would feel it. */
const quickMs = 1;
const verySlowMs = 16;
/** What a slow write counts against quick ones, and how much of it is too much. */
const slowWeight = 8;
const slowMax = 32;
/** Writes that go through the pool before the first try, and at most before the next one. */
const pauseFirst = 16;
const pauseMax = 4096;

/** Writes groups by one strategy. */
export class LogWriter {
  readonly #writing: LogWriting;
  readonly #clock: Clock;
  readonly #isDurable: boolean;
  /** Writes that still go through the pool, and how many will after the next time that the disk is slow. */
  #pause: number = pauseFirst;
  #nextPause: number = 2 * pauseFirst;
  #slowness: number = 0;

  /** `isDurable`: a group is durable when its write resolves; else some later sync makes it so (delayed durability). */
  constructor(writing: LogWriting, clock: Clock, isDurable: boolean) {
    this.#writing = writing;
    this.#clock = clock;
    this.#isDurable = isDurable;
  }

  get preallocates(): boolean {
    return this.#writing.preallocates;
  }

  /** Most records of one group. */
  get recordsMax(): number {
    return this.#writing.gathers ? Infinity : 1;
  }

  /** Whether segments are opened so that each write is durable. */
  get durableWrites(): boolean {
    return this.#isDurable && this.#writing.durableBy === 'write';
  }

  /** Whether small groups are written on the main thread now. */
  writesNow(file: File): boolean {
    return file.writeNow !== undefined && this.durableWrites && this.#pause === 0;
  }

  /** Writes a group; undefined when it is there already. The image must not change before that. */
  write(file: File, image: Uint8Array, at: number): Soon<void> {
    if (file.writeNow !== undefined && image.length <= nowBytesMax && this.writesNow(file)) {
      const begun = this.#clock.monotonicMs();
      file.writeNow(image, at);
      this.#note(this.#clock.monotonicMs() - begun);
      return undefined;
    }
    return this.#write(file, image, at);
  }

  async #write(file: File, image: Uint8Array, at: number): Promise<void> {
    await file.write(image, at);
    if (this.#isDurable && this.#writing.durableBy !== 'write') await file.sync(this.#writing.durableBy === 'fsync');
    if (this.#pause > 0) this.#pause -= 1;
  }

  /** After a write on the main thread. */
  #note(ms: number): void {
    if (ms < quickMs) {
      if (this.#slowness > 0) this.#slowness -= 1;
      else if (this.#nextPause > pauseFirst) this.#nextPause -= 1;
      return;
    }
    this.#slowness += slowWeight;
    if (ms < verySlowMs && this.#slowness <= slowMax) return;
    this.#slowness = 0;
    this.#pause = this.#nextPause;
    this.#nextPause = Math.min(pauseMax, this.#nextPause * 2);
  }
}
