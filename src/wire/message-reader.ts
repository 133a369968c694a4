// Cuts a stream of chunks into whole messages. The length is read before anything is allocated, and memory is taken only for bytes that
// have arrived: what a peer promises costs nothing (reliability.md: "read length prefixes before bytes"). Of a large message the whole is allocated
// when a part of it is there, and chunks are copied as they come: they die young, instead of lying beside the whole.

import { HEADER_BYTES, MESSAGE_BYTES_MAX, protocolError } from './protocol.ts';

/** A message is allocated when this part of it has arrived. */
const promisedFactor = 8;
/** Shorter ones are put together at their end. */
const largeBytes = 256 * 1024;

/** Collects chunks until a message is whole. */
export class MessageReader {
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  /** Of the message that is being collected, when its length is known: 0 otherwise. */
  #length = 0;
  /** A large message as far as it has come, and how much that is; its bytes are no longer among the chunks. */
  #whole: Uint8Array | undefined;
  #filled = 0;
  readonly #copied: (chunk: Uint8Array) => void;

  /** `copied`: told of a chunk, or the rest of one, of which nothing is used any more. */
  constructor(copied: (chunk: Uint8Array) => void = () => undefined) {
    this.#copied = copied;
  }

  /** Bytes that are waiting for the rest of their message. */
  get pendingBytes(): number {
    return this.#bytes + this.#filled;
  }

  /** The length of the message that is not whole yet; 0 when that is not known. */
  get pendingLength(): number {
    return this.#length;
  }

  /** Adds what arrived. The chunk must not change afterwards. */
  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    const rest = this.#whole === undefined ? chunk : this.#fill(this.#whole, chunk);
    if (rest.length === 0) return;
    this.#chunks.push(rest);
    this.#bytes += rest.length;
  }

  /** The next whole message, header and all; undefined when more bytes are needed. A length that cannot be is a protocol error. */
  next(): Uint8Array | undefined {
    if (this.#length === 0 && !this.#readLength()) return undefined;
    const length = this.#length;
    if (this.#whole === undefined && this.#bytes < length) {
      if (length >= largeBytes && this.#bytes * promisedFactor >= length) this.#begin(length);
      return undefined;
    }
    if (this.#filled < length && this.#whole !== undefined) return undefined;
    const message = this.#whole ?? this.#take(length);
    this.#whole = undefined;
    this.#filled = 0;
    this.#length = 0;
    return message;
  }

  #readLength(): boolean {
    if (this.#bytes < 4) return false;
    const length = this.#peekLength();
    if (length < HEADER_BYTES || length > MESSAGE_BYTES_MAX) {
      throw protocolError(`message length ${String(length)} is outside of ${String(HEADER_BYTES)} to ${String(MESSAGE_BYTES_MAX)}`);
    }
    this.#length = length;
    return true;
  }

  /** Copies what belongs to the message; gives what lies behind it. */
  #fill(whole: Uint8Array, chunk: Uint8Array): Uint8Array {
    const wanted = Math.min(whole.length - this.#filled, chunk.length);
    whole.set(wanted === chunk.length ? chunk : chunk.subarray(0, wanted), this.#filled);
    this.#filled += wanted;
    const rest = chunk.subarray(wanted);
    if (rest.length === 0) this.#copied(chunk);
    return rest;
  }

  /** All chunks belong to a message that is not whole. */
  #begin(length: number): void {
    const whole = new Uint8Array(length);
    for (const chunk of this.#chunks) this.#fill(whole, chunk);
    this.#whole = whole;
    this.#chunks = [];
    this.#bytes = 0;
  }

  #peekLength(): number {
    let length = 0;
    let position = 0;
    for (const chunk of this.#chunks) {
      for (let i = 0; i < chunk.length && position < 4; i++) length |= (chunk[i] as number) << (8 * position++);
      if (position === 4) break;
    }
    return length;
  }

  #take(length: number): Uint8Array {
    this.#bytes -= length;
    const first = this.#chunks[0] as Uint8Array;
    if (first.length >= length) {
      if (first.length === length) this.#chunks.shift();
      else this.#chunks[0] = first.subarray(length);
      return first.subarray(0, length);
    }
    const whole = new Uint8Array(length);
    let filled = 0;
    let used = 0;
    while (filled < length) {
      const chunk = this.#chunks[used] as Uint8Array;
      const wanted = length - filled;
      if (chunk.length > wanted) {
        whole.set(chunk.subarray(0, wanted), filled);
        this.#chunks[used] = chunk.subarray(wanted);
        break;
      }
      whole.set(chunk, filled);
      filled += chunk.length;
      used += 1;
      this.#copied(chunk);
    }
    this.#chunks = this.#chunks.slice(used);
    return whole;
  }
}
