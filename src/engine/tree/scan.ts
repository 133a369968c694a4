// Ordered reads: a k-way merge over everything that one leaf's range of keys can be in (write set, fronts, the runs on the path, the leaf),
// then the next leaf's range. Per key the newest message that the snapshot sees decides. Synchronous: `fill` stops at a Miss and goes on
// when it is called again; a scan is made anew after the tree's version changed. Rows are given by reference to immutable runs.

import { assert } from '../../base/assert.ts';
import { compareBytes } from '../../base/bytes.ts';
import { messageKinds } from '../run/message.ts';
import type { Run } from '../run/run.ts';
import { sharedPrefix } from '../run/sorted-keys.ts';
import type { Extent } from './node.ts';
import type { Rows } from './rows.ts';
import { ScanCover } from './scan-cover.ts';
import { ScanDecision } from './scan-decision.ts';
import { compareEntries, Heads } from './scan-heads.ts';
import type { Head } from './scan-heads.ts';
import { descend, intersect } from './scan-path.ts';
import type { ScanRange, ScanSource } from './scan-source.ts';
import { ChainSource, ExtentSource, FrontSource } from './scan-source.ts';
import type { ScanView } from './scan-view.ts';
import { SpilledFront } from './spilled.ts';
import type { Miss } from './tree.ts';

const keysASlice = 4096;
/** Places that are looked at one by one before the others are searched. */
const nearby = 12;

/** How `fill` ended: the rows are full, the range is at its end, or it is time to let others go on. */
export type FillResult = 'full' | 'end' | 'slice' | Miss;

/** Where `fill` ends. */
interface Limit {
  readonly rows: number;
  readonly bytes: number;
}

/** One ordered read from a position on. */
export class Scan {
  readonly #view: ScanView;
  readonly #range: ScanRange;
  readonly #decision: ScanDecision;
  #heads: Heads;
  #segment: ScanRange | undefined;
  #done: boolean = false;
  #next: Uint8Array | undefined;

  constructor(view: ScanView, range: ScanRange) {
    this.#view = view;
    this.#range = range;
    this.#decision = new ScanDecision(view);
    this.#heads = new Heads([], 0, view.forward, 0);
    this.#done = range.from !== undefined && range.to !== undefined && compareBytes(range.from, range.to) >= 0;
  }

  /** The last key that was decided on, where a scan made anew goes on behind. */
  get lastKey(): Uint8Array | undefined {
    return this.#decision.lastKey;
  }

  /** Whether the scan stands in a run, and goes on there. */
  standsIn(run: Run): boolean {
    return this.#heads.stand(run);
  }

