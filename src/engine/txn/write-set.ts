// What one transaction has changed and not committed: for each dictionary a front whose seqs are numbers of operations, so that a scan can
// see the writes as they were when it began, and a mark can take back what came after it (law 6).

import { EngineError } from '../../base/errors.ts';
import { messageKinds } from '../run/message.ts';
import type { BytesPart, DictionaryId, DictionaryOptions, KeyRange, LiveTransaction, Totals } from '../types.ts';
import { coveringSeq } from '../run/range-delete.ts';
import type { Front } from '../tree/front.ts';
import type { FrontPool } from './front-pool.ts';
import type { StatedCounts } from './stated-counts.ts';

/** Bytes put beside each removal that still count as giving space back: marks that a client was served, for instance. */
const putBytesPerRemoval = 1024;

/** A dictionary that comes or goes with the commit. */
export interface DictionaryChange {
  readonly operation: number;
  readonly id: DictionaryId;
  readonly kind: 'create' | 'change' | 'drop';
  readonly options: DictionaryOptions | undefined;
}

/** The changes of a transaction in the order they were made. */
export class WriteSet {
  readonly fronts: Map<DictionaryId, Front> = new Map();
  readonly #pool: FrontPool;
  /** The front that was written to last, for writes to one dictionary follow one another. */
  #last: Front | undefined;
  #lastId: DictionaryId | undefined;
  #freshBytes: number = 0;
  /** Taken with the first. */
  #counts: StatedCounts | undefined;
  changes: DictionaryChange[] = [];
  #operation: number = 0;
  /** Its commit is in the log and not applied: nothing may change any more. */
  #isSealed: boolean = false;

  constructor(pool: FrontPool) {
    this.#pool = pool;
  }

  /** Number of the last operation. */
  get operation(): number {
    return this.#operation;
  }

