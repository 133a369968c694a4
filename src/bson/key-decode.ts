// Reading keys: where each field ends, and the exact values of a key with its type bits. For covered queries and for splitting an
// index entry into its fields and the primary key behind them. Keys are our own: a key that is not one is a bug.

import { decodeUtf8 } from '../base/text.ts';
import { AssertionError } from '../base/errors.ts';
import { BsonArray, CodeWithScope, Document } from './document.ts';
import type { Value } from './document.ts';
import { KeyBitsReader } from './key-bits.ts';
import type { KeyDirection } from './key.ts';
import { invertBytes, NumberKeyReader } from './key-number.ts';
import { keyType } from './key-type.ts';
import { ObjectId } from './object-id.ts';
import { Binary, bsonUndefined, Code, DateTime, DbPointer, maxKey, minKey, Regex, Timestamp } from './scalar.ts';

/** The offset behind the field at `offset`. */
export function skipKeyField(bytes: Uint8Array, offset: number, direction: KeyDirection): number {
  const skipper = new FieldSkipper(bytes, offset, direction < 0 ? 0xff : 0);
  skipper.value();
  return skipper.at;
}

/** The exact values of a key's first fields, as many as there are directions. */
export function decodeKey(bytes: Uint8Array, directions: readonly KeyDirection[], typeBits: Uint8Array): Value[] {
  const bits = new KeyBitsReader(typeBits);
  const values: Value[] = [];
  let offset = 0;
  for (const direction of directions) {
    if (direction > 0) {
      const reader = new FieldReader(bytes, offset, bits);
      values.push(reader.value());
      offset = reader.at;
    } else {
      const end = skipKeyField(bytes, offset, direction);
      const field = bytes.slice(offset, end);
      invertBytes(field, 0, field.length);
      values.push(new FieldReader(field, 0, bits).value());
      offset = end;
    }
  }
  return values;
}

function isNumberType(type: number): boolean {
  return type >= keyType.nan && type <= keyType.infinity;
}

// Bytes behind the type byte where their number is fixed.
const fixedSizes: ReadonlyMap<number, number> = new Map([
  [keyType.minKey, 0],
  [keyType.undefined, 0],
  [keyType.null, 0],
  [keyType.objectId, 12],
  [keyType.false, 0],
  [keyType.true, 0],
  [keyType.date, 8],
  [keyType.timestamp, 8],
  [keyType.maxKey, 0],
]);

class FieldSkipper {
  at: number;
  readonly #bytes: Uint8Array;
  readonly #mask: number;

  constructor(bytes: Uint8Array, at: number, mask: number) {
    this.#bytes = bytes;
    this.at = at;
    this.#mask = mask;
  }

  value(): void {
    const type = this.#peek();
    if (isNumberType(type)) {
      const reader = new NumberKeyReader(this.#bytes, this.at, this.#mask);
      reader.read();
      this.at = reader.at;
      return;
    }
    this.at++;
    const size = fixedSizes.get(type);
    if (size === undefined) this.#variable(type);
    else this.at += size;
  }

  #variable(type: number): void {
    switch (type) {
      case keyType.string:
      case keyType.javascript:
        this.#text();
        break;
      case keyType.object:
        this.#elements();
        break;
      case keyType.array:
        while (this.#peek() !== 0) this.value();
        this.at++;
        break;
      case keyType.binData:
        this.#binary();
        break;
      case keyType.regex:
        this.#text();
        this.#text();
        break;
      case keyType.dbPointer:
        this.#pointer();
        break;
      case keyType.javascriptWithScope:
        this.#text();
        this.#elements();
        break;
      default:
        throw new AssertionError('these bytes are no key');
    }
  }

  #peek(): number {
    const byte = this.#bytes[this.at];
    if (byte === undefined) throw new AssertionError('these bytes are no key');
    return byte ^ this.#mask;
  }

  #uint32(): number {
    let word = 0;
    for (let i = 0; i < 4; i++) {
      word = word * 256 + this.#peek();
      this.at++;
    }
    return word;
  }

  #text(): void {
    while (this.#peek() !== 0) this.at++;
    this.at++;
  }

  #elements(): void {
    while (this.#peek() !== 0) {
      this.at++;
      this.#text();
      this.value();
    }
    this.at++;
  }

  #pointer(): void {
    const length = this.#uint32();
    this.at += length + 12;
  }

  #binary(): void {
    const length = this.#uint32();
    this.at++;
    const subtype = (this.#bytes[this.at - 1] as number) ^ this.#mask;
    this.at += subtype === 2 ? length - 4 : length;
  }
}

