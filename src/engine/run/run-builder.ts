// Collects messages in order and makes a run of them, in memory of its own that grows and is used again. Callers append in (key ascending,
// seq descending) order; that is asserted where it is cheap. See run.ts for the invariant and run-format.ts for the bytes.

import { assert } from '../../base/assert.ts';
import { compareRange, copyBetween, viewOf } from '../../base/bytes.ts';
import type { Message, MessageSlice } from './message.ts';
import { RunMemory, runOf } from './run.ts';
import type { MemorySource, Run, RunColumns } from './run.ts';

/** What takes messages one after the other: builders of runs and of extents. */
export interface MessageSink {
  /** Takes message `index` of `source`, with `seq` in place of its own. */
  append(source: Run, index: number, seq: number): void;
}

/** A run that grows at its end. */
export class RunBuilder implements RunColumns, MessageSink {
  keys: Uint8Array;
  keyOffsets: Uint32Array;
  values: Uint8Array;
  valueOffsets: Uint32Array;
  kinds: Uint8Array;
  #seqs: Float64Array;
  #keysView: DataView;
  #valuesView: DataView;
  #count = 0;
  #anySeq = false;
  #capacity: number;

  /** Starts with room for that many messages and bytes; more comes by itself. */
  constructor(messages = 64, bytes = 4096) {
    this.#capacity = messages;
    this.keys = new Uint8Array(bytes);
    this.keyOffsets = new Uint32Array(messages + 1);
    this.values = new Uint8Array(bytes);
    this.valueOffsets = new Uint32Array(messages + 1);
    this.kinds = new Uint8Array(messages);
    this.#seqs = new Float64Array(messages);
    this.#keysView = viewOf(this.keys);
    this.#valuesView = viewOf(this.values);
  }

  get count(): number {
    return this.#count;
  }

  /** Absent when all are zero, as in a run. */
  get seqs(): Float64Array | undefined {
    return this.#anySeq ? this.#seqs : undefined;
  }

  get keyBytes(): number {
    return this.keyOffsets[this.#count] as number;
  }

  get valueBytes(): number {
    return this.valueOffsets[this.#count] as number;
  }

  /** Bytes of keys and values so far. */
  get rawBytes(): number {
    return this.keyBytes + this.valueBytes;
  }

  /** Memory that it keeps. */
  get capacityBytes(): number {
    return this.keys.length + this.values.length + 17 * this.#capacity;
  }

  append(source: Run, index: number, seq: number): void {
    const keyStart = source.keyOffsets[index] as number;
    const keyEnd = source.keyOffsets[index + 1] as number;
    const valueStart = source.valueOffsets[index] as number;
    const valueEnd = source.valueOffsets[index + 1] as number;
    const keyAt = this.#room(keyEnd - keyStart, valueEnd - valueStart);
    copyBetween(source.keysView, keyStart, this.#keysView, keyAt, keyEnd - keyStart);
    copyBetween(source.valuesView, valueStart, this.#valuesView, this.valueOffsets[this.#count] as number, valueEnd - valueStart);
    this.#close(source.kinds[index] as number, seq);
  }

  /** Takes a message out of an arena; `slice` may be filled anew afterwards. */
  appendSlice(slice: MessageSlice): void {
    const keyAt = this.#room(slice.keyEnd - slice.keyStart, slice.valueEnd - slice.valueStart);
    copyBetween(slice.view, slice.keyStart, this.#keysView, keyAt, slice.keyEnd - slice.keyStart);
    copyBetween(slice.view, slice.valueStart, this.#valuesView, this.valueOffsets[this.#count] as number, slice.valueEnd - slice.valueStart);
    this.#close(slice.kind, slice.seq);
  }

  appendMessage(message: Message): void {
    const { key, value } = message;
    const keyAt = this.#room(key.length, value.length);
    this.keys.set(key, keyAt);
    this.values.set(value, this.valueOffsets[this.#count]);
    this.#close(message.kind, message.seq);
  }

  /** Whether the last message has the key of `source`'s message `index`. */
  endsWithKey(source: Run, index: number): boolean {
    return this.#lastKeyIs(source.keys, source.keyOffsets[index] as number, source.keyOffsets[index + 1] as number);
  }

  /** Whether the last message has the key of the slice. */
  endsWithSlice(slice: MessageSlice): boolean {
    return this.#lastKeyIs(slice.bytes, slice.keyStart, slice.keyEnd);
  }

  /** The run of all messages so far, in memory of its own, or that of `source`; the builder is empty afterwards. */
  finish(source?: MemorySource): Run {
    const count = this.#count;
    const memory = new RunMemory({ count, keyBytes: this.keyBytes, valueBytes: this.valueBytes, withSeqs: this.#anySeq }, source);
    memory.keyOffsets.set(this.keyOffsets.subarray(0, count + 1));
    memory.valueOffsets.set(this.valueOffsets.subarray(0, count + 1));
    memory.kinds.set(this.kinds.subarray(0, count));
    memory.keys.set(this.keys.subarray(0, this.keyBytes));
    memory.values.set(this.values.subarray(0, this.valueBytes));
    memory.seqs?.set(this.#seqs.subarray(0, count));
    this.clear();
    return runOf(memory);
  }

  /** Forgets all messages and keeps the memory. */
  clear(): void {
    this.#count = 0;
    this.#anySeq = false;
  }

  #lastKeyIs(bytes: Uint8Array, start: number, end: number): boolean {
    const count = this.#count;
    if (count === 0) return false;
    const lastStart = this.keyOffsets[count - 1] as number;
    return compareRange(this.keys, lastStart, this.keyOffsets[count] as number, bytes, start, end) === 0;
  }

  /** Makes room for one more message, sets its offsets, and returns where its key goes. */
  #room(keyLength: number, valueLength: number): number {
    const count = this.#count;
    if (count === this.#capacity) this.#growColumns();
    const keyAt = this.keyOffsets[count] as number;
    const keyEnd = keyAt + keyLength;
    const valueEnd = (this.valueOffsets[count] as number) + valueLength;
    if (keyEnd > this.keys.length) {
      this.keys = grown(this.keys, keyEnd);
      this.#keysView = viewOf(this.keys);
    }
    if (valueEnd > this.values.length) {
      this.values = grown(this.values, valueEnd);
      this.#valuesView = viewOf(this.values);
    }
    this.keyOffsets[count + 1] = keyEnd;
    this.valueOffsets[count + 1] = valueEnd;
    return keyAt;
  }

  #close(kind: number, seq: number): void {
    const count = this.#count;
    this.kinds[count] = kind;
    this.#seqs[count] = seq;
    if (seq !== 0) this.#anySeq = true;
    this.#count = count + 1;
  }

  #growColumns(): void {
    const capacity = this.#capacity * 2;
    const keyOffsets = new Uint32Array(capacity + 1);
    keyOffsets.set(this.keyOffsets);
    const valueOffsets = new Uint32Array(capacity + 1);
    valueOffsets.set(this.valueOffsets);
    const seqs = new Float64Array(capacity);
    seqs.set(this.#seqs);
    const kinds = new Uint8Array(capacity);
    kinds.set(this.kinds);
    this.keyOffsets = keyOffsets;
    this.valueOffsets = valueOffsets;
    this.#seqs = seqs;
    this.kinds = kinds;
    this.#capacity = capacity;
  }
}

function grown(bytes: Uint8Array, needed: number): Uint8Array {
  assert(needed < 2 ** 32, 'a run stays below 4 GiB');
  const larger = new Uint8Array(Math.max(needed, bytes.length * 2));
  larger.set(bytes);
  return larger;
}
