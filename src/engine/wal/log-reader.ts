// Reading the log back: all whole groups in order, from a segment on. The log ends at the first group that does not validate, if no later
// one does; if one does, that is damage and is named, never a silent cut (law 21). A segment that recovery began repeats the last groups of
// the one before, so a group may come twice; its records are given once.

import { EngineError } from '../../base/errors.ts';
import type { Env } from '../../env/index.ts';
import type { GroupHeader } from './group.ts';
import { groupBytes, groupHeader, groupUnit, isGroup, recordsOf } from './group.ts';
import type { SegmentFile } from './segment.ts';

/** Called for each record in order of seqs. */
export type RecordSink = (seq: number, body: Uint8Array) => Promise<void> | void;

/** A group as it was read. */
export interface LoggedGroup {
  readonly number: number;
  readonly firstSeq: number;
  /** Checksum of the group before. */
  readonly chain: number;
  readonly bodies: readonly Uint8Array[];
}

/** What was read of a segment. */
export interface SegmentEnd {
  readonly lastSeq: number;
  readonly end: number;
}

/** Where the log ended. */
export interface LogEnd {
  /** The last group, and those before it that nobody knew to be durable: what may have been read from the page cache only. */
  readonly tail: readonly LoggedGroup[];
  /** Seq of the last record; 0 when there was none. */
  readonly lastSeq: number;
  /** For each segment that holds groups, the newest record by its end, and where its last group ends. */
  readonly segments: ReadonlyMap<number, SegmentEnd>;
}

/** A walk over the groups of the segments. */
export class LogReader {
  readonly #env: Env;
  readonly #sink: RecordSink;
  readonly #from: number;
  /** The group read last. */
  #last: GroupHeader | undefined;
  #tail: LoggedGroup[] = [];
  #lastSeq: number = 0;
  readonly #segments: Map<number, SegmentEnd> = new Map();

  /** Records with a seq below `fromSeq` are not given. */
  constructor(env: Env, fromSeq: number, sink: RecordSink) {
    this.#env = env;
    this.#from = fromSeq;
    this.#sink = sink;
  }

  /** Reads the segments, which are in order of their numbers. */
  async read(segments: readonly SegmentFile[]): Promise<LogEnd> {
    for (const segment of segments) await this.#readSegment(segment);
    return { tail: this.#tail, lastSeq: this.#lastSeq, segments: this.#segments };
  }

  /** Number of the newest group so far. */
  get #newest(): number {
    return this.#tail.at(-1)?.number ?? 0;
  }

  async #readSegment(segment: SegmentFile): Promise<void> {
    const bytes = await this.#env.files.readAll(segment.path);
    let at = 0;
    let first = true;
    for (;;) {
      const view = bytes.subarray(at);
      const header = groupHeader(view);
      if (header === undefined || !isGroup(view, header, segment.number)) break;
      if (!this.#follows(header, first)) throw this.#damage(segment, at, `group ${header.number} does not follow group ${this.#last?.number ?? 0}`);
      await this.#take(segment, header, { view, at });
      at += groupBytes(header.payloadBytes);
      first = false;
    }
    this.#lookBehind(segment, bytes, at);
  }

  /** Whether a group comes right after the last one, or, at a segment's start, repeats one that was read. */
  #follows(header: GroupHeader, firstOfSegment: boolean): boolean {
    const last = this.#last;
    if (last === undefined) return true;
    if (header.number === last.number + 1) return header.chain === last.checksum;
    return firstOfSegment && header.number <= this.#newest && header.firstSeq <= this.#lastSeq;
  }

  async #take(segment: SegmentFile, header: GroupHeader, { view, at }: { readonly view: Uint8Array; readonly at: number }): Promise<void> {
    const records = recordsOf(view, header, { file: segment.path, offset: view.byteOffset });
    for (const { seq, body } of records) {
      if (seq <= this.#lastSeq) continue;
      if (this.#lastSeq === 0 && seq > this.#from) throw this.#damage(segment, 0, `the log begins with record ${seq}, but record ${this.#from} is needed`);
      if (this.#lastSeq !== 0 && seq !== this.#lastSeq + 1) throw this.#damage(segment, 0, `record ${seq} comes after record ${this.#lastSeq}`);
      const waits = seq < this.#from ? undefined : this.#sink(seq, body);
      if (waits instanceof Promise) await waits;
      this.#lastSeq = seq;
    }
    this.#last = header;
    this.#keep({ number: header.number, firstSeq: header.firstSeq, chain: header.chain, bodies: records.map((record) => record.body.slice()) }, header.synced);
    this.#segments.set(segment.number, { lastSeq: this.#lastSeq, end: at + groupBytes(header.payloadBytes) });
  }

  /** Adds a group to the tail, or puts it in its place there; those up to `synced` need not be kept. */
  #keep(group: LoggedGroup, synced: number): void {
    const others = this.#tail.filter(({ number }) => number !== group.number && (number > synced || number > group.number));
    this.#tail = [...others, group].sort((a, b) => a.number - b.number);
  }

  /**
   * Refuses a segment in which a group is not whole that a later one knows to have been durable. Under delayed durability the last groups
   * may be lost in any pattern, so a later whole one alone says nothing.
   */
  #lookBehind(segment: SegmentFile, bytes: Uint8Array, from: number): void {
    for (let at = from + groupUnit; at < bytes.length; at += groupUnit) {
      const view = bytes.subarray(at);
      const header = groupHeader(view);
      if (header === undefined || !isGroup(view, header, segment.number)) continue;
      if (header.synced > this.#newest) throw this.#damage(segment, from, `a group is damaged that was durable when group ${header.number} was written`);
    }
  }

  #damage(segment: SegmentFile, offset: number, message: string): EngineError {
    return new EngineError('corruption', `${segment.path}: ${message}`, { place: { file: segment.path, offset } });
  }
}
