// Reading the log back: all whole groups in order, from a segment on. The log ends at the first group that does not validate, if no later
// one does; if one does, that is damage and is named, never a silent cut (law 21). A segment that recovery began repeats the last group of
// the one before, so a group may come twice; its records are given once.

import { EngineError } from '../../base/errors.ts';
import type { Env } from '../../env/index.ts';
import type { GroupHeader } from './group.ts';
import { groupBytes, groupHeader, groupUnit, isGroup, recordsOf } from './group.ts';
import type { SegmentFile } from './segment.ts';

/** Called for each record in order of seqs. */
export type RecordSink = (seq: number, body: Uint8Array) => Promise<void> | void;

/** Where the log ended. */
export interface LogEnd {
  /** Number and checksum of the last group; number 0 when there was none. */
  readonly number: number;
  readonly checksum: number;
  /** The last group's seqs and records, for writing it again. */
  readonly firstSeq: number;
  readonly bodies: readonly Uint8Array[];
  /** Seq of the last record; 0 when there was none. */
  readonly lastSeq: number;
  /** For each segment that holds groups, the seq of its last record. */
  readonly lastSeqs: ReadonlyMap<number, number>;
}

/** A walk over the groups of the segments. */
export class LogReader {
  readonly #env: Env;
  readonly #sink: RecordSink;
  readonly #from: number;
  #last: { header: GroupHeader; bodies: Uint8Array[] } | undefined;
  #lastSeq: number = 0;
  readonly #lastSeqs: Map<number, number> = new Map();

  /** Records with a seq below `fromSeq` are not given. */
  constructor(env: Env, fromSeq: number, sink: RecordSink) {
    this.#env = env;
    this.#from = fromSeq;
    this.#sink = sink;
  }

  /** Reads the segments, which are in order of their numbers. */
  async read(segments: readonly SegmentFile[]): Promise<LogEnd> {
    for (const segment of segments) await this.#readSegment(segment);
    const last = this.#last;
    return {
      number: last?.header.number ?? 0, checksum: last?.header.checksum ?? 0, firstSeq: last?.header.firstSeq ?? 0,
      bodies: last?.bodies ?? [], lastSeq: this.#lastSeq, lastSeqs: this.#lastSeqs,
    };
  }

  async #readSegment(segment: SegmentFile): Promise<void> {
    const bytes = await this.#env.files.readAll(segment.path);
    let at = 0;
    let first = true;
    for (;;) {
      const view = bytes.subarray(at);
      const header = groupHeader(view);
      if (header === undefined || !isGroup(view, header, segment.number)) break;
      if (!this.#follows(header, first)) throw this.#damage(segment, at, `group ${header.number} does not follow group ${this.#last?.header.number ?? 0}`);
      await this.#take(segment, header, view);
      at += groupBytes(header.payloadBytes);
      first = false;
    }
    this.#lookBehind(segment, bytes, at);
  }

  /** Whether a group comes right after the last one, or, at a segment's start, repeats it. */
  #follows(header: GroupHeader, firstOfSegment: boolean): boolean {
    const last = this.#last?.header;
    if (last === undefined) return true;
    if (header.number === last.number + 1) return header.chain === last.checksum;
    return firstOfSegment && header.number === last.number && header.firstSeq === last.firstSeq;
  }

  async #take(segment: SegmentFile, header: GroupHeader, view: Uint8Array): Promise<void> {
    const records = recordsOf(view, header);
    for (const { seq, body } of records) {
      if (seq <= this.#lastSeq) continue;
      if (this.#lastSeq === 0 && seq > this.#from) throw this.#damage(segment, 0, `the log begins with record ${seq}, but record ${this.#from} is needed`);
      if (this.#lastSeq !== 0 && seq !== this.#lastSeq + 1) throw this.#damage(segment, 0, `record ${seq} comes after record ${this.#lastSeq}`);
      if (seq >= this.#from) await this.#sink(seq, body);
      this.#lastSeq = seq;
    }
    this.#last = { header, bodies: records.map((record) => record.body.slice()) };
    this.#lastSeqs.set(segment.number, this.#lastSeq);
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
      if (header.synced > (this.#last?.header.number ?? 0)) throw this.#damage(segment, from, `a group is damaged that was durable when group ${header.number} was written`);
    }
  }

  #damage(segment: SegmentFile, offset: number, message: string): EngineError {
    return new EngineError('corruption', `${segment.path}: ${message}`, { place: { file: segment.path, offset } });
  }
}
