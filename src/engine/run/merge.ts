// The merge of sorted runs, and the rule for what may be dropped: the one hard kernel of the engine (laws 10 and 11, docs/architecture.md).
// Inputs are neighbours in age, newest first; each is a sequence of runs that its owner feeds as it gets them. Output goes to a sink in order.
// Invariants: for every open snapshot, and for every snapshot at or after the newest of them, reading the output is reading the inputs;
// only a merge that includes the leaf ends a remove.

import { assert, must } from '../../base/assert.ts';
import { compareRange } from '../../base/bytes.ts';
import { messageKinds } from './message.ts';
import { RangeCover } from './range-delete.ts';
import type { RangeDelete } from './range-delete.ts';
import type { Run } from './run.ts';
import { RunBuilder } from './run-builder.ts';
import type { MessageSink } from './run-builder.ts';
import { PendingUpdates } from './pending-updates.ts';
import type { UpdateBase } from './pending-updates.ts';
import type { UpdateSource } from './update.ts';
import { sharedPrefix } from './sorted-keys.ts';

/** What a merge may drop. */
export interface DropRule {
  /** Seqs of the open snapshots, ascending; the last is the newest visible seq, and every seq above it counts as open too (law 3). */
  readonly snapshots: Float64Array;
  /** Whether the oldest input is the leaf: then removes end, and what everybody sees is written with seq 0. */
  readonly atLeaf: boolean;
  /** Range deletes that go with the inputs: like removes of every key they cover. Above the leaf they go on; there they end. */
  readonly ranges: readonly RangeDelete[];
  /** Functions, where updates are folded into what they build on; absent: each message says all there is to say, whatever its kind. */
  readonly updates?: UpdateSource;
}

/** How far one step goes. Limits are soft: the versions of a key are never parted. */
export interface StepLimit {
  /** Messages read from the inputs. */
  readonly messages: number;
  /** Bytes of keys and values given to the sink. */
  readonly bytes?: number;
  /** Nothing at or behind this key is read. */
  readonly bound?: Uint8Array;
}

/** Why a step ended: an input must be fed, a value must be given that lies elsewhere, the bound or a limit was reached, or all inputs have ended. */
export type StepEnd = 'input' | 'value' | 'bound' | 'limit' | 'end';

/** A value that updates build on, and that lies elsewhere. */
export interface WantedValue {
  readonly key: Uint8Array;
  readonly reference: Uint8Array;
}

const wantsValue = -1;

/** A message whose key ranges may cover; `newer`: the seq of the version before it; `keep`: what points alone say. */
interface Covered {
  readonly run: Run;
  readonly at: number;
  readonly seq: number;
  readonly newer: number;
  readonly keep: boolean;
}

/** Head of an input that has nothing before the bound. */
const parked = Infinity;
/** No key has this head. */
const noHead = -1;

/** A merge in progress. */
export class Merge {
  readonly #inputs: number;
  readonly #atLeaf: boolean;
  readonly #snapshots: Float64Array;
  readonly #oldest: number;
  readonly #cover: RangeCover | undefined;
  readonly #updates: UpdateSource | undefined;
  /** Updates of the last message's key that wait for what they build on. */
  #pending: PendingUpdates | undefined;
  #wanted: WantedValue | undefined;
  #value: UpdateBase | undefined;
  /** The run that each input is in; absent when it must be fed or has ended. */
  readonly #runs: (Run | undefined)[];
  readonly #ended: boolean[];
  readonly #at: Uint32Array;
  readonly #end: Uint32Array;
  /** Where the bound of this step cuts the run. */
  readonly #stop: Uint32Array;
  /** Six bytes of the next key of each input behind what all keys share, as a number. */
  readonly #heads: Float64Array;
  #skip = 0;
  #needs = 0;
  /** The message before: its key may have more versions. */
  #lastRun: Run | undefined;
  #lastAt = 0;
  #lastSeq = 0;
  #lastHead = noHead;
  /** Seq of a range delete that somebody sees between the versions of the key read so far and those to come; 0: none. */
  #stands = 0;
  #read = 0;

  constructor(inputs: number, rule: DropRule) {
    assert(rule.snapshots.length > 0, 'the newest visible seq is an open snapshot');
    this.#inputs = inputs;
    this.#atLeaf = rule.atLeaf;
    this.#snapshots = rule.snapshots;
    this.#oldest = rule.snapshots[0] as number;
    this.#cover = rule.ranges.length === 0 ? undefined : new RangeCover(rule.ranges);
    this.#updates = rule.updates;
    this.#runs = new Array<Run | undefined>(inputs).fill(undefined);
    this.#ended = new Array<boolean>(inputs).fill(false);
    this.#at = new Uint32Array(inputs);
    this.#end = new Uint32Array(inputs);
    this.#stop = new Uint32Array(inputs);
    this.#heads = new Float64Array(inputs);
  }

