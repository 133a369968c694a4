// Keys: values as bytes whose unsigned order is the order of compareValues, field by field, each field's order reversed where its
// direction is -1 (docs/file-format.md, "Keys"). Each field ends by itself, so fields and further keys can follow one another, and a key that has more fields sorts
// right behind its prefix. Nothing is cut, and nothing that order can tell apart is lost; the rest is in the type bits (key-bits.ts).
// Layout: a type byte (key-type.ts), then
//
//   numbers      key-number.ts
//   text         UTF-8, 00 as 01 01, 01 as 01 02, end 00 (strings, symbols, code, both halves of a regex)
//   documents    per element: class (the lowest type byte of it), name, 00, value; end 00
//   arrays       per element: value; end 00
//   binary       length on the wire (4 bytes), subtype, bytes
//   date, timestamp, ObjectId   8, 8 and 12 bytes, big-endian, the sign bit of dates flipped
//   pointer      length of the namespace (4 bytes), namespace, 12 bytes

import { encodeUtf8 } from '../base/text.ts';
import { ByteSink } from './byte-sink.ts';
import { classOf, typeClass } from './compare.ts';
import type { TypeClass } from './compare.ts';
import { decodeValue } from './document.ts';
import type { BsonArray, CodeWithScope, Document, Value } from './document.ts';
import { invertBytes, writeDoubleKey, writeNumberKey } from './key-number.ts';
import { classBounds, keyType } from './key-type.ts';
import type { ObjectId } from './object-id.ts';
import { bsonType, readDouble, readInt32, readInt64, readInt64Approximate } from './raw.ts';
import type { Binary, BsonSymbol, Code, DateTime, DbPointer, Regex, Timestamp } from './scalar.ts';
import type { NumberValue } from './scalar-codec.ts';

/** Whether a field of a key ascends or descends. */
export type KeyDirection = 1 | -1;

let shared = new ByteSink(1024);

/** The key of these values, one field each. Missing directions are 1. */
export function encodeKey(values: readonly Value[], directions: readonly KeyDirection[] = []): Uint8Array {
  const sink = shared;
  sink.length = 0;
  for (let i = 0; i < values.length; i++) encodeKeyPart(sink, values[i] as Value, directions[i] ?? 1);
  if (sink.bytes.length > 65536) shared = new ByteSink(1024);
  return sink.toBytes();
}

/** Appends one field. */
export function encodeKeyPart(sink: ByteSink, value: Value, direction: KeyDirection): void {
  const at = sink.length;
  writeKeyValue(sink, value);
  if (direction < 0) invertBytes(sink.bytes, at, sink.length);
}

/** The common beginning of the keys of all strings that begin with `prefix`. */
export function encodeStringPrefix(prefix: string, direction: KeyDirection): Uint8Array {
  const sink = new ByteSink(prefix.length + 16);
  sink.byte(keyType.string);
  writeEscaped(sink, prefix);
  if (direction < 0) invertBytes(sink.bytes, 0, sink.length);
  return sink.toBytes();
}

/** The smallest key above all keys that begin with `prefix`; undefined if there is none (nothing but ff). */
export function keyAfter(prefix: Uint8Array): Uint8Array | undefined {
  let length = prefix.length;
  while (length > 0 && prefix[length - 1] === 0xff) length--;
  if (length === 0) return undefined;
  const after = prefix.slice(0, length);
  after[length - 1] = (after[length - 1] as number) + 1;
  return after;
}

/** The range of a field's keys whose values have the given class: from `low` up to, but not, `high`. */
export interface KeyBracket {
  readonly low: Uint8Array;
  readonly high: Uint8Array;
}

/** The keys of all values that compare with values of this class (a number: all numbers, NaN too). */
export function typeBracket(of: TypeClass, direction: KeyDirection): KeyBracket {
  const [first, last] = classBounds(of);
  const low = direction < 0 ? 0xff - last : first;
  const high = direction < 0 ? 0xff - first : last;
  return { low: Uint8Array.of(low), high: Uint8Array.of(high + 1) };
}

