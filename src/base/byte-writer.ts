// Builds a binary format field by field in memory of its own that grows as needed and is used again after `reset`. Little endian
// throughout; ByteReader reads it back. What `bytes` returns is a view that the next write may move or change.

import { assert } from './assert.ts';
import { copyBetween, grownLength, viewOf } from './bytes.ts';
import { varintBytesMax, writeVarint } from './varint.ts';

const noView = new DataView(new ArrayBuffer(0));

/** Append-only bytes. */
export class ByteWriter {
  #bytes: Uint8Array;
  #view: DataView;
  #length = 0;
  /** What was copied from last. */
  #source: Uint8Array | undefined;
  #sourceView: DataView = noView;

  constructor(capacity = 256) {
    this.#bytes = new Uint8Array(capacity);
    this.#view = new DataView(this.#bytes.buffer);
  }

  /** Bytes written so far: the offset of the next field. */
  get length(): number {
    return this.#length;
  }

  u8(value: number): void {
    const at = this.extend(1);
    this.#view.setUint8(at, value);
  }

  u16(value: number): void {
    const at = this.extend(2);
    this.#view.setUint16(at, value, true);
  }

  u32(value: number): void {
    const at = this.extend(4);
    this.#view.setUint32(at, value, true);
  }

  i32(value: number): void {
    const at = this.extend(4);
    this.#view.setInt32(at, value, true);
  }

  /** A whole number from 0 to 2^53 - 1, in eight bytes. */
  u64(value: number): void {
    assert(Number.isSafeInteger(value) && value >= 0, 'a u64 field is a whole number from 0 to 2^53 - 1');
    const at = this.extend(8);
    this.#view.setUint32(at, value % 0x100000000, true);
    this.#view.setUint32(at + 4, Math.floor(value / 0x100000000), true);
  }

  f64(value: number): void {
    const at = this.extend(8);
    this.#view.setFloat64(at, value, true);
  }

  varint(value: number): void {
    this.#reserve(varintBytesMax);
    this.#length = writeVarint(this.#bytes, this.#length, value);
  }

  /** Appends a copy of source[start, end). */
  append(source: Uint8Array, start = 0, end: number = source.length): void {
    const at = this.extend(end - start);
    // A view costs more than copying a few bytes one by one.
    if (end - start <= 24) for (let i = start; i < end; i++) this.#bytes[at + i - start] = source[i] as number;
    else copyBetween(this.#viewOf(source), start, this.#view, at, end - start);
  }

  /** A view of the source; many ranges of one come one after the other. */
  #viewOf(source: Uint8Array): DataView {
    if (source !== this.#source) {
      this.#source = source;
      this.#sourceView = viewOf(source);
    }
    return this.#sourceView;
  }

  /** Appends a copy of source[start, end), which lies behind a view. */
  appendFrom(source: DataView, start: number, end: number): void {
    const at = this.extend(end - start);
    copyBetween(source, start, this.#view, at, end - start);
  }

  /** Appends `length` bytes of any content, for the caller to fill, and returns the offset where they begin. */
  extend(length: number): number {
    this.#reserve(length);
    const at = this.#length;
    this.#length = at + length;
    return at;
  }

  /** Appends zero bytes up to the next multiple of `unit`. */
  pad(unit: number): void {
    const over = this.#length % unit;
    if (over === 0) return;
    const at = this.extend(unit - over);
    this.#bytes.fill(0, at, this.#length);
  }

  /** Overwrites four bytes that were written before. */
  patchU32(at: number, value: number): void {
    assert(at >= 0 && at + 4 <= this.#length, 'a patch lies within what was written');
    this.#view.setUint32(at, value, true);
  }

  /** Forgets what was written and keeps the memory. */
  reset(): void {
    this.#length = 0;
    this.#source = undefined;
    this.#sourceView = noView;
  }

  /** What was written, sharing memory: good until the next call that writes. */
  bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** A copy of what was written. */
  copy(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  #reserve(length: number): void {
    const needed = this.#length + length;
    if (needed <= this.#bytes.length) return;
    const grown = new Uint8Array(grownLength(this.#bytes.length, needed));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
  }
}