  /** Adds rows until one of the limits is reached. */
  fill(rows: Rows, limit: Limit): FillResult {
    for (let keys = 0; keys < keysASlice; keys++) {
      if (rows.length >= limit.rows || (rows.length > 0 && rows.bytes >= limit.bytes)) return 'full';
      if (this.#segment === undefined) {
        if (this.#done) return 'end';
        const miss = this.#openSegment();
        if (miss !== undefined) return miss;
      }
      this.#view.wanted.rows = limit.rows - rows.length;
      const miss = this.#heads.isStarved ? this.#heads.load() : undefined;
      if (miss !== undefined) return miss;
      const { first } = this.#heads;
      if (first === undefined) this.#closeSegment();
      else {
        const taken = this.#takeStretch(first, rows, limit);
        if (taken > 0) {
          keys += taken >>> 3;
          continue;
        }
        const stuck = this.#takeKey(first, rows);
        if (stuck !== undefined) return stuck;
      }
    }
    return 'slice';
  }

  /** Opens the sources of the leaf range that holds the position. */
  #openSegment(): Miss | undefined {
    const { tree, forward, seq, own } = this.#view;
    const position = this.#position();
    const cover = new ScanCover(seq, own === undefined ? [] : own.front.ranges.filter((range) => range.seq <= own.seqMax));
    for (const front of tree.fronts()) cover.add(front.ranges);
    const path = descend(this.#view, cover, position);
    if ('kind' in path) return path;
    const { from, to } = path.segment;
    this.#segment = path.segment;
    cover.clip(path.segment);
    this.#decision.cover = cover.isEmpty ? undefined : cover;
    const range = intersect(this.#range, path.segment, forward ? { from: position, to: undefined } : { from: undefined, to: position });
    const owned = this.#ownSources(range);
    const sources = [...owned, ...this.#frontSources(range), ...this.#extentSources(path.extents, range)];
    const skip = from === undefined || to === undefined ? 0 : sharedPrefix(from, 0, from.length, to, 0, to.length);
    this.#heads = new Heads(sources, owned.length, forward, skip);
    return undefined;
  }

  #ownSources(range: ScanRange): ScanSource[] {
    const { cache, forward, own, wanted } = this.#view;
    if (own === undefined) return [];
    const { front, seqMax, spilled, takenBack } = own;
    return [...(front.count > 0 ? [new FrontSource(front, seqMax, range, forward)] : []), ...spilled.map((chain) => new ChainSource(cache, chain, { seqMax, range, forward, wanted, takenBack }))];
  }

  #frontSources(range: ScanRange): ScanSource[] {
    const { tree, cache, forward, seq, wanted } = this.#view;
    const sources: ScanSource[] = [];
    for (const front of tree.fronts()) {
      if (front instanceof SpilledFront) {
        if (front.seq <= seq) sources.push(new ChainSource(cache, front.spill.extents, { seqMax: seq, range, forward, wanted, fixedSeq: front.seq }));
      } else if (front.count > 0) sources.push(new FrontSource(front, seq, range, forward));
    }
    return sources;
  }

  #extentSources(extents: readonly Extent[], range: ScanRange): ScanSource[] {
    const { cache, forward, seq, wanted } = this.#view;
    const sources: ScanSource[] = [];
    for (const extent of extents) {
      if (extent.fences.minSeq <= seq) sources.push(new ExtentSource(cache, extent, { seqMax: seq, range, forward, wanted }));
    }
    return sources;
  }

