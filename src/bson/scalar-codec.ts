// The codec of the values that hold no documents: one row a type, to read it from trusted bytes and to append it. Together with
// document.ts, which adds the types that nest, this is the whole of bsonspec.org 1.1.

import { decodeUtf8 } from '../base/text.ts';
import type { ByteSink } from './byte-sink.ts';
import { Decimal128 } from './decimal128.ts';
import { ObjectId } from './object-id.ts';
import { bsonType, cstringEnd, readDouble, readInt32, readInt64, readInt64Approximate, readUint32, writeInt64, writeSafeInteger } from './raw.ts';
import type { BsonType } from './raw.ts';
import {
  Binary,
  BsonSymbol,
  bsonUndefined,
  Code,
  DateTime,
  DbPointer,
  Double,
  maxKey,
  minKey,
  Regex,
  Timestamp,
} from './scalar.ts';
import type { BsonUndefined, MaxKey, MinKey } from './scalar.ts';

/** A number of any of the four types. A plain number is an int32. */
export type NumberValue = number | Double | bigint | Decimal128;

/** The values that JavaScript has no type for, documents apart. */
export type ScalarObject =
  | Double
  | Decimal128
  | ObjectId
  | DateTime
  | Binary
  | Regex
  | Timestamp
  | Code
  | BsonSymbol
  | DbPointer
  | BsonUndefined
  | MinKey
  | MaxKey;

/** Every value but documents, arrays and code with a scope. */
export type ScalarValue = number | bigint | string | boolean | null | ScalarObject;

type Decoder = (bytes: Uint8Array, offset: number) => ScalarValue;

/** The string whose length field is at `offset`. */
export function decodeString(bytes: Uint8Array, offset: number): string {
  return decodeUtf8(bytes, offset + 4, offset + 3 + readInt32(bytes, offset));
}

function decodeDate(bytes: Uint8Array, offset: number): DateTime {
  const ms = readInt64Approximate(bytes, offset);
  return new DateTime(Number.isSafeInteger(ms) ? ms : readInt64(bytes, offset));
}

function decodeBinary(bytes: Uint8Array, offset: number): Binary {
  const subtype = bytes[offset + 4] as number;
  const end = offset + 5 + readInt32(bytes, offset);
  return new Binary(bytes.slice(offset + (subtype === 2 ? 9 : 5), end), subtype);
}

function decodeRegex(bytes: Uint8Array, offset: number): Regex {
  const patternEnd = cstringEnd(bytes, offset);
  const flagsEnd = cstringEnd(bytes, patternEnd + 1);
  return new Regex(decodeUtf8(bytes, offset, patternEnd), decodeUtf8(bytes, patternEnd + 1, flagsEnd));
}

function decodeDbPointer(bytes: Uint8Array, offset: number): DbPointer {
  const idAt = offset + 4 + readInt32(bytes, offset);
  return new DbPointer(decodeString(bytes, offset), bytes.slice(idAt, idAt + 12));
}

/** Readers of values by the type byte on the wire. */
export const scalarDecoders: readonly (readonly [number, Decoder])[] = [
  [bsonType.double, (bytes, offset) => new Double(readDouble(bytes, offset))],
  [bsonType.string, decodeString],
  [bsonType.binData, decodeBinary],
  [bsonType.undefined, () => bsonUndefined],
  [bsonType.objectId, (bytes, offset) => new ObjectId(bytes.slice(offset, offset + 12))],
  [bsonType.bool, (bytes, offset) => bytes[offset] === 1],
  [bsonType.date, decodeDate],
  [bsonType.null, () => null],
  [bsonType.regex, decodeRegex],
  [bsonType.dbPointer, decodeDbPointer],
  [bsonType.javascript, (bytes, offset) => new Code(decodeString(bytes, offset))],
  [bsonType.symbol, (bytes, offset) => new BsonSymbol(decodeString(bytes, offset))],
  [bsonType.int, readInt32],
  [bsonType.timestamp, (bytes, offset) => new Timestamp(readUint32(bytes, offset + 4), readUint32(bytes, offset))],
  [bsonType.long, readInt64],
  [bsonType.decimal, (bytes, offset) => new Decimal128(bytes.slice(offset, offset + 16))],
  [0xff, () => minKey],
  [bsonType.maxKey, () => maxKey],
];

type WritersOf<T extends { readonly bsonType: BsonType }> = {
  // A method's type, because a row is given values of the union but only those of its type.
  readonly [Code in T['bsonType']]: { of(sink: ByteSink, value: Extract<T, { readonly bsonType: Code }>): void }['of'];
};

/** Appends a value without its type and name, by the code of `$type`. */
export const scalarWriters: WritersOf<ScalarObject> = {
  [bsonType.double]: (sink, value) => {
    sink.double(value.value);
  },
  [bsonType.binData]: (sink, value) => {
    const length = value.bytes.length;
    sink.int32(value.subtype === 2 ? length + 4 : length);
    sink.byte(value.subtype);
    if (value.subtype === 2) sink.int32(length);
    sink.range(value.bytes, 0, length);
  },
  [bsonType.undefined]: nothing,
  [bsonType.objectId]: (sink, value) => {
    sink.range(value.bytes, 0, 12);
  },
  [bsonType.date]: (sink, value) => {
    sink.reserve(8);
    if (Number.isSafeInteger(value.ms)) writeSafeInteger(sink.bytes, sink.length, value.ms);
    else writeInt64(sink.bytes, sink.length, value.msBig);
    sink.length += 8;
  },
  [bsonType.regex]: (sink, value) => {
    sink.cstring(value.pattern);
    sink.cstring(value.flags);
  },
  [bsonType.dbPointer]: (sink, value) => {
    sink.string(value.namespace);
    sink.range(value.id, 0, 12);
  },
  [bsonType.javascript]: (sink, value) => {
    sink.string(value.code);
  },
  [bsonType.symbol]: (sink, value) => {
    sink.string(value.text);
  },
  [bsonType.timestamp]: (sink, value) => {
    sink.int32(value.increment | 0);
    sink.int32(value.seconds | 0);
  },
  [bsonType.decimal]: (sink, value) => {
    sink.range(value.bytes, 0, 16);
  },
  [bsonType.minKey]: nothing,
  [bsonType.maxKey]: nothing,
};

function nothing(): void {
  // The type byte says it all.
}
