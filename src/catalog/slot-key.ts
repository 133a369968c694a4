// Values of a document to the key of an index entry, straight from where they lie, and back.

import { bsonType, ByteSink, collated, decodeKey, decodeValue, encodeKeyPart, encodeRawKeyPart, KeyBitsWriter } from '../bson/index.ts';
import type { TextOrder, Value } from '../bson/index.ts';
import type { BytesPart, Direction } from '../engine/index.ts';

const sinkBytesMax = 65536;

/** Puts one key together; one at a time, for the whole layer. */
export class KeyMaker implements BytesPart {
  #sink = new ByteSink(1024);
  readonly #bits = new KeyBitsWriter();
  /** Under a collation: the key without it, so that a reader has the texts. */
  readonly #plain = new ByteSink(256);
  #order: TextOrder | undefined;

  /** Begins a key, whose texts have this order. */
  begin(order: TextOrder | undefined): void {
    this.#order = order;
    this.#plain.length = 0;
    if (this.#sink.bytes.length > sinkBytesMax) this.#sink = new ByteSink(1024);
    this.#sink.length = 0;
  }

  /** Appends the value of type byte `type` at `at`. */
  add(bytes: Uint8Array, type: number, at: number, direction: Direction): void {
    if (this.#order === undefined) encodeRawKeyPart(this.#sink, bytes, type, at, direction);
    else this.#addCollated(decodeValue(bytes, type, at), direction);
    this.#bits.addRaw(bytes, type, at);
  }

  #addCollated(value: Value, direction: Direction): void {
    encodeKeyPart(this.#sink, collated(value, this.#order), direction);
    encodeKeyPart(this.#plain, value, direction);
  }

  /** Appends the null that stands for a missing field. */
  addMissing(direction: Direction): void {
    if (this.#order === undefined) encodeRawKeyPart(this.#sink, nothing, bsonType.null, 0, direction);
    else this.#addCollated(null, direction);
  }

  /** Appends bytes behind the fields. */
  append(bytes: Uint8Array): void {
    this.#sink.range(bytes, 0, bytes.length);
  }

  /** Where the key lies until the next is begun. */
  get bytes(): Uint8Array { return this.#sink.bytes; }
  readonly start = 0;
  get end(): number { return this.#sink.length; }

  /** The type bits of a key that stays where it lies. */
  finishBits(): Uint8Array {
    const typeBits = this.#bits.finish();
    return this.#order === undefined ? typeBits : withPlainKey(this.#plain.toBytes(), typeBits);
  }

  /** The key, and the type bits of its values. */
  finish(): { readonly key: Uint8Array; readonly typeBits: Uint8Array } {
    return { key: this.#sink.toBytes(), typeBits: this.finishBits() };
  }
}

const nothing = new Uint8Array(0);

export const keyMaker: KeyMaker = new KeyMaker();

/** What an index says of how its fields are encoded. */
export interface FieldEncoding {
  readonly directions: readonly Direction[];
  readonly collation: TextOrder | undefined;
}

/** The exact values of the fields of an entry. */
export function exactValues({ directions, collation }: FieldEncoding, entry: { readonly fields: Uint8Array; readonly typeBits: Uint8Array }): Value[] {
  if (collation === undefined) return decodeKey(entry.fields, directions, entry.typeBits);
  const { plain, typeBits } = splitPlainKey(entry.typeBits);
  return decodeKey(plain, directions, typeBits);
}

/** Under a collation the type bits of an entry are: length of the plain key (4 bytes), the plain key, its type bits. */
export function withPlainKey(plain: Uint8Array, typeBits: Uint8Array): Uint8Array {
  const whole = new Uint8Array(4 + plain.length + typeBits.length);
  new DataView(whole.buffer).setUint32(0, plain.length);
  whole.set(plain, 4);
  whole.set(typeBits, 4 + plain.length);
  return whole;
}

function splitPlainKey(whole: Uint8Array): { readonly plain: Uint8Array; readonly typeBits: Uint8Array } {
  const end = 4 + new DataView(whole.buffer, whole.byteOffset).getUint32(0);
  return { plain: whole.subarray(4, end), typeBits: whole.subarray(end) };
}
