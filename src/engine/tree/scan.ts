// Ordered reads: a k-way merge over everything that one leaf's range of keys can be in (write set, fronts, the runs on the path, the leaf),
// then the next leaf's range. Per key the newest message that the snapshot sees decides. Synchronous: `fill` stops at a Miss and goes on
// when it is called again; a scan is made anew after the tree's version changed. Rows are given by reference to immutable runs.

import { assert } from '../../base/assert.ts';
import { compareRange } from '../../base/bytes.ts';
import type { BlockNumber } from '../block/block-number.ts';
import type { PartCache } from '../cache/part-cache.ts';
import { messageKinds } from '../run/message.ts';
import type { Run } from '../run/run.ts';
import { sharedPrefix } from '../run/sorted-keys.ts';
import type { Front } from './front.ts';
import type { Extent, InternalNode } from './node.ts';
import { childOf } from './node.ts';
import { ScanCover } from './scan-cover.ts';
import type { ScanRange, ScanSource } from './scan-source.ts';
import { ChainSource, ExtentSource, FrontSource } from './scan-source.ts';
import { isMiss, search } from './search.ts';
import { saidBy, updatedBy } from './found.ts';
import type { Found } from './found.ts';
import { singleRow } from './rows.ts';
import type { Rows } from './rows.ts';
import { searchChain } from './search-chain.ts';
import type { ChainPlace } from './search-chain.ts';
import type { Chain, TakenBack } from './spilled.ts';
import { isTakenBack, SpilledFront } from './spilled.ts';
import type { Miss, Part, Tree } from './tree.ts';

/** A transaction's own writes, as many of them as count; the spilled ones newest first. */
export interface OwnWrites {
  readonly front: Front;
  readonly seqMax: number;
  readonly spilled: readonly Chain[];
  readonly takenBack: readonly TakenBack[];
}

/** What a scan reads. */
export interface ScanView {
  readonly tree: Tree;
  readonly cache: PartCache<Part>;
  readonly seq: number;
  readonly forward: boolean;
  /** The transaction's own writes and how many of them count. */
  readonly own: OwnWrites | undefined;
}

/** A source with the window it stands in. */
class Head {
  readonly source: ScanSource;
  /** Of the transaction's own writes. */
  readonly isOwn: boolean;
  run: Run | undefined;
  at: number = 0;
  /** Bytes of the key at `at` as a number, behind what all keys of the segment share: most comparisons end with it. */
  prefix: number = 0;
  end: number = 0;
  /** The position is the first group of a window that may have begun in the window before. */
  fresh: boolean = false;
  cutBefore: boolean = false;
  cutAfter: boolean = false;
  ended: boolean = false;

  constructor(source: ScanSource, isOwn: boolean) {
    this.source = source;
    this.isOwn = isOwn;
  }
}

const keysASlice = 4096;
/** Places that are looked at one by one before the others are searched. */
const nearby = 12;
const everything: ScanRange = { from: undefined, to: undefined };

/** How `fill` ended: the rows are full, the range is at its end, or it is time to let others go on. */
export type FillResult = 'full' | 'end' | 'slice' | Miss;

/** One ordered read from a position on. */
export class Scan {
  readonly #view: ScanView;
  readonly #range: ScanRange;
  #heads: Head[] = [];
  /** A source has no window to stand in. */
  #isStarved: boolean = false;
  /** Bytes that all keys of the segment begin with. */
  #skip: number = 0;
  /** The head with the next key, and the one with the key after that: found together. */
  #best: number = -1;
  #second: number = -1;
  /** Range deletes of the segment; absent when there are none. */
  #cover: ScanCover | undefined;
  #segment: { readonly low: Uint8Array | undefined; readonly high: Uint8Array | undefined } | undefined;
  #done: boolean = false;
  #next: Uint8Array | undefined;
  /** The key that was last decided on, given or not. */
  #lastRun: Run | undefined;
  #lastIndex: number = 0;
  /** Updates of the key being decided, newest first: what the transaction has said itself, and what is committed. */
  #ownUpdate: Uint8Array | undefined;
  readonly #updates: Uint8Array[] = [];
  /** Where heads go when the key is decided: none moves behind an update before that, for after a Miss the key is begun anew. */
  readonly #moves: { readonly head: Head; readonly to: number }[] = [];

