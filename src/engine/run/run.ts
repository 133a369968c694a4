// A run: an immutable array of messages sorted by (key ascending, seq descending), the one form that messages have in memory once they have
// left the front, whether they wait in a buffer or rest in a leaf's basement. One memory block holds slabs and offset arrays, so a run costs
// the collector one object and the budget one number. Invariant: no two messages have the same key and seq.

import { assert } from '../../base/assert.ts';
import { messageKinds } from './message.ts';
import type { MessageKind } from './message.ts';
import { SortedKeys } from './sorted-keys.ts';

/** What a run is made of, and what a builder holds: arrays of which the first `count` (or `count` + 1) elements count. */
export interface RunColumns {
  readonly count: number;
  readonly keys: Uint8Array;
  readonly keyOffsets: Uint32Array;
  readonly values: Uint8Array;
  readonly valueOffsets: Uint32Array;
  readonly kinds: Uint8Array;
  /** Absent: all zero. */
  readonly seqs: Float64Array | undefined;
}

/** The objects beside the memory block, roughly. */
const objectBytes = 800;

/** Memory of at least so many bytes, as it comes. */
export type MemorySource = (bytes: number) => ArrayBuffer;

/** Memory of its own for each. */
export const freshMemory: MemorySource = (bytes) => new ArrayBuffer(bytes);

/** Two blocks of memory that are given in turn, for runs of which only the last two are looked at. They grow, and stay for the next ones. */
export class AlternatingMemory {
  #next: ArrayBuffer = new ArrayBuffer(0);
  #last: ArrayBuffer = new ArrayBuffer(0);