  get isEmpty(): boolean {
    if (this.#counts?.isEmpty === false || this.changes.length > 0) return false;
    for (const front of this.fronts.values()) if (front.count > 0 || front.ranges.length > 0) return false;
    return true;
  }

  /** Memory held. */
  get byteSize(): number {
    let bytes = (this.#counts?.byteSize ?? 0) + this.changes.length * 64;
    for (const front of this.fronts.values()) bytes += front.byteSize;
    return bytes;
  }

  /** Bytes of keys and values in memory. */
  get messageBytes(): number {
    let bytes = 0;
    for (const front of this.fronts.values()) bytes += front.messageBytes;
    return bytes;
  }

  /** Appends a message; returns by how many bytes the set has grown. */
  write(id: DictionaryId, key: Uint8Array, kind: number, value: Uint8Array): number {
    const grown = this.#front(id).append(key, this.#next(), kind, value);
    return grown + this.#takeFresh();
  }

  /** Appends a put whose key is a part of an array; the same is returned. */
  putPart(id: DictionaryId, key: BytesPart, value: Uint8Array): number {
    const grown = this.#front(id).appendPart(key, this.#next(), messageKinds.put, value);
    return grown + this.#takeFresh();
  }

  /** Adds a range delete, which hides what was written before it too. */
  writeRange(id: DictionaryId, { from, to }: KeyRange): number {
    const front = this.#front(id);
    const before = front.byteSize;
    front.appendRange({ from: from?.slice(), to: to?.slice(), seq: this.#next() });
    return front.byteSize - before + this.#takeFresh();
  }

  /** Memory of fronts that are new to the set and was not told of yet. */
  #takeFresh(): number {
    const bytes = this.#freshBytes;
    this.#freshBytes = 0;
    return bytes;
  }

  /** Another front for what is written to a dictionary from now on. */
  replaceFront(id: DictionaryId, front: Front): void {
    this.fronts.set(id, front);
    this.#last = undefined;
  }

  #front(id: DictionaryId): Front {
    if (id === this.#lastId && this.#last !== undefined) return this.#last;
    let front = this.fronts.get(id);
    if (front === undefined) {
      front = this.#pool.take();
      this.fronts.set(id, front);
      this.#freshBytes += front.byteSize;
    }
    this.#lastId = id;
    this.#last = front;
    return front;
  }

  /** Keys that were written and are in memory, at most so many. */
  firstKeys(most: number): LiveTransaction['written'] {
    const keys: { dictionary: DictionaryId; key: Uint8Array }[] = [];
    for (const [dictionary, front] of this.fronts) {
      for (let entry = 0; entry < front.count && keys.length < most; entry++) keys.push({ dictionary, key: front.key(entry).slice() });
    }
    return keys;
  }

  /** Whether an entry is what the commit says of its key: no later one has it, and no later range delete covers it (law 12). */
  static isLast(front: Front, entry: number): boolean {
    if (!front.isNewest(entry)) return false;
    return front.ranges.length === 0 || coveringSeq(front.ranges, front.key(entry), Infinity) < front.seq(entry);
  }

  count(id: DictionaryId, rows: number, bytes: number): void {
    this.#counts ??= this.#pool.takeCounts();
    this.#counts.add(this.#next(), id, rows, bytes);
  }

  change(id: DictionaryId, kind: DictionaryChange['kind'], options: DictionaryOptions | undefined): void {
    this.changes.push({ operation: this.#next(), id, kind, options });
  }

  /** Whether the commit leaves less behind than it takes: removals, with little put beside them, or a dropped dictionary. */
  get givesBack(): boolean {
    let [removed, put] = [0, 0];
    for (const front of this.fronts.values()) {
      removed += front.ranges.length;
      for (let entry = 0; entry < front.count; entry++) {
        if (front.kind(entry) === messageKinds.remove) removed += 1;
        else put += front.key(entry).length + front.value(entry).length;
      }
    }
    return put <= removed * putBytesPerRemoval || (put <= putBytesPerRemoval && this.changes.some((change) => change.kind === 'drop'));
  }

  /** Nothing may change from now on, for its commit is applied from it. */
  seal(): void {
    this.#isSealed = true;
  }

  /** Its commit is applied. */
  unseal(): void {
    this.#isSealed = false;
  }

  #next(): number {
    if (this.#isSealed) throw new EngineError('closed', 'the transaction is being committed');
    return ++this.#operation;
  }

  /** Ends the set; its memory goes back to the pool, unless a commit has yet to be applied from it. */
  release(): void {
    if (this.#operation === 0) return;
    if (!this.#isSealed) for (const front of this.fronts.values()) this.#pool.give(front);
    this.fronts.clear();
    this.#last = undefined;
    if (this.#counts !== undefined) this.#pool.giveCounts(this.#counts);
    this.#counts = undefined;
    this.changes = [];
  }

  /** Makes one count of many old ones. */
  foldCounts(): void {
    this.#counts?.fold();
  }

  /** Takes back what came after the operation of that number. `too-large`: a mark from before much that was spilled since. */
  rollbackTo(operation: number): void {
    if (this.#isSealed) throw new EngineError('closed', 'the transaction is being committed');
    this.#counts?.rollbackTo(operation);
    for (const front of this.fronts.values()) {
      if (front.ranges.length > 0) front.ranges = front.ranges.filter(({ seq }) => seq <= operation);
      let count = front.count;
      while (count > 0 && front.seq(count - 1) > operation) count -= 1;
      if (count < front.count) front.truncate(count);
    }
    this.changes = this.changes.filter((change) => change.operation <= operation);
  }

  /** Deltas by dictionary, summed. */
  totals(): Map<DictionaryId, Totals> {
    return this.#counts?.totals() ?? new Map<DictionaryId, Totals>();
  }

  /** The same, one after the other. */
  eachTotal(visit: (id: DictionaryId, rows: number, bytes: number) => void): void {
    this.#counts?.each(visit);
  }
}