  constructor(view: ScanView, range: ScanRange) {
    this.#view = view;
    this.#range = range;
    this.#done = range.from !== undefined && range.to !== undefined && compareKeys(range.from, range.to) >= 0;
  }

  /** The last key that was decided on, where a scan made anew goes on behind. */
  get lastKey(): Uint8Array | undefined {
    return this.#lastRun?.key(this.#lastIndex);
  }

  /** Adds rows until one of the limits is reached. */
  fill(rows: Rows, limit: { readonly rows: number; readonly bytes: number }): FillResult {
    for (let keys = 0; keys < keysASlice; keys++) {
      if (rows.length >= limit.rows || (rows.length > 0 && rows.bytes >= limit.bytes)) return 'full';
      if (this.#segment === undefined) {
        if (this.#done) return 'end';
        const miss = this.#openSegment();
        if (miss !== undefined) return miss;
      }
      const miss = this.#isStarved ? this.#load() : undefined;
      if (miss !== undefined) return miss;
      this.#findBest();
      const best = this.#best;
      if (best < 0) this.#closeSegment();
      else {
        const taken = this.#takeStretch(best, rows, limit);
        if (taken > 0) {
          keys += taken >>> 3;
          continue;
        }
        const stuck = this.#view.forward ? this.#takeForward(best, rows) : this.#takeBackward(best, rows);
        if (stuck !== undefined) return stuck;
      }
    }
    return 'slice';
  }

  /** Opens the sources of the leaf range that holds the position. */
  #openSegment(): Miss | undefined {
    const { tree, cache, forward, seq, own } = this.#view;
    const position = this.#position();
    const cover = new ScanCover(seq, own === undefined ? [] : own.front.ranges.filter((range) => range.seq <= own.seqMax));
    for (const front of tree.fronts()) cover.add(front.ranges);
    const path = this.#descend(cover, position);
    if ('kind' in path) return path;
    this.#segment = { low: path.segment.from, high: path.segment.to };
    this.#cover = cover.isEmpty ? undefined : cover;
    const range = intersect(this.#range, path.segment, forward ? { from: position, to: undefined } : { from: undefined, to: position });
    const sources: ScanSource[] = [];
    if (own !== undefined) {
      sources.push(new FrontSource(own.front, own.seqMax, range, forward));
      for (const chain of own.spilled) sources.push(new ChainSource(cache, chain, { seqMax: own.seqMax, range, forward, takenBack: own.takenBack }));
    }
    const owned = sources.length;
    for (const front of tree.fronts()) {
      if (front instanceof SpilledFront) {
        if (front.seq <= seq) sources.push(new ChainSource(cache, front.spill.extents, { seqMax: seq, range, forward, fixedSeq: front.seq }));
      } else if (front.count > 0) sources.push(new FrontSource(front, seq, range, forward));
    }
    for (const extent of path.extents) sources.push(new ExtentSource(cache, extent, { seqMax: seq, range, forward }));
    this.#heads = sources.map((source, i) => new Head(source, i < owned));
    this.#isStarved = true;
    const { from, to } = path.segment;
    this.#skip = from === undefined || to === undefined ? 0 : sharedPrefix(from, 0, from.length, to, 0, to.length);
    return undefined;
  }

  /** The way down to the leaf that holds the position, or to where a range delete hides all that is below: its extents and its range of keys. */
  #descend(cover: ScanCover, position: Uint8Array | undefined): Miss | { readonly extents: readonly Extent[]; readonly segment: ScanRange } {
    const { tree, forward } = this.#view;
    const extents: Extent[] = [];
    let hidden = cover.isEmpty ? undefined : cover.around(position, forward);
    let { low, high }: { low: Uint8Array | undefined; high: Uint8Array | undefined } = { low: undefined, high: undefined };
    let number: BlockNumber = tree.root;
    while (hidden === undefined) {
      const node = tree.node(number);
      if (node === undefined) return { kind: 'miss', block: number };
      if (node.kind === 'leaf') {
        if (node.extent !== undefined) extents.push(node.extent);
        break;
      }
      const child = childAt(node, position, forward);
      extents.push(...(node.buffers[child] ?? []));
      low = node.pivots[child - 1] ?? low;
      high = node.pivots[child] ?? high;
      number = node.children[child] as BlockNumber;
      const ranges = node.ranges[child] ?? [];
      if (ranges.length === 0) continue;
      cover.add(ranges);
      hidden = cover.around(position, forward);
    }
    return { extents, segment: intersect({ from: low, to: high }, hidden ?? everything) };
  }