  readonly take: MemorySource = (bytes) => {
    [this.#next, this.#last] = [this.#last, this.#next];
    if (this.#last.byteLength < bytes) this.#last = new ArrayBuffer(bytes + (bytes >>> 2));
    return this.#last;
  };

  /** Nobody looks at the run that was made last: its memory is the next one's. */
  giveBack(): void {
    [this.#next, this.#last] = [this.#last, this.#next];
  }
}

/** What decides how much memory a run takes. */
export interface RunShape {
  readonly count: number;
  readonly keyBytes: number;
  readonly valueBytes: number;
  readonly withSeqs: boolean;
}

/** Uninitialised columns of exact sizes in one memory block; whoever asked fills them and makes a Run of them. */
export class RunMemory implements RunColumns {
  readonly count: number;
  readonly keys: Uint8Array;
  readonly keyOffsets: Uint32Array;
  readonly values: Uint8Array;
  readonly valueOffsets: Uint32Array;
  readonly kinds: Uint8Array;
  readonly seqs: Float64Array | undefined;
  /** Whoever fills the columns says whether all kinds are put, if that is known. */
  isAllPuts: boolean = false;
  readonly heads: Uint32Array;
  readonly keysView: DataView;
  readonly valuesView: DataView;
  readonly byteSize: number;

  constructor({ count, keyBytes, valueBytes, withSeqs }: RunShape, source: MemorySource = freshMemory) {
    const offsetsAt = withSeqs ? 8 * count : 0;
    const valueOffsetsAt = offsetsAt + 4 * (count + 1);
    const headsAt = valueOffsetsAt + 4 * (count + 1);
    const kindsAt = headsAt + 4 * count;
    const keysAt = kindsAt + count;
    const valuesAt = keysAt + keyBytes;
    const memory = source(valuesAt + valueBytes);
    this.count = count;
    this.seqs = withSeqs ? new Float64Array(memory, 0, count) : undefined;
    this.keyOffsets = new Uint32Array(memory, offsetsAt, count + 1);
    this.valueOffsets = new Uint32Array(memory, valueOffsetsAt, count + 1);
    this.heads = new Uint32Array(memory, headsAt, count);
    this.kinds = new Uint8Array(memory, kindsAt, count);
    this.keys = new Uint8Array(memory, keysAt, keyBytes);
    this.values = new Uint8Array(memory, valuesAt, valueBytes);
    this.keysView = new DataView(memory, keysAt, keyBytes);
    this.valuesView = new DataView(memory, valuesAt, valueBytes);
    this.byteSize = memory.byteLength + objectBytes;
  }
}

/** Sorted messages that never change. Views that it gives share its memory; nobody writes to them. */
export class Run implements RunColumns {
  readonly count: number;
  /** Memory to charge to the budget. */
  readonly byteSize: number;
  /** Key i is keys[keyOffsets[i], keyOffsets[i + 1]). */
  readonly keys: Uint8Array;
  readonly keyOffsets: Uint32Array;
  /** Value i is values[valueOffsets[i], valueOffsets[i + 1]); a remove's is empty. */
  readonly values: Uint8Array;
  readonly valueOffsets: Uint32Array;
  readonly kinds: Uint8Array;
  readonly seqs: Float64Array | undefined;
  /** Whether it is known that every message is a put with its value. */
  readonly isAllPuts: boolean;
  /** For copying messages: of all of `keys` and `values`. */
  readonly keysView: DataView;
  readonly valuesView: DataView;
  readonly sorted: SortedKeys;

  constructor(memory: RunMemory) {
    this.count = memory.count;
    this.byteSize = memory.byteSize;
    this.keys = memory.keys;
    this.keyOffsets = memory.keyOffsets;
    this.values = memory.values;
    this.valueOffsets = memory.valueOffsets;
    this.kinds = memory.kinds;
    this.seqs = memory.seqs;
    this.isAllPuts = memory.isAllPuts;
    this.keysView = memory.keysView;
    this.valuesView = memory.valuesView;
    this.sorted = new SortedKeys(memory.keys, memory.keyOffsets, memory.count, memory.heads);
  }

  seq(index: number): number {
    return this.seqs === undefined ? 0 : (this.seqs[index] as number);
  }

  kind(index: number): MessageKind {
    const kind = this.kinds[index];
    return kind === messageKinds.reference || kind === messageKinds.update || kind === messageKinds.remove ? kind : messageKinds.put;
  }

  key(index: number): Uint8Array {
    return this.keys.subarray(this.keyOffsets[index], this.keyOffsets[index + 1]);
  }

  value(index: number): Uint8Array {
    return this.values.subarray(this.valueOffsets[index], this.valueOffsets[index + 1]);
  }

  /** Six bytes of key `index` behind the first `skip`, as a number in the order of bytes; what is behind the key counts as zero. */
  head(index: number, skip: number): number {
    const bytes = this.keys;
    const at = (this.keyOffsets[index] as number) + skip;
    const end = this.keyOffsets[index + 1] as number;
    if (at + 6 <= end) return this.keysView.getUint16(at) * 0x100000000 + this.keysView.getUint32(at + 2);
    let head = 0;
    for (let i = 0; i < 6; i++) head = head * 256 + (at + i < end ? (bytes[at + i] as number) : 0);
    return head;
  }

  /** Bytes of keys and values of the messages [from, to). */
  sizeBetween(from: number, to: number): number {
    const { keyOffsets, valueOffsets } = this;
    return (keyOffsets[to] as number) - (keyOffsets[from] as number) + (valueOffsets[to] as number) - (valueOffsets[from] as number);
  }

  /** Bytes of key and value of message i. */
  size(index: number): number {
    return (
      (this.keyOffsets[index + 1] as number) -
      (this.keyOffsets[index] as number) +
      (this.valueOffsets[index + 1] as number) -
      (this.valueOffsets[index] as number)
    );
  }

  /** The first index in [start, end) whose key is `key` or greater; `end` when there is none. */
  lowerBound(key: Uint8Array, start = 0, end: number = this.count): number {
    return this.sorted.lowerBound(key, start, end);
  }

  /** The first index in [start, end) whose key is greater than `key`; `end` when there is none. */
  upperBound(key: Uint8Array, start = 0, end: number = this.count): number {
    return this.sorted.upperBound(key, start, end);
  }

  /** The newest version of `key` in [start, end) with a seq of at most `seq`, or -1. */
  find(key: Uint8Array, start: number, end: number, seq: number): number {
    const first = this.sorted.lowerBound(key, start, end);
    if (first >= end || !this.sorted.equals(first, key)) return -1;
    const seqs = this.seqs;
    if (seqs === undefined || (seqs[first] as number) <= seq) return first;
    return this.#olderVersion(key, first, end, seq);
  }

  /** The first version of `key` after `newer`, which is too new, whose seq is at most `seq`, or -1. Doubling steps: chains can be long. */
  #olderVersion(key: Uint8Array, newer: number, end: number, seq: number): number {
    const tooNew = (index: number): boolean => this.seq(index) > seq && this.sorted.equals(index, key);
    let low = newer;
    let step = 1;
    while (low + step < end && tooNew(low + step)) {
      low += step;
      step *= 2;
    }
    let high = Math.min(low + step, end);
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (tooNew(middle)) low = middle;
      else high = middle;
    }
    return high < end && this.sorted.equals(high, key) ? high : -1;
  }

  /** The first index that is not behind its predecessor in (key ascending, seq descending), or -1: what `verify` asks of decoded runs. */
  firstUnsorted(): number {
    for (let i = 1; i < this.count; i++) {
      const order = this.sorted.compareWithin(i - 1, i);
      if (order > 0 || (order === 0 && this.seq(i - 1) <= this.seq(i))) return i;
    }
    return -1;
  }
}

/** Makes a run of filled memory. */
export function runOf(memory: RunMemory): Run {
  assert(memory.keyOffsets[memory.count] === memory.keys.length, 'offsets end where the key slab ends');
  assert(memory.valueOffsets[memory.count] === memory.values.length, 'offsets end where the value slab ends');
  return new Run(memory);
}

/** The same messages, all with this seq. */
export function withSeq(run: Run, seq: number): Run {
  const memory = new RunMemory({ count: run.count, keyBytes: run.keys.length, valueBytes: run.values.length, withSeqs: true });
  memory.keys.set(run.keys);
  memory.keyOffsets.set(run.keyOffsets);
  memory.values.set(run.values);
  memory.valueOffsets.set(run.valueOffsets);
  memory.kinds.set(run.kinds);
  memory.seqs?.fill(seq);
  return runOf(memory);
}
