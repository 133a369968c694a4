// A growing byte string that BSON and keys are written into. Memory is zeroed when it is allocated, and only what was written leaves it.

import { grownLength } from '../base/bytes.ts';
import { encodeUtf8Into } from '../base/text.ts';
import { CommandError } from '../base/errors.ts';
import { writeDouble, writeInt32, writeInt64 } from './raw.ts';

interface SharedRange {
  readonly at: number;
  readonly bytes: Uint8Array;
}

/** Shorter ranges are copied: a piece of its own costs more. */
const sharedBytesMin = 32 * 1024;

/** Bytes to append to. `bytes` beyond `length` is spare room; a call that appends may replace `bytes`. */
export class ByteSink {
  bytes: Uint8Array;
  length = 0;
  /** Long ranges that were not copied, and behind how many of the sink's own bytes each belongs; undefined: all are copied. */
  #shared: SharedRange[] | undefined;
  #sharedBytes = 0;

  /** With `sharing` it leaves long ranges where they are: only `chunks` gives what was written then. */
  constructor(capacity = 256, sharing = false) {
    this.bytes = new Uint8Array(capacity);
    this.#shared = sharing ? [] : undefined;
  }

  /** Begins again in the same memory, behind so many bytes that are left free. */
  restart(free: number): void {
    this.length = free;
    this.#sharedBytes = 0;
    if (this.#shared !== undefined && this.#shared.length > 0) this.#shared = [];
  }

  /** Whether some of what was written lies elsewhere. */
  get isShared(): boolean {
    return this.#shared !== undefined && this.#shared.length > 0;
  }

  /** How long what was written is: an object's length is counted in it. */
  get total(): number {
    return this.length + this.#sharedBytes;
  }

  /** Makes room for `count` more bytes. */
  reserve(count: number): void {
    const needed = this.length + count;
    if (needed <= this.bytes.length) return;
    const grown = new Uint8Array(grownLength(this.bytes.length, needed));
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
  }

  byte(value: number): void {
    if (this.length === this.bytes.length) this.reserve(1);
    this.bytes[this.length++] = value;
  }

  int32(value: number): void {
    this.reserve(4);
    writeInt32(this.bytes, this.length, value);
    this.length += 4;
  }

  int64(value: bigint): void {
    this.reserve(8);
    writeInt64(this.bytes, this.length, value);
    this.length += 8;
  }

  double(value: number): void {
    this.reserve(8);
    writeDouble(this.bytes, this.length, value);
    this.length += 8;
  }

  range(source: Uint8Array, start: number, end: number): void {
    if (this.#shared !== undefined && end - start >= sharedBytesMin) {
      this.#shared.push({ at: this.length, bytes: source.subarray(start, end) });
      this.#sharedBytes += end - start;
      return;
    }
    this.reserve(end - start);
    const target = this.bytes;
    let at = this.length;
    if (end - start > 48) target.set(source.subarray(start, end), at);
    else for (let i = start; i < end; i++) target[at++] = source[i] as number;
    this.length += end - start;
  }

  /** The text in UTF-8, without length or end. */
  utf8(text: string): void {
    this.reserve(text.length * 3);
    this.length = encodeUtf8Into(text, this.bytes, this.length);
  }

  /** The text in UTF-8 and a zero. BSON cannot hold a zero inside: that is refused as BadValue. */
  cstring(text: string): void {
    const length = text.length;
    this.reserve(length * 3 + 1);
    const target = this.bytes;
    const at = this.length;
    for (let i = 0; i < length; i++) {
      const unit = text.charCodeAt(i);
      if (unit === 0 || unit >= 0x80) {
        this.#rareCstring(text);
        return;
      }
      target[at + i] = unit;
    }
    target[at + length] = 0;
    this.length = at + length + 1;
  }

  #rareCstring(text: string): void {
    if (text.includes('\0')) throw new CommandError(2, 'BadValue', 'a field name or regular expression cannot contain a null byte');
    this.utf8(text);
    this.byte(0);
  }

  /** A BSON string: length, text, zero. */
  string(text: string): void {
    this.reserve(text.length * 3 + 5);
    const at = this.length;
    const end = encodeUtf8Into(text, this.bytes, at + 4);
    writeInt32(this.bytes, at, end - at - 3);
    this.bytes[end] = 0;
    this.length = end + 1;
  }

  /** What was written, in the sink's own memory: whoever takes it is the last to use the sink. */
  giveBytes(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }

  /** What was written, in pieces of the sink's own memory and of others'. */
  chunks(): Uint8Array[] {
    const chunks: Uint8Array[] = [];
    let from = 0;
    for (const { at, bytes } of this.#shared ?? []) {
      if (at > from) chunks.push(this.bytes.subarray(from, at));
      chunks.push(bytes);
      from = at;
    }
    if (this.length > from) chunks.push(this.bytes.subarray(from, this.length));
    return chunks;
  }

  /** A copy of what was written. */
  toBytes(): Uint8Array {
    return this.bytes.slice(0, this.length);
  }
}