  /** Where the next segment begins: its first key forwards, the key it ends before backwards. */
  #position(): Uint8Array | undefined {
    return this.#next ?? (this.#view.forward ? this.#range.from : this.#range.to);
  }

  #closeSegment(): void {
    const segment = this.#segment;
    assert(segment !== undefined, 'a segment is open');
    this.#segment = undefined;
    this.#heads = [];
    const far = this.#view.forward ? segment.high : segment.low;
    const stop = this.#view.forward ? this.#range.to : this.#range.from;
    if (far === undefined) this.#done = true;
    else if (stop !== undefined && (this.#view.forward ? compareKeys(far, stop) >= 0 : compareKeys(far, stop) <= 0)) this.#done = true;
    else this.#next = far;
  }

  /** Gives every source a window to stand in. */
  #load(): Miss | undefined {
    for (const head of this.#heads) {
      if (head.ended || head.run !== undefined) continue;
      const window = head.source.next();
      if (window === 'end') head.ended = true;
      else if ('kind' in window) return window;
      else {
        head.run = window.run;
        head.at = this.#view.forward ? window.start : window.end - 1;
        head.end = this.#view.forward ? window.end : window.start - 1;
        head.prefix = window.run.head(head.at, this.#skip);
        head.fresh = true;
        head.cutBefore = window.cutBefore;
        head.cutAfter = window.cutAfter;
      }
    }
    this.#isStarved = false;
    return undefined;
  }

  /** Finds the source with the next key, of equal keys the newest, and the one that comes first beside it; -1: there is none. */
  #findBest(): void {
    const heads = this.#heads;
    const sign = this.#view.forward ? 1 : -1;
    let best = -1;
    let second = -1;
    for (let i = 0; i < heads.length; i++) {
      const head = heads[i] as Head;
      if (head.run === undefined) continue;
      if (best < 0 || sign * compareHeads(head, heads[best] as Head) < 0) {
        second = best;
        best = i;
      } else if (second < 0 || sign * compareHeads(head, heads[second] as Head) < 0) second = i;
    }
    this.#best = best;
    this.#second = second;
  }

  /** Moves a head to a place in its window, or behind it. */
  #moveTo(head: Head, to: number): void {
    head.at = to;
    head.fresh = false;
    if (to !== head.end) head.prefix = (head.run as Run).head(to, this.#skip);
    else {
      head.run = undefined;
      this.#isStarved = true;
    }
  }

  #decided(run: Run, index: number): boolean {
    const last = this.#lastRun;
    return last !== undefined && compareEntries(run, index, last, this.#lastIndex) === 0;
  }

  /**
   * Gives the rows of head `best` up to the next key of any other head at once, and returns how many messages those were. Only for runs whose
   * messages everybody sees, so that each key has one, and where no range delete is near; 0: the key is decided on in the usual way.
   */
  #takeStretch(best: number, rows: Rows, limit: { readonly rows: number; readonly bytes: number }): number {
    const head = this.#heads[best] as Head;
    const run = head.run as Run;
    if (run.seqs !== undefined || head.fresh || this.#cover !== undefined) return 0;
    const { forward } = this.#view;
    const other = this.#heads[this.#second];
    const from = head.at;
    // Newer versions of the run's first key may be in the basement before: backwards it is met last.
    const end = !forward && head.cutBefore ? Math.max(head.end, 0) : head.end;
    let to = end;
    if (other !== undefined) to = forward ? this.#stretchEnd(head, end, other) : run.upperBound((other.run as Run).key(other.at), end + 1, from + 1) - 1;
    const step = forward ? 1 : -1;
    let at = from;
    while (at !== to && rows.length < limit.rows && rows.bytes < limit.bytes && run.kinds[at] !== messageKinds.update) {
      if (run.kinds[at] !== messageKinds.remove) rows.add(run, at);
      at += step;
    }
    if (at === from) return 0;
    this.#lastRun = run;
    this.#lastIndex = at - step;
    this.#moveTo(head, at);
    return Math.abs(at - from);
  }

  /** Where in its window a head, which comes first, meets the next key of another: most often a few places on. */
  #stretchEnd(head: Head, end: number, other: Head): number {
    const run = head.run as Run;
    const { prefix } = other;
    let to = head.at;
    if (head.prefix < prefix) for (const near = Math.min(end, to + nearby); ++to < near && run.head(to, this.#skip) < prefix; );
    return to === end ? end : run.lowerBound((other.run as Run).key(other.at), to, end);
  }

  /** Decides on the key of head `best` and moves every head that has it behind it. Nothing is lost by a Miss: the heads moved until then had nothing to see. */
  #takeForward(best: number, rows: Rows): Miss | undefined {
    const first = this.#heads[best] as Head;
    const run = first.run as Run;
    const index = first.at;
    const { prefix } = first;
    let decided = first.fresh && this.#decided(run, index);
    this.#forgetUpdates();
    for (let i = best; i < this.#heads.length; i++) {
      const head = this.#heads[i] as Head;
      if (head.run === undefined || head.prefix !== prefix || compareEntries(head.run, head.at, run, index) !== 0) continue;
      let at = head.at;
      do {
        if (!decided && this.#counts(head, at)) decided = this.#give(head, head.run, at, rows);
        at += 1;
      } while (at < head.end && compareEntries(head.run, at, run, index) === 0);
      if (at === head.end && head.cutAfter && !decided) {
        const miss = this.#ask(run, index, rows);
        if (miss !== undefined) return miss;
        decided = true;
      }
      this.#move(head, at);
    }
    this.#endKey(run, index, decided, rows);
    return undefined;
  }

  #takeBackward(best: number, rows: Rows): Miss | undefined {
    const first = this.#heads[best] as Head;
    const run = first.run as Run;
    const index = first.at;
    const { prefix } = first;
    let decided = first.fresh && this.#decided(run, index);
    this.#forgetUpdates();
    for (let i = best; i < this.#heads.length; i++) {
      const head = this.#heads[i] as Head;
      if (head.run === undefined || head.prefix !== prefix || compareEntries(head.run, head.at, run, index) !== 0) continue;
      let start = head.at;
      while (start - 1 > head.end && compareEntries(head.run, start - 1, run, index) === 0) start -= 1;
      if (start === 0 && head.cutBefore && !decided) {
        const miss = this.#ask(run, index, rows);
        if (miss !== undefined) return miss;
        decided = true;
      }
      for (let at = start; at <= head.at && !decided; at++) {
        if (this.#counts(head, at)) decided = this.#give(head, head.run, at, rows);
      }
      this.#move(head, start - 1);
    }
    this.#endKey(run, index, decided, rows);
    return undefined;
  }

  /** Whether the message at `at` is among those that decide: of its own ones a transaction's newest says all that they say. */
  #counts(head: Head, at: number): boolean {
    return counts(head, at) && !(head.isOwn && this.#ownUpdate !== undefined);
  }

  #forgetUpdates(): void {
    this.#ownUpdate = undefined;
    this.#updates.length = 0;
    this.#moves.length = 0;
  }

  get #hasUpdates(): boolean {
    return this.#ownUpdate !== undefined || this.#updates.length > 0;
  }

  #move(head: Head, to: number): void {
    if (this.#hasUpdates) this.#moves.push({ head, to });
    else this.#moveTo(head, to);
  }

  /** Takes the message at `index` as what the snapshot sees of its key; whether nothing older matters. */
  #give(head: Head, run: Run, index: number, rows: Rows): boolean {
    const kind = run.kinds[index];
    const isHidden = this.#cover !== undefined && (head.source.fixedSeq ?? run.seq(index)) < this.#cover.hiddenBelow(run.key(index), head.isOwn);
    if (kind === messageKinds.update && !isHidden) {
      if (head.isOwn) this.#ownUpdate = run.value(index);
      else this.#updates.push(run.value(index));
      return false;
    }
    this.#lastRun = run;
    this.#lastIndex = index;
    const isThere = kind !== messageKinds.remove && !isHidden;
    if (this.#hasUpdates) this.#giveUpdated(run.key(index), isThere ? saidBy(run, index) : undefined, rows);
    else if (isThere) rows.add(run, index);
    return true;
  }

  /** Gives what the updates make of what they build on; of a value that lies elsewhere whoever fetches it does. */
  #giveUpdated(key: Uint8Array, base: Found, rows: Rows): void {
    const newestFirst = this.#ownUpdate === undefined ? [...this.#updates] : [this.#ownUpdate, ...this.#updates];
    const made = updatedBy(this.#view.tree.updates, base, newestFirst);
    if (made === 'removed') return;
    if (made instanceof Uint8Array) rows.add(singleRow(key, made), 0);
    else rows.addUpdated(singleRow(key, made), made.updates ?? []);
  }

  /** Every head is behind the key: updates that nothing older was found for build on nothing. */
  #endKey(run: Run, index: number, decided: boolean, rows: Rows): void {
    if (!decided && this.#hasUpdates) {
      this.#lastRun = run;
      this.#lastIndex = index;
      this.#giveUpdated(run.key(index), undefined, rows);
    }
    for (const { head, to } of this.#moves) this.#moveTo(head, to);
  }

  /** The newest message of a key that the transaction has spilled itself. */
  #askOwn(key: Uint8Array): ChainPlace | Miss | undefined {
    const { cache, own } = this.#view;
    for (const chain of own?.spilled ?? []) {
      const found = searchChain(cache, chain, key, { seqMax: own?.seqMax ?? 0, takenBack: own?.takenBack ?? [] });
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Decides a key by a point read, because its group of versions goes on in a basement that the scan does not stand in. */
  #ask(run: Run, index: number, rows: Rows): Miss | undefined {
    const { tree, cache, seq } = this.#view;
    const key = run.key(index);
    const own = this.#ownUpdate === undefined ? this.#askOwn(key) : undefined;
    if (own !== undefined && 'block' in own) return own;
    if (own !== undefined) {
      const isHidden = own.run.seq(own.index) < (this.#cover?.hiddenBelow(key, true) ?? 0);
      this.#lastRun = run;
      this.#lastIndex = index;
      const kind = own.run.kinds[own.index];
      if (isHidden || kind !== messageKinds.update) {
        if (!isHidden && kind !== messageKinds.remove) rows.add(own.run, own.index);
        return undefined;
      }
      this.#ownUpdate = own.run.value(own.index);
    }
    const found = this.#cover?.hiddenBelow(key, false) === Infinity ? undefined : search(tree, cache, key, seq);
    if (isMiss(found)) return found;
    this.#lastRun = run;
    this.#lastIndex = index;
    // The search has gathered what is committed.
    this.#updates.length = 0;
    this.#giveUpdated(key, found, rows);
    return undefined;
  }
}

