// From a write set to something visible: the log takes the record, and when the record is safe its messages go into the fronts, in the order
// of seqs, commit by commit; only then does `visible` move and its caller hear of it (laws 1 and 2). A large record is applied in slices.
// Recovery applies records through the same code.

import { must } from '../base/assert.ts';
import { EngineError } from '../base/errors.ts';
import { transactionBytesMax } from './options.ts';
import { decodeReference } from './run/blob-reference.ts';
import { messageKinds } from './run/message.ts';
import { coveringSeq } from './run/range-delete.ts';
import { applyOperations, countOperations, foldedBytesMax } from './run/update.ts';
import type { EngineState } from './state.ts';
import type { Front } from './tree/front.ts';
import { SpilledFront } from './tree/spilled.ts';
import type { Tree } from './tree/tree.ts';
import type { DictionaryId, DictionaryOptions, Seq, UpdateFunctions } from './types.ts';
import type { BoundedRange, MessageSlice, RecordVisitor } from './wal/record.ts';
import { RecordReader } from './wal/record.ts';

/** Messages of a commit as its transaction has them: what is applied needs not be read from the record. */
export interface CommitInMemory {
  /** Plain ones, not to be changed before they are applied. */
  readonly fronts: readonly (readonly [DictionaryId, Front])[];
  /** Where in the record they are: what is before and behind them is read. */
  readonly start: number;
  readonly end: number;
}

interface Logged {
  readonly seq: Seq;
  readonly body: Uint8Array;
  readonly inMemory: CommitInMemory | undefined;
  isApplied: boolean;
  /** Called when it is; set by whoever must wait for it. */
  applied: (() => void) | undefined;
}

/** Parts of a record applied before others get their turn. */
const sliceParts = 4000;

/** Puts one record's parts into the trees. */
class Applier implements RecordVisitor {
  readonly touched: Set<Tree> = new Set();
  #spilled: Map<Tree, SpilledFront> | undefined;
  readonly #state: EngineState;
  readonly #seq: number;
  #dictionary: number = -1;
  #tree: Tree | undefined;
  /** It is a record of moves: they change no value. */
  #moves: boolean = false;

  constructor(state: EngineState, seq: number) {
    this.#state = state;
    this.#seq = seq;
  }

