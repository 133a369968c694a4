// Reads the fields of a binary format from bytes that may be damaged. Little endian throughout. No read passes `end`, and no number comes
// out that is not what the type can hold: whatever is wrong is an EngineError of the code and place given at the start, so that a format
// reader needs no checks of its own for lengths.

import { EngineError } from './errors.ts';
import type { EngineErrorCode, EngineErrorPlace } from './errors.ts';

/** What a reader throws: the code, and the place of the first byte (the error adds the position to its offset). */
export interface ReaderFault {
  readonly code: EngineErrorCode;
  readonly place: EngineErrorPlace;
}

const damage: ReaderFault = { code: 'corruption', place: {} };

/** A position in `bytes[start, end)` that moves as fields are read. */
export class ByteReader {
  readonly bytes: Uint8Array;
  readonly end: number;
  readonly #start: number;
  readonly #fault: ReaderFault;
  readonly #view: DataView;
  #position: number;

  constructor(bytes: Uint8Array, range: { start?: number; end?: number } = {}, fault: ReaderFault = damage) {
    this.bytes = bytes;
    this.#start = range.start ?? 0;
    this.end = range.end ?? bytes.length;
    this.#fault = fault;
    this.#position = this.#start;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (this.#start < 0 || this.#start > this.end || this.end > bytes.length) this.fail('range outside the bytes');
  }

  /** Offset in `bytes` of the next field. */
  get position(): number {
    return this.#position;
  }

  /** Bytes left. */
  get remaining(): number {
    return this.end - this.#position;
  }

  /** Moves over `length` bytes and returns the offset where they begin. */
  skip(length: number): number {
    const at = this.#position;
    if (!(length >= 0 && length <= this.end - at)) this.fail(`${String(length)} bytes asked for, ${String(this.end - at)} left`);
    this.#position = at + length;
    return at;
  }

  /** Moves to an offset between start and end. */
  seek(position: number): void {
    if (!(position >= this.#start && position <= this.end)) this.fail('position outside the bytes');
    this.#position = position;
  }

  u8(): number {
    return this.#view.getUint8(this.skip(1));
  }

  u16(): number {
    return this.#view.getUint16(this.skip(2), true);
  }

  u32(): number {
    return this.#view.getUint32(this.skip(4), true);
  }

  i32(): number {
    return this.#view.getInt32(this.skip(4), true);
  }

  /** Eight bytes that hold a whole number below 2^53; a larger one is damage. */
  u64(): number {
    const at = this.skip(8);
    const high = this.#view.getUint32(at + 4, true);
    if (high > 0x1fffff) this.fail('a number beyond 2^53');
    return high * 0x100000000 + this.#view.getUint32(at, true);
  }

  f64(): number {
    return this.#view.getFloat64(this.skip(8), true);
  }

  /** A varint below 2^53. */
  varint(): number {
    let value = 0;
    let scale = 1;
    for (let length = 1; ; length++) {
      const byte = this.#view.getUint8(this.skip(1));
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) break;
      if (length === 8) this.fail('a varint beyond 2^53');
      scale *= 0x80;
    }
    if (value > Number.MAX_SAFE_INTEGER) this.fail('a varint beyond 2^53');
    return value;
  }

  /** A view of the next `length` bytes; it shares memory with `bytes`. */
  view(length: number): Uint8Array {
    const at = this.skip(length);
    return this.bytes.subarray(at, at + length);
  }

  /** A copy of the next `length` bytes. */
  copy(length: number): Uint8Array {
    const at = this.skip(length);
    return this.bytes.slice(at, at + length);
  }

  /** Fails unless everything was read. */
  expectEnd(): void {
    if (this.#position !== this.end) this.fail(`${String(this.remaining)} bytes too many`);
  }

  /** Throws the reader's error with the position in its place: for what only the caller can see to be wrong. */
  fail(what: string): never {
    const { code, place } = this.#fault;
    const offset = (place.offset ?? 0) + this.#position - this.#start;
    throw new EngineError(code, what, { place: { ...place, offset } });
  }
}