/** Whether the message at `at` is among those that the scan may see. */
function counts({ run, source }: Head, at: number): boolean {
  const seq = (run as Run).seq(at);
  return seq <= source.seqMax && (source.takenBack === undefined || !isTakenBack(source.takenBack, seq));
}

function compareHeads(a: Head, b: Head): number {
  return a.prefix !== b.prefix ? a.prefix - b.prefix : compareEntries(a.run as Run, a.at, b.run as Run, b.at);
}

/** Order of two keys by reference. */
function compareEntries(a: Run, i: number, b: Run, j: number): number {
  return compareRange(
    a.keys, a.keyOffsets[i] as number, a.keyOffsets[i + 1] as number,
    b.keys, b.keyOffsets[j] as number, b.keyOffsets[j + 1] as number,
  );
}

function compareKeys(a: Uint8Array, b: Uint8Array): number {
  return compareRange(a, 0, a.length, b, 0, b.length);
}

/** The child that holds `position`; backwards, the one that holds what is just before it. */
function childAt(node: InternalNode, position: Uint8Array | undefined, forward: boolean): number {
  if (position === undefined) return forward ? 0 : node.children.length - 1;
  const child = childOf(node, position);
  const low = node.pivots[child - 1];
  return !forward && low !== undefined && compareKeys(low, position) === 0 ? child - 1 : child;
}

function intersect(...ranges: readonly ScanRange[]): ScanRange {
  let { from, to }: ScanRange = { from: undefined, to: undefined };
  for (const range of ranges) {
    if (range.from !== undefined && (from === undefined || compareKeys(range.from, from) > 0)) from = range.from;
    if (range.to !== undefined && (to === undefined || compareKeys(range.to, to) < 0)) to = range.to;
  }
  return { from, to };
}