  /** The tree that still wants this record; undefined when it was dropped, or has the record below its fronts already. */
  #target(dictionary: number): Tree | undefined {
    if (dictionary !== this.#dictionary) {
      const tree = this.#state.trees.get(dictionary as DictionaryId);
      this.#dictionary = dictionary;
      this.#tree = tree === undefined || tree.droppedSeq <= this.#seq || tree.flushedSeq >= this.#seq ? undefined : tree;
      if (this.#tree !== undefined) {
        this.touched.add(this.#tree);
        if (!this.#moves) this.#tree.lastSeq = this.#seq;
      }
    }
    return this.#tree;
  }

  message(dictionary: number, message: MessageSlice): void {
    if (!this.#take(dictionary, message)) return;
    this.#remember(dictionary, 1, () => message.bytes.subarray(message.keyStart, message.keyEnd));
  }

  /** Plain messages of one dictionary, as their transaction has them. */
  front(dictionary: DictionaryId, front: Front): void {
    const tree = front.count === 0 ? undefined : this.#target(dictionary);
    if (tree === undefined) return;
    tree.active.appendAll(front, this.#seq);
    this.#remember(dictionary, front.count, (entry) => front.key(entry));
  }

  /** Lets transactions that are open know of keys that were committed. */
  #remember(dictionary: number, count: number, key: (index: number) => Uint8Array): void {
    const { recent } = this.#state;
    if (recent.isAsked) for (let index = 0; index < count; index++) recent.add(dictionary, key(index), this.#seq);
  }

  /** What is moved is the same as before: whoever has seen it may write it. */
  move(dictionary: number, message: MessageSlice): void {
    this.#moves = true;
    this.#take(dictionary, message);
  }

  /** Puts a message into its tree's front; whether the tree wants it. */
  #take(dictionary: number, message: MessageSlice): boolean {
    const tree = this.#target(dictionary);
    if (tree === undefined) return false;
    message.seq = this.#seq;
    if (message.kind === messageKinds.update) appendUpdate(tree, message, this.#state.updates);
    else tree.active.appendSlice(message);
    if (message.kind === messageKinds.reference) {
      const { segment, bytes } = decodeReference(message.bytes, message.valueStart, message.valueEnd);
      this.#state.blobs.count(new Map([[segment, bytes]]), 'inFronts', 1);
    }
    return true;
  }

  spill(dictionary: number, number: number): void {
    const tree = this.#target(dictionary);
    if (tree === undefined) return;
    const spill = this.#state.spills.get(number);
    if (spill === undefined) {
      // Replay makes a dictionary again that was dropped since; of one that lives this would be damage.
      this.#state.lostSpills.add(tree);
      return;
    }
    const front = new SpilledFront(spill, this.#seq);
    (this.#spilled ??= new Map()).set(tree, front);
    this.#state.install(tree, front);
    this.#state.blobs.count(front.blobs(), 'inFronts', 1);
    if (this.#state.recent.isAsked) this.#state.recent.addRange(dictionary, { from: undefined, to: undefined, seq: this.#seq });
  }

  /** The front that has this commit's messages of a tree. */
  #frontOf(tree: Tree): Front | SpilledFront {
    return this.#spilled?.get(tree) ?? tree.active;
  }

  rangeDelete(dictionary: number, { from, to }: BoundedRange): void {
    const tree = this.#target(dictionary);
    if (tree === undefined) return;
    const range = { from, to, seq: this.#seq };
    this.#frontOf(tree).appendRange(range);
    this.#state.recent.addRange(dictionary, range);
  }

  count(dictionary: number, rows: number, bytes: number): void {
    const tree = this.#target(dictionary);
    tree?.addTotals({ seq: this.#seq, rows, bytes }, this.#frontOf(tree));
  }

  create(dictionary: number, options: DictionaryOptions): void {
    const id = dictionary as DictionaryId;
    this.#dictionary = -1;
    const tree = this.#state.trees.get(id);
    if (tree === undefined) this.#state.createTree(id, options, this.#seq);
    else tree.options = options;
  }

  drop(dictionary: number): void {
    this.#dictionary = -1;
    const tree = this.#state.trees.get(dictionary as DictionaryId);
    if (tree !== undefined && tree.droppedSeq > this.#seq) {
      tree.droppedSeq = this.#seq;
      tree.isGoing = true;
      this.#state.dropped.add(tree);
    }
  }
}

/**
 * Puts an update into the active front: as a put or remove where the front knows what it builds on, so that what is changed often is no chain, else
 * as it is. `format` when a function is not known.
 */
function appendUpdate({ active }: Tree, message: MessageSlice, updates: UpdateFunctions): void {
  const key = message.bytes.subarray(message.keyStart, message.keyEnd);
  const operations = message.bytes.subarray(message.valueStart, message.valueEnd);
  countOperations(updates, operations);
  const entry = active.find(key, Infinity);
  const hidden = active.ranges.length === 0 ? 0 : coveringSeq(active.ranges, key, Infinity);
  const isAbsent = entry < 0 ? hidden > 0 : active.seq(entry) < hidden || active.kind(entry) === messageKinds.remove;
  const isFolded = isAbsent || (entry >= 0 && active.kind(entry) === messageKinds.put && active.value(entry).length <= foldedBytesMax);
  if (!isFolded) {
    active.appendSlice(message);
    return;
  }
  const value = applyOperations(updates, isAbsent ? undefined : active.value(entry), operations);
  if (value === undefined) active.append(key, message.seq, messageKinds.remove, nothing);
  else active.append(key, message.seq, messageKinds.put, value);
}

const nothing = new Uint8Array(0);

interface SlowRecord {
  readonly logged: Logged;
  readonly slices: Promise<void>;
}

function settle(logged: Logged): void {
  logged.isApplied = true;
  logged.applied?.();
}

function appliedLater(logged: Logged): Promise<void> {
  return new Promise((resolve) => {
    logged.applied = resolve;
  });
}

/** The order of commits. */
export class Commits {
  readonly #state: EngineState;
  readonly #queue: Logged[] = [];
  #safeSeq: number = 0;
  #draining: boolean = false;

  constructor(state: EngineState) {
    this.#state = state;
  }

  /**
   * Logs a record; resolves when it is applied and visible. Whether it survived is unknown when this rejects with `poisoned`. What of it is in memory
   * must stay as it is until then.
   */
  async commit(body: Uint8Array, inMemory?: CommitInMemory): Promise<Seq> {
    const state = this.#state;
    state.checkUsable();
    let logged: Logged;
    try {
      const appended = state.log.append(body);
      logged = { seq: appended.seq, body, inMemory, isApplied: false, applied: undefined };
      this.#queue.push(logged);
      await appended.safe;
    } catch (cause) {
      throw state.poison(cause);
    }
    this.#safeSeq = Math.max(this.#safeSeq, logged.seq);
    if (!this.#draining) {
      const draining = this.#drain();
      if (draining !== undefined) await draining;
    }
    if (!logged.isApplied) await appliedLater(logged);
    return logged.seq;
  }

  /** Applies what is safe, in order. */
  #drain(): Promise<void> | undefined {
    this.#draining = true;
    const slow = this.#applySafe();
    if (slow !== undefined) return this.#drainOn(slow);
    this.#draining = false;
    return undefined;
  }

  async #drainOn(first: SlowRecord): Promise<void> {
    for (let slow: SlowRecord | undefined = first; slow !== undefined; slow = this.#applySafe()) {
      await slow.slices;
      settle(slow.logged);
    }
    this.#draining = false;
  }

  /** Applies safe records up to one that takes slices; undefined when there are no more. */
  #applySafe(): SlowRecord | undefined {
    while ((this.#queue[0]?.seq ?? Infinity) <= this.#safeSeq) {
      const logged = must(this.#queue.shift(), 'a logged commit');
      const slices = this.#applyLogged(logged);
      if (slices !== undefined) return { logged, slices };
      settle(logged);
    }
    return undefined;
  }

  /** Applies one record and makes it visible. */
  apply(seq: Seq, body: Uint8Array): Promise<void> | undefined {
    const applier = new Applier(this.#state, seq);
    const reader = new RecordReader(body);
    if (reader.read(applier, sliceParts)) {
      this.#finish(applier, seq);
      return undefined;
    }
    this.#state.applying = true;
    return this.#applyRest(applier, reader, seq);
  }

  /** Applies what was logged: a record most of which is in memory all at once, for its messages are few. */
  #applyLogged({ seq, body, inMemory }: Logged): Promise<void> | undefined {
    if (inMemory === undefined) return this.apply(seq, body);
    const { fronts, start, end } = inMemory;
    const applier = new Applier(this.#state, seq);
    if (start > 0) new RecordReader(body, { end: start }).read(applier, Infinity);
    for (const [dictionary, front] of fronts) applier.front(dictionary, front);
    new RecordReader(body, { start: end }).read(applier, Infinity);
    this.#finish(applier, seq);
    this.#state.recordWriter.giveBack(body);
    return undefined;
  }

  async #applyRest(applier: Applier, reader: RecordReader, seq: Seq): Promise<void> {
    do await this.#state.env.tasks.pause();
    while (!reader.read(applier, sliceParts));
    this.#finish(applier, seq);
  }

  #finish(applier: Applier, seq: Seq): void {
    const state = this.#state;
    state.endApply();
    state.reveal(seq);
    state.counters.commits += 1;
    for (const tree of applier.touched) {
      if (tree.pendingDeltas > 64) tree.foldTotals(state.snapshots.oldest(seq));
      state.chargeFronts(tree);
      if (tree.active.messageBytes >= state.options.frontBytes || hidesMuch(tree, state.options.frontBytes) || freesMuch(tree, Math.min(rangeFreesBytes, state.options.frontBytes))) state.freeze(tree);
    }
    if (state.frontsFull) state.freezeLargest();
    if (state.hasLog && state.log.bytesInUse > state.options.logBytes) state.freezePinning(state.log.oldestFullSeq ?? 0);
    if (state.dropped.size > 0) state.onWork();
  }
}

/** Large values that a front refers to, beside those of its tree: what it replaces of them comes free when it is flushed. */
const blobBytesMin = 16 * 1024 * 1024;
const blobBytesPerByte = 64;
const blobPart = 1 / 4;

function hidesMuch({ active, blobBytes }: Tree, frontBytes: number): boolean {
  return active.blobBytes > 0 && active.blobBytes >= Math.max(Math.min(blobBytesMin, frontBytes * blobBytesPerByte), blobBytes * blobPart);
}

/** Space that a range delete may free at once, or ranges that reads must ask: from then on the front is flushed. */
const rangeFreesBytes = 64 * 1024;
const frontRangesMax = 8;

/** Whether the front holds range deletes that shall not wait until it is full. */
function freesMuch(tree: Tree, bytes: number): boolean {
  const { length } = tree.active.ranges;
  return length > 0 && (length >= frontRangesMax || tree.rawBytes + tree.blobBytes >= bytes);
}

/** Largest record that a transaction may log. */
export function checkRecordSize(state: EngineState, bytes: number): void {
  const bytesMax = transactionBytesMax(state.options.cacheBytes);
  if (bytes > bytesMax) throw new EngineError('too-large', `a transaction of ${bytes} bytes is beyond the limit of ${bytesMax}`);
}