/** As encodeKeyPart, for the value that lies at `offset` and has the type byte `type`. The usual types are not decoded. */
export function encodeRawKeyPart(sink: ByteSink, bytes: Uint8Array, type: number, offset: number, direction: KeyDirection): void {
  const at = sink.length;
  const writer = rawWriters[type];
  if (writer === undefined) writeKeyValue(sink, decodeValue(bytes, type, offset));
  else writer(sink, bytes, offset);
  if (direction < 0) invertBytes(sink.bytes, at, sink.length);
}

type RawWriter = (sink: ByteSink, bytes: Uint8Array, offset: number) => void;

const rawWriters: (RawWriter | undefined)[] = new Array<RawWriter | undefined>(256).fill(undefined);
rawWriters[bsonType.int] = (sink, bytes, offset) => {
  writeDoubleKey(sink, readInt32(bytes, offset));
};
rawWriters[bsonType.double] = (sink, bytes, offset) => {
  writeDoubleKey(sink, readDouble(bytes, offset));
};
rawWriters[bsonType.long] = (sink, bytes, offset) => {
  const value = readInt64Approximate(bytes, offset);
  if (Number.isSafeInteger(value)) writeDoubleKey(sink, value);
  else writeNumberKey(sink, readInt64(bytes, offset));
};
rawWriters[bsonType.string] = (sink, bytes, offset) => {
  sink.byte(keyType.string);
  const at = sink.length;
  sink.range(bytes, offset + 4, offset + 3 + readInt32(bytes, offset));
  escapeFrom(sink, at);
  sink.byte(0);
};
rawWriters[bsonType.objectId] = (sink, bytes, offset) => {
  sink.byte(keyType.objectId);
  sink.range(bytes, offset, offset + 12);
};
rawWriters[bsonType.bool] = (sink, bytes, offset) => {
  sink.byte(bytes[offset] === 1 ? keyType.true : keyType.false);
};
rawWriters[bsonType.null] = writeTypeOnly(keyType.null);
rawWriters[bsonType.date] = (sink, bytes, offset) => {
  sink.byte(keyType.date);
  writeUint32(sink, (readInt32(bytes, offset + 4) ^ 0x80000000) >>> 0);
  writeUint32(sink, readInt32(bytes, offset));
};

function writeKeyValue(sink: ByteSink, value: Value): void {
  if (typeof value === 'number') writeNumberKey(sink, value);
  else if (typeof value === 'string') writeText(sink, keyType.string, value);
  else writers[classOf(value)](sink, value);
}

function writeText(sink: ByteSink, type: number, text: string): void {
  sink.byte(type);
  writeEscaped(sink, text);
  sink.byte(0);
}

// No text's bytes begin another's: else the shorter key, inverted, would sort on the wrong side.
function writeEscaped(sink: ByteSink, text: string): void {
  const at = sink.length;
  sink.utf8(text);
  escapeFrom(sink, at);
}

/** Escapes what was written from `at` on. */
function escapeFrom(sink: ByteSink, at: number): void {
  let clean = at;
  while (clean < sink.length && (sink.bytes[clean] as number) > 1) clean++;
  if (clean === sink.length) return;
  const rest = sink.bytes.slice(clean, sink.length);
  sink.length = clean;
  for (const byte of rest) {
    if (byte <= 1) sink.byte(1);
    sink.byte(byte <= 1 ? byte + 1 : byte);
  }
}

function writeElements(sink: ByteSink, doc: Document): void {
  for (const [name, value] of doc.fields) {
    sink.byte(classBounds(classOf(value))[0]);
    writeEscaped(sink, name);
    sink.byte(0);
    writeKeyValue(sink, value);
  }
  sink.byte(0);
}

