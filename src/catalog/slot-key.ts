// Values of a document to the key of an index entry, straight from where they lie, and back.

import { bsonType, ByteSink, decodeKey, encodeRawKeyPart, KeyBitsWriter } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';
import type { Direction } from '../engine/index.ts';

const sinkBytesMax = 65536;

/** Puts one key together; one at a time, for the whole layer. */
export class KeyMaker {
  #sink = new ByteSink(1024);
  readonly #bits = new KeyBitsWriter();

  begin(): void {
    if (this.#sink.bytes.length > sinkBytesMax) this.#sink = new ByteSink(1024);
    this.#sink.length = 0;
  }

  /** Appends the value of type byte `type` at `at`. */
  add(bytes: Uint8Array, type: number, at: number, direction: Direction): void {
    encodeRawKeyPart(this.#sink, bytes, type, at, direction);
    this.#bits.addRaw(bytes, type, at);
  }

  /** Appends the null that stands for a missing field. */
  addMissing(direction: Direction): void {
    encodeRawKeyPart(this.#sink, nothing, bsonType.null, 0, direction);
  }

  /** Appends bytes behind the fields. */
  append(bytes: Uint8Array): void {
    this.#sink.range(bytes, 0, bytes.length);
  }

  /** The key, and the type bits of its values. */
  finish(): { readonly key: Uint8Array; readonly typeBits: Uint8Array } {
    return { key: this.#sink.toBytes(), typeBits: this.#bits.finish() };
  }
}

const nothing = new Uint8Array(0);

export const keyMaker: KeyMaker = new KeyMaker();

/** The exact values of encoded fields. */
export function decodeFields(fields: Uint8Array, typeBits: Uint8Array, directions: readonly Direction[]): Value[] {
  return decodeKey(fields, directions, typeBits);
}
