// How a group reaches the disk: interchangeable strategies (the seed is CouchDB's ticket 754 about appends and syncs), chosen by option, measured by
// `frond bench append`, each held to the same tests. What differs is whether a segment is written full before its use, so that a group changes
// no file's size, and what makes a group durable: the write itself (O_DSYNC), or a sync after it.
//
// A small durable write is done without leaving the main thread while the disk is quick: the way through the pool of threads costs more
// processor time than the write, and somebody waits for it anyhow. As soon as a write is slow, all go through the pool for a while.

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
/** A write that takes longer is slow. */
const quickMs = 1;
/** So many writes in a row must have been quick before they are done on the main thread. */
const quickWritesMin = 64;

/** Writes groups by one strategy. */
export class LogWriter {
  readonly #writing: LogWriting;
  readonly #clock: Clock;
  readonly #isDurable: boolean;
  #quickWrites: number = 0;

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
    return file.writeNow !== undefined && this.durableWrites && this.#quickWrites >= quickWritesMin;
  }

  /** Writes a group; undefined when it is there already. The image must not change before that. */
  write(file: File, image: Uint8Array, at: number): Soon<void> {
    const begun = this.#clock.monotonicMs();
    if (file.writeNow !== undefined && image.length <= nowBytesMax && this.writesNow(file)) {
      file.writeNow(image, at);
      this.#note(begun);
      return undefined;
    }
    return this.#write(file, image, at, begun);
  }

  async #write(file: File, image: Uint8Array, at: number, begun: number): Promise<void> {
    await file.write(image, at);
    if (this.#isDurable && this.#writing.durableBy !== 'write') await file.sync(this.#writing.durableBy === 'fsync');
    if (image.length <= nowBytesMax) this.#note(begun);
  }

  #note(begun: number): void {
    this.#quickWrites = this.#clock.monotonicMs() - begun < quickMs ? this.#quickWrites + 1 : 0;
  }
}
