// Documents on their way to the server: one behind the other as BSON in memory that is used again, so that a batch is sent as it lies and no
// document is an object. Beside them the line of each, for telling of what the server refuses.

import { grownLength } from '../../base/bytes.ts';
import type { ImportFault } from './fault.ts';

/** When a batch is full: whichever comes first. */
export interface BatchLimits {
  readonly documents: number;
  readonly bytes: number;
}

/** A batch that is being filled or sent. `bytes` beyond `length` is spare room; a call that makes room may replace `bytes`. */
export class DocumentBatch {
  readonly #limits: BatchLimits;
  bytes: Uint8Array = new Uint8Array(64 * 1024);
  length: number = 0;
  /** Documents in it. */
  count: number = 0;
  readonly #lines: Uint32Array;
  /** Met since it was emptied. */
  readonly faults: ImportFault[] = [];

  constructor(limits: BatchLimits) {
    this.#limits = limits;
    this.#lines = new Uint32Array(limits.documents);
  }

  get isFull(): boolean {
    return this.count >= this.#limits.documents || this.length >= this.#limits.bytes;
  }

  /** Makes room for `count` bytes behind `length`. */
  reserve(count: number): void {
    const needed = this.length + count;
    if (needed <= this.bytes.length) return;
    const grown = new Uint8Array(grownLength(this.bytes.length, needed));
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
  }

  /** What lies between the last document and `length` is a document of this line. */
  end(line: number): void {
    this.#lines[this.count++] = line;
  }

  /** Adds a document that lies elsewhere. */
  add(document: Uint8Array, line: number): void {
    this.reserve(document.length);
    this.bytes.set(document, this.length);
    this.length += document.length;
    this.end(line);
  }

  /** The line of a document, by its place. */
  line(index: number): number {
    return this.#lines[index] ?? 0;
  }

  /** The documents' bytes, good until the batch is filled anew. */
  content(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }

  /** Forgets everything and keeps the memory. */
  empty(): void {
    this.length = 0;
    this.count = 0;
    this.faults.length = 0;
  }
}
