// Cuts a stream of chunks into whole messages. The length is read before anything is allocated, and memory is taken only for bytes that
// have arrived: what a peer promises costs nothing (reliability.md: "read length prefixes before bytes").

import { HEADER_BYTES, MESSAGE_BYTES_MAX, protocolError } from './protocol.ts';

/** Collects chunks until a message is whole. */
export class MessageReader {
  #chunks: Uint8Array[] = [];
  #bytes = 0;

  /** Bytes that are waiting for the rest of their message. */
  get pendingBytes(): number {
    return this.#bytes;
  }

  /** Adds what arrived. The chunk must not change afterwards. */
  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
  }

  /** The next whole message, header and all; undefined when more bytes are needed. A length that cannot be is a protocol error. */
  next(): Uint8Array | undefined {
    if (this.#bytes < 4) return undefined;
    const length = this.#peekLength();
    if (length < HEADER_BYTES || length > MESSAGE_BYTES_MAX) {
      throw protocolError(`message length ${String(length)} is outside of ${String(HEADER_BYTES)} to ${String(MESSAGE_BYTES_MAX)}`);
    }
    if (this.#bytes < length) return undefined;
    return this.#take(length);
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
    }
    this.#chunks = this.#chunks.slice(used);
    return whole;
  }
}