  /** Where the next segment begins: its first key forwards, the key it ends before backwards. */
  #position(): Uint8Array | undefined {
    return this.#next ?? (this.#view.forward ? this.#range.from : this.#range.to);
  }

  #closeSegment(): void {
    const segment = this.#segment;
    assert(segment !== undefined, 'a segment is open');
    this.#segment = undefined;
    const far = this.#view.forward ? segment.to : segment.from;
    const stop = this.#view.forward ? this.#range.to : this.#range.from;
    if (far === undefined) this.#done = true;
    else if (stop !== undefined && (this.#view.forward ? compareBytes(far, stop) >= 0 : compareBytes(far, stop) <= 0)) this.#done = true;
    else this.#next = far;
  }

  /**
   * Gives the rows of the first head up to the next key of any other at once, and returns how many messages those were: as long as each is the only
   * one of its key, the snapshot sees it, and no range delete is near. 0: the key is decided on in the usual way.
   */
  #takeStretch(head: Head, rows: Rows, limit: Limit): number {
    if (head.fresh || this.#decision.cover !== undefined || head.source.takenBack !== undefined) return 0;
    const run = head.run as Run;
    const from = head.at;
    const to = run.seqs === undefined && run.isAllPuts ? this.#takeSettled(head, rows, limit) : this.#takeSeen(head, rows, limit);
    if (to === from) return 0;
    this.#decision.note(run, this.#view.forward ? to - 1 : to + 1);
    head.next = to;
    this.#heads.move(1);
    return Math.abs(to - from);
  }

  /** A stretch of a run of which everybody sees every message. Returns where it ends. */
  #takeSettled(head: Head, rows: Rows, limit: Limit): number {
    const run = head.run as Run;
    const from = head.at;
    const other = this.#heads.second;
    const { forward } = this.#view;
    // Newer versions of the run's first key may be in the basement before: backwards it is met last.
    const end = !forward && head.cutBefore ? Math.max(head.end, 0) : head.end;
    let to = end;
    if (other !== undefined) to = forward ? this.#stretchEnd(head, end, other) : run.upperBound((other.run as Run).key(other.at), end + 1, from + 1) - 1;
    const count = rows.addStretch(run, from, Math.abs(to - from), limit);
    return forward ? from + count : from - count;
  }

  /** Where in its window a head, which comes first, meets the next key of another: most often a few places on. */
  #stretchEnd(head: Head, end: number, other: Head): number {
    const run = head.run as Run;
    const { prefix } = other;
    const { skip } = this.#heads;
    let to = head.at;
    if (head.prefix < prefix) for (const near = Math.min(end, to + nearby); ++to < near && run.head(to, skip) < prefix; );
    return to === end ? end : run.lowerBound((other.run as Run).key(other.at), to, end);
  }

  /** A stretch of any run, looked at one by one. Returns where it ends. */
  #takeSeen(head: Head, rows: Rows, limit: Limit): number {
    const run = head.run as Run;
    const { kinds, seqs } = run;
    const { seqMax } = head.source;
    const other = this.#heads.second;
    const step = this.#view.forward ? 1 : -1;
    let at = head.at;
    while (at !== head.end && rows.length < limit.rows && rows.bytes < limit.bytes) {
      const kind = kinds[at];
      if (kind === messageKinds.update || (seqs !== undefined && (seqs[at] as number) > seqMax)) break;
      if (other !== undefined && !this.#isBefore(run, at, other)) break;
      if (seqs !== undefined && this.#hasMore(head, at, step)) break;
      if (kind !== messageKinds.remove) rows.add(run, at);
      at += step;
    }
    return at;
  }

  /** Whether message `at` comes before the next key of another head, in the direction of the scan. */
  #isBefore(run: Run, at: number, other: Head): boolean {
    const prefix = run.head(at, this.#heads.skip);
    if (prefix !== other.prefix) return this.#view.forward ? prefix < other.prefix : prefix > other.prefix;
    const order = compareEntries(run, at, other.run as Run, other.at);
    return this.#view.forward ? order < 0 : order > 0;
  }

  /** Whether there is another version of the key of message `at` on the way of the scan: a newer one may be, backwards. */
  #hasMore({ run, cutBefore }: Head, at: number, step: number): boolean {
    const messages = run as Run;
    if (step < 0 && at === 0) return cutBefore;
    const beside = at + step;
    return beside < messages.count && compareEntries(messages, at, messages, beside) === 0;
  }

  /** Decides on the key of the first head and moves every head that has it behind it. A Miss changes nothing: the key is begun anew. */
  #takeKey(first: Head, rows: Rows): Miss | undefined {
    const run = first.run as Run;
    const index = first.at;
    const decision = this.#decision;
    const size = this.#heads.groupSize();
    let decided = first.fresh && decision.isLast(run, index);
    decision.begin();
    for (let place = 0; place < size; place++) {
      const told = this.#tell(this.#heads.at(place), decided, rows);
      if (typeof told === 'object') return told;
      decided = told;
    }
    if (!decided) decision.end(run, index, rows);
    this.#heads.move(size);
    return undefined;
  }

  /** What one head's messages say of the key it stands at, unless that is decided; whether it is now. Notes where the head goes behind the key. */
  #tell(head: Head, isDecided: boolean, rows: Rows): boolean | Miss {
    const { forward } = this.#view;
    const newest = forward ? head.at : groupStart(head);
    const oldest = forward ? groupEnd(head) - 1 : head.at;
    head.next = forward ? oldest + 1 : newest - 1;
    if (isDecided) return true;
    // Backwards the newer versions may lie in the basement before, forwards the older ones in the one behind.
    const isCut = forward ? head.cutAfter && head.next === head.end : head.cutBefore && newest === 0;
    for (let at = newest; at <= oldest && (forward || !isCut); at++) {
      if (this.#decision.counts(head, at) && this.#decision.give(head, at, rows)) return true;
    }
    return isCut ? (this.#decision.ask(head.run as Run, head.at, rows) ?? true) : false;
  }
}

/** The first message of the group that a head stands at the end of. */
function groupStart({ run, at, end }: Head): number {
  const messages = run as Run;
  let start = at;
  while (start - 1 > end && compareEntries(messages, start - 1, messages, at) === 0) start -= 1;
  return start;
}

/** The message behind the group that a head stands at the beginning of. */
function groupEnd({ run, at, end }: Head): number {
  const messages = run as Run;
  let behind = at + 1;
  while (behind < end && compareEntries(messages, behind, messages, at) === 0) behind += 1;
  return behind;
}