type Decoder = (reader: FieldReader) => Value;

class FieldReader {
  at: number;
  readonly bytes: Uint8Array;
  readonly bits: KeyBitsReader;

  constructor(bytes: Uint8Array, at: number, bits: KeyBitsReader) {
    this.bytes = bytes;
    this.at = at;
    this.bits = bits;
  }

  value(): Value {
    const type = this.bytes[this.at] as number;
    if (isNumberType(type)) {
      const reader = new NumberKeyReader(this.bytes, this.at, 0);
      const number = reader.read();
      this.at = reader.at;
      return this.bits.number(number);
    }
    const decoder = decoders.get(type);
    if (decoder === undefined) throw new AssertionError('these bytes are no key');
    this.at++;
    return decoder(this);
  }

  take(count: number): Uint8Array {
    this.at += count;
    return this.bytes.slice(this.at - count, this.at);
  }

  uint32(): number {
    let word = 0;
    for (let i = 0; i < 4; i++) word = word * 256 + (this.bytes[this.at++] as number);
    return word;
  }

  text(): string {
    const start = this.at;
    let escaped = false;
    for (let byte = this.bytes[this.at]; byte !== 0; byte = this.bytes[++this.at]) escaped ||= byte === 1;
    const end = this.at++;
    if (!escaped) return decodeUtf8(this.bytes, start, end);
    const plain: number[] = [];
    for (let i = start; i < end; i++) {
      const byte = this.bytes[i] as number;
      plain.push(byte === 1 ? (this.bytes[++i] as number) - 1 : byte);
    }
    return decodeUtf8(Uint8Array.from(plain), 0, plain.length);
  }

  elements(): Document {
    const entries: [string, Value][] = [];
    while (this.bytes[this.at] !== 0) {
      this.at++;
      entries.push([this.text(), this.value()]);
    }
    this.at++;
    return Document.fromEntries(entries);
  }

  items(): BsonArray {
    const items: Value[] = [];
    while (this.bytes[this.at] !== 0) items.push(this.value());
    this.at++;
    return BsonArray.of(items);
  }
}

function readDate(reader: FieldReader): DateTime {
  const high = (reader.uint32() ^ 0x80000000) | 0;
  const low = reader.uint32();
  const ms = high * 4294967296 + low;
  return new DateTime(Number.isSafeInteger(ms) ? ms : (BigInt(high) << 32n) | BigInt(low));
}

function readBinary(reader: FieldReader): Binary {
  const length = reader.uint32();
  const subtype = reader.bytes[reader.at++] as number;
  return new Binary(reader.take(subtype === 2 ? length - 4 : length), subtype);
}

function readPointer(reader: FieldReader): DbPointer {
  const namespace = reader.take(reader.uint32());
  return new DbPointer(decodeUtf8(namespace, 0, namespace.length), reader.take(12));
}

const decoders: ReadonlyMap<number, Decoder> = new Map<number, Decoder>([
  [keyType.minKey, () => minKey],
  [keyType.undefined, () => bsonUndefined],
  [keyType.null, () => null],
  [keyType.string, (reader) => reader.bits.text(reader.text())],
  [keyType.object, (reader) => reader.elements()],
  [keyType.array, (reader) => reader.items()],
  [keyType.binData, readBinary],
  [keyType.objectId, (reader) => new ObjectId(reader.take(12))],
  [keyType.false, () => false],
  [keyType.true, () => true],
  [keyType.date, readDate],
  [keyType.timestamp, (reader) => new Timestamp(reader.uint32(), reader.uint32())],
  [keyType.regex, (reader) => new Regex(reader.text(), reader.text())],
  [keyType.dbPointer, readPointer],
  [keyType.javascript, (reader) => new Code(reader.text())],
  [keyType.javascriptWithScope, (reader) => new CodeWithScope(reader.text(), reader.elements())],
  [keyType.maxKey, () => maxKey],
]);