  /** The input that must be fed after a step ended with 'input'. */
  get needs(): number {
    return this.#needs;
  }

  /** The value that must be given after a step ended with 'value'. */
  get wanted(): WantedValue {
    return must(this.#wanted, 'a value is wanted');
  }

  /** Gives it; undefined: it is lost. */
  give(value: Uint8Array | undefined): void {
    this.#value = { value };
  }

  /** Messages read so far. */
  get messagesRead(): number {
    return this.#read;
  }

  /** Gives an input its next run, or the part [start, end) of one; absent: the input has ended. Only for an input that has none. */
  feed(input: number, run: Run | undefined, start = 0, end: number = run?.count ?? 0): void {
    assert(input < this.#inputs && this.#runs[input] === undefined && this.#ended[input] === false, 'an input is fed when it needs to be');
    if (run === undefined) {
      this.#ended[input] = true;
      return;
    }
    assert(start <= end && end <= run.count, 'a part lies within its run');
    if (start === end) return;
    this.#runs[input] = run;
    this.#at[input] = start;
    this.#end[input] = end;
  }

  /** Merges on until one of the reasons to stop. */
  step(sink: MessageSink, limit: StepLimit): StepEnd {
    const missing = this.#unfed();
    if (missing >= 0) {
      this.#needs = missing;
      return 'input';
    }
    this.#skip = this.#sharedBytes();
    this.#lastHead = this.#headOfLast();
    for (let input = 0; input < this.#inputs; input++) this.#prepare(input, limit.bound);
    return this.#run(sink, limit.messages, limit.bytes ?? Infinity);
  }

  #run(sink: MessageSink, messagesMax: number, bytesMax: number): StepEnd {
    const heads = this.#heads;
    const oldest = this.#oldest;
    let messages = 0;
    let bytes = 0;
    for (;;) {
      const input = this.#smallest();
      const head = heads[input] as number;
      if (head === parked) return this.#pause(sink);
      const run = this.#runs[input] as Run;
      const at = this.#at[input] as number;
      const seq = run.seqs === undefined ? 0 : (run.seqs[at] as number);
      let newer = Infinity;
      if (head === this.#lastHead && this.#isLastKey(run, at)) newer = this.#lastSeq;
      else {
        bytes += this.#endPending(sink);
        if (messages >= messagesMax || bytes >= bytesMax) return 'limit';
      }
      const keep = newer === Infinity || (newer > oldest && this.#isSeen(seq, newer));
      if (this.#cover !== undefined || this.#pending !== undefined) {
        const taken = this.#takeBeside(sink, { run, at, seq, newer, keep });
        if (taken === wantsValue) return 'value';
        bytes += taken;
      } else if (keep) bytes += this.#keep(sink, run, at, seq);
      messages++;
      this.#read++;
      this.#lastRun = run;
      this.#lastAt = at;
      this.#lastSeq = seq;
      this.#lastHead = head;
      if (!this.#advance(input, run, at + 1)) return 'input';
    }
  }

  /**
   * Whether a message stays where ranges cover its key: a range delete between it and the newer version is a version too. At the leaf, where
   * ranges end, a remove of the key stands for the range as soon as something older of the key stays.
   */
  #isKeptUnder(cover: RangeCover, sink: MessageSink, of: Covered): boolean {
    const { run, at, seq, newer } = of;
    if (newer === Infinity) this.#stands = 0;
    const range = cover.above(run.keys, run.keyOffsets[at] as number, run.keyOffsets[at + 1] as number, seq);
    const isBetween = range < newer;
    if (isBetween && (newer === Infinity || this.#isSeen(range, newer))) this.#stands = range;
    const keep = isBetween ? range > this.#oldest && this.#isSeen(seq, range) : of.keep;
    if (!keep) return false;
    if (this.#stands > 0 && this.#atLeaf && run.kinds[at] !== messageKinds.remove) sink.append(removeOf(run.key(at), this.#stands), 0, this.#stands);
    this.#stands = 0;
    return true;
  }

  /** Nothing is left before the bound, or at all. */
  #pause(sink: MessageSink): 'end' | 'bound' {
    this.#endPending(sink);
    return this.#allEnded() ? 'end' : 'bound';
  }

  /** Takes a message of a key that has updates waiting, or range deletes around; its bytes, if it stays; `wantsValue`. */
  #takeBeside(sink: MessageSink, of: Covered): number {
    if (this.#pending !== undefined) {
      const taken = this.#meet(sink, of);
      if (taken !== undefined) return taken;
    }
    const keep = this.#cover === undefined ? of.keep : this.#isKeptUnder(this.#cover, sink, of);
    return keep ? this.#keep(sink, of.run, of.at, of.seq) : 0;
  }

  /** Hands a kept message on; an update waits for what it builds on. */
  #keep(sink: MessageSink, run: Run, at: number, seq: number): number {
    if (run.kinds[at] !== messageKinds.update || this.#updates === undefined) return this.#give(sink, run, at, seq);
    this.#pending = new PendingUpdates(run, at, seq);
    return 0;
  }

  /**
   * Updates wait and an older message of their key comes: one more of them, or what they build on, which may be the absence that a range delete between
   * has left (law 12). Undefined: they are written, and the message is yet to be taken.
   */
  #meet(sink: MessageSink, of: Covered): number | undefined {
    const { run, at, seq, keep } = of;
    const pending = must(this.#pending, 'updates wait');
    const range = this.#cover?.above(run.keys, run.keyOffsets[at] as number, run.keyOffsets[at + 1] as number, seq) ?? Infinity;
    const kind = range <= pending.oldestSeq ? messageKinds.remove : run.kinds[at];
    if (kind === messageKinds.update) {
      pending.add(run, at, seq, keep);
      return 0;
    }
    if (kind === messageKinds.reference) return this.#meetReference(sink, of);
    this.#foldPending(sink, { value: kind === messageKinds.put ? run.value(at) : undefined });
    return undefined;
  }

  /** What updates build on lies elsewhere: above the leaf both stay, whoever sees them; at the leaf the value is asked for. */
  #meetReference(sink: MessageSink, { run, at, seq }: Covered): number | undefined {
    if (!this.#atLeaf) return this.#foldPending(sink, undefined) + this.#give(sink, run, at, seq);
    if (this.#value === undefined) {
      this.#wanted = { key: run.key(at).slice(), reference: run.value(at).slice() };
      return wantsValue;
    }
    this.#foldPending(sink, this.#value);
    this.#value = undefined;
    return undefined;
  }

  /** No older message of their key came: at the leaf, or under a range delete that hides what is below, there is none. */
  #endPending(sink: MessageSink): number {
    const pending = this.#pending;
    if (pending === undefined) return 0;
    const { key, oldestSeq } = pending;
    const isAbsent = this.#atLeaf || (this.#cover?.above(key, 0, key.length, 0) ?? Infinity) <= oldestSeq;
    return this.#foldPending(sink, isAbsent ? { value: undefined } : undefined);
  }

  /** Writes what waits, and returns its bytes. */
  #foldPending(sink: MessageSink, base: UpdateBase | undefined): number {
    const functions = must(this.#updates?.functions, 'functions are there before the first update is');
    const run = must(this.#pending, 'updates wait').finish(functions, base);
    this.#pending = undefined;
    let bytes = 0;
    for (let at = 0; at < run.count; at++) bytes += this.#give(sink, run, at, run.seq(at));
    return bytes;
  }

  /** Hands a kept message on and returns its bytes, or 0 when it ends here. */
  #give(sink: MessageSink, run: Run, at: number, seq: number): number {
    let written = seq;
    if (this.#atLeaf && seq <= this.#oldest) {
      // Everybody sees this version and no older one: a remove says no more than absence.
      if (run.kinds[at] === messageKinds.remove) return 0;
      written = 0;
    }
    sink.append(run, at, written);
    return run.size(at);
  }

  /** Moves an input to its next message; false when its run is at its end. */
  #advance(input: number, run: Run, next: number): boolean {
    this.#at[input] = next;
    if (next < (this.#stop[input] as number)) {
      this.#heads[input] = headOf(run, next, this.#skip);
      return true;
    }
    if (next < (this.#end[input] as number)) {
      this.#heads[input] = parked;
      return true;
    }
    this.#runs[input] = undefined;
    this.#needs = input;
    return false;
  }

  /** The input with the smallest next key; of equal keys that of the newest input. */
  #smallest(): number {
    const heads = this.#heads;
    let best = 0;
    let least = heads[0] as number;
    for (let input = 1; input < this.#inputs; input++) {
      const head = heads[input] as number;
      if (head < least || (head === least && head !== parked && this.#compareNext(input, best) < 0)) {
        best = input;
        least = head;
      }
    }
    return best;
  }

  #compareNext(a: number, b: number): number {
    const runA = this.#runs[a] as Run;
    const runB = this.#runs[b] as Run;
    const atA = this.#at[a] as number;
    const atB = this.#at[b] as number;
    return compareRange(
      runA.keys,
      (runA.keyOffsets[atA] as number) + this.#skip,
      runA.keyOffsets[atA + 1] as number,
      runB.keys,
      (runB.keyOffsets[atB] as number) + this.#skip,
      runB.keyOffsets[atB + 1] as number,
    );
  }

  /** Whether a key whose head is that of the last message is the last message's key. */
  #isLastKey(run: Run, at: number): boolean {
    const last = this.#lastRun as Run;
    const start = last.keyOffsets[this.#lastAt] as number;
    const end = last.keyOffsets[this.#lastAt + 1] as number;
    const from = run.keyOffsets[at] as number;
    if ((run.keyOffsets[at + 1] as number) - from !== end - start) return false;
    const a = last.keys;
    const b = run.keys;
    for (let i = end - 1, j = from + (end - start) - 1; i >= start; i--, j--) if (a[i] !== b[j]) return false;
    return true;
  }

  #isSeen(older: number, newer: number): boolean {
    return isSeen(this.#snapshots, older, newer);
  }

  #unfed(): number {
    for (let input = 0; input < this.#inputs; input++) if (this.#runs[input] === undefined && this.#ended[input] === false) return input;
    return -1;
  }

  #allEnded(): boolean {
    return this.#ended.every((ended) => ended);
  }

  /** What all keys that are there share: of sorted runs the first and last keys tell. */
  #sharedBytes(): number {
    const first = this.#runs.find((run) => run !== undefined);
    if (first === undefined) return 0;
    const index = this.#at[this.#runs.indexOf(first)] as number;
    const start = first.keyOffsets[index] as number;
    let end = first.keyOffsets[index + 1] as number;
    for (let input = 0; input < this.#inputs; input++) {
      const run = this.#runs[input];
      if (run === undefined) continue;
      for (const other of [this.#at[input] as number, (this.#end[input] as number) - 1]) {
        end = start + sharedPrefix(first.keys, start, end, run.keys, run.keyOffsets[other] as number, run.keyOffsets[other + 1] as number);
      }
    }
    return end - start;
  }

  /** The head of the last message's key, if it shares what the keys to come share; otherwise none of them is that key. */
  #headOfLast(): number {
    const last = this.#lastRun;
    if (last === undefined) return noHead;
    const input = this.#runs.findIndex((run) => run !== undefined);
    if (input < 0) return noHead;
    const run = must(this.#runs[input], 'the input has a run');
    const start = run.keyOffsets[this.#at[input] as number] as number;
    const lastStart = last.keyOffsets[this.#lastAt] as number;
    const lastEnd = last.keyOffsets[this.#lastAt + 1] as number;
    const shared = sharedPrefix(run.keys, start, start + this.#skip, last.keys, lastStart, lastEnd);
    return shared < this.#skip ? noHead : headOf(last, this.#lastAt, this.#skip);
  }

  #prepare(input: number, bound: Uint8Array | undefined): void {
    const run = this.#runs[input];
    if (run === undefined) {
      this.#heads[input] = parked;
      return;
    }
    const at = this.#at[input] as number;
    const end = this.#end[input] as number;
    const stop = bound === undefined ? end : run.lowerBound(bound, at, end);
    this.#stop[input] = stop;
    this.#heads[input] = at < stop ? headOf(run, at, this.#skip) : parked;
  }
}

/** Whether a snapshot that is open, or may be opened at a later visible seq, lies in [older, newer): it sees the older version. */
export function isSeen(snapshots: Float64Array, older: number, newer: number): boolean {
  if (newer > (snapshots[snapshots.length - 1] as number)) return true;
  let low = 0;
  let high = snapshots.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((snapshots[middle] as number) < older) low = middle + 1;
    else high = middle;
  }
  return low < snapshots.length && (snapshots[low] as number) < newer;
}

/** A run of one remove. */
function removeOf(key: Uint8Array, seq: number): Run {
  const builder = new RunBuilder(1, key.length);
  builder.appendMessage({ key, seq, kind: messageKinds.remove, value: nothing });
  return builder.finish();
}

const nothing = new Uint8Array(0);

/** Six bytes of key `index` behind the first `skip`, as a number in the order of bytes; what is behind the key counts as zero. */
function headOf(run: Run, index: number, skip: number): number {
  const bytes = run.keys;
  const at = (run.keyOffsets[index] as number) + skip;
  const end = run.keyOffsets[index + 1] as number;
  if (at + 6 <= end) {
    const high = ((bytes[at] as number) << 16) | ((bytes[at + 1] as number) << 8) | (bytes[at + 2] as number);
    const low = ((bytes[at + 3] as number) << 16) | ((bytes[at + 4] as number) << 8) | (bytes[at + 5] as number);
    return high * 0x1000000 + low;
  }
  let head = 0;
  for (let i = 0; i < 6; i++) head = head * 256 + (at + i < end ? (bytes[at + i] as number) : 0);
  return head;
}