function writeBig(sink: ByteSink, value: bigint): void {
  for (let shift = 56n; shift >= 0n; shift -= 8n) sink.byte(Number((value >> shift) & 0xffn));
}

function writeUint32(sink: ByteSink, value: number): void {
  for (let shift = 24; shift >= 0; shift -= 8) sink.byte((value >>> shift) & 0xff);
}

function writeDate(sink: ByteSink, value: DateTime): void {
  sink.byte(keyType.date);
  if (Number.isSafeInteger(value.ms)) {
    writeUint32(sink, (Math.floor(value.ms / 4294967296) ^ 0x80000000) >>> 0);
    writeUint32(sink, value.ms >>> 0);
  } else {
    writeBig(sink, value.msBig ^ (1n << 63n));
  }
}

function writeBinary(sink: ByteSink, value: Binary): void {
  sink.byte(keyType.binData);
  writeUint32(sink, value.bytes.length + (value.subtype === 2 ? 4 : 0));
  sink.byte(value.subtype);
  sink.range(value.bytes, 0, value.bytes.length);
}

function writePointer(sink: ByteSink, value: DbPointer): void {
  const namespace = encodeUtf8(value.namespace);
  sink.byte(keyType.dbPointer);
  writeUint32(sink, namespace.length);
  sink.range(namespace, 0, namespace.length);
  sink.range(value.id, 0, 12);
}

function writeTypeOnly(type: number): (sink: ByteSink) => void {
  return (sink) => {
    sink.byte(type);
  };
}

// A method's type, because its parameter may be narrower: a row is only given values of its class.
type ClassWriter = { of(sink: ByteSink, value: Value): void }['of'];

const writers: { readonly [Class in TypeClass]: ClassWriter } = {
  [typeClass.minKey]: writeTypeOnly(keyType.minKey),
  [typeClass.undefined]: writeTypeOnly(keyType.undefined),
  [typeClass.null]: writeTypeOnly(keyType.null),
  [typeClass.maxKey]: writeTypeOnly(keyType.maxKey),
  [typeClass.number]: (sink: ByteSink, value: NumberValue) => {
    writeNumberKey(sink, value);
  },
  [typeClass.string]: (sink: ByteSink, value: string | BsonSymbol) => {
    writeText(sink, keyType.string, typeof value === 'string' ? value : value.text);
  },
  [typeClass.object]: (sink: ByteSink, value: Document) => {
    sink.byte(keyType.object);
    writeElements(sink, value);
  },
  [typeClass.array]: (sink: ByteSink, value: BsonArray) => {
    sink.byte(keyType.array);
    for (const item of value.items()) writeKeyValue(sink, item);
    sink.byte(0);
  },
  [typeClass.binData]: writeBinary,
  [typeClass.objectId]: (sink: ByteSink, value: ObjectId) => {
    sink.byte(keyType.objectId);
    sink.range(value.bytes, 0, 12);
  },
  [typeClass.bool]: (sink: ByteSink, value: boolean) => {
    sink.byte(value ? keyType.true : keyType.false);
  },
  [typeClass.date]: writeDate,
  [typeClass.timestamp]: (sink: ByteSink, value: Timestamp) => {
    sink.byte(keyType.timestamp);
    writeUint32(sink, value.seconds);
    writeUint32(sink, value.increment);
  },
  [typeClass.regex]: (sink: ByteSink, value: Regex) => {
    writeText(sink, keyType.regex, value.pattern);
    writeEscaped(sink, value.flags);
    sink.byte(0);
  },
  [typeClass.dbPointer]: writePointer,
  [typeClass.javascript]: (sink: ByteSink, value: Code) => {
    writeText(sink, keyType.javascript, value.code);
  },
  [typeClass.javascriptWithScope]: (sink: ByteSink, value: CodeWithScope) => {
    writeText(sink, keyType.javascriptWithScope, value.code);
    writeElements(sink, value.scope);
  },
};
