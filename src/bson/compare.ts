// The order of BSON values across all types, as the page "Comparison/Sort Order" of the MongoDB manual gives it. Types that compare
// with each other (all numbers; strings and symbols) share a class; classes have a fixed order. Key encoding (key.ts) follows exactly
// this order: a property test holds them together.

import { compareBytes, compareRange } from '../base/bytes.ts';
import { encodeUtf8 } from '../base/text.ts';
import { Decimal128 } from './decimal128.ts';
import { decodeValue, typeOf } from './document.ts';
import type { BsonArray, CodeWithScope, Document, Value } from './document.ts';
import { compareNumbers } from './number-order.ts';
import type { ObjectId } from './object-id.ts';
import { bsonType, cstringEnd, readInt32, valueEnd } from './raw.ts';
import type { BsonType, RawView } from './raw.ts';
import { Double } from './scalar.ts';
import type { Binary, BsonSymbol, Code, DateTime, DbPointer, Regex, Timestamp } from './scalar.ts';
import type { NumberValue } from './scalar-codec.ts';

/** The classes of types in their order. */
export const typeClass = {
  minKey: 0,
  undefined: 1,
  null: 2,
  number: 3,
  string: 4,
  object: 5,
  array: 6,
  binData: 7,
  objectId: 8,
  bool: 9,
  date: 10,
  timestamp: 11,
  regex: 12,
  dbPointer: 13,
  javascript: 14,
  javascriptWithScope: 15,
  maxKey: 16,
} as const;

export type TypeClass = (typeof typeClass)[keyof typeof typeClass];

const classes = {
  [bsonType.minKey]: typeClass.minKey,
  [bsonType.undefined]: typeClass.undefined,
  [bsonType.null]: typeClass.null,
  [bsonType.double]: typeClass.number,
  [bsonType.int]: typeClass.number,
  [bsonType.long]: typeClass.number,
  [bsonType.decimal]: typeClass.number,
  [bsonType.string]: typeClass.string,
  [bsonType.symbol]: typeClass.string,
  [bsonType.object]: typeClass.object,
  [bsonType.array]: typeClass.array,
  [bsonType.binData]: typeClass.binData,
  [bsonType.objectId]: typeClass.objectId,
  [bsonType.bool]: typeClass.bool,
  [bsonType.date]: typeClass.date,
  [bsonType.timestamp]: typeClass.timestamp,
  [bsonType.regex]: typeClass.regex,
  [bsonType.dbPointer]: typeClass.dbPointer,
  [bsonType.javascript]: typeClass.javascript,
  [bsonType.javascriptWithScope]: typeClass.javascriptWithScope,
  [bsonType.maxKey]: typeClass.maxKey,
} as const satisfies Record<BsonType, TypeClass>;

const classOfByte: TypeClass[] = new Array<TypeClass>(256).fill(typeClass.minKey);
for (const [code, value] of Object.entries(classes)) classOfByte[Number(code) & 0xff] = value;

/** An order of texts other than that of their bytes. */
export interface TextOrder {
  /** Bytes whose unsigned order is that of the texts; equal where the order does not tell texts apart. */
  keyOf(text: string): Uint8Array;
  compare(a: string, b: string): number;
}

/** The class of a value's type: values of different classes are ordered by it alone. */
export function classOf(value: Value): TypeClass {
  return classes[typeOf(value)];
}

/** The class of a type byte on the wire. */
export function classOfTypeByte(type: number): TypeClass {
  return classOfByte[type] as TypeClass;
}

/** Whether the value is a number of any of the four types. */
export function isNumber(value: Value | undefined): value is NumberValue {
  return typeof value === 'number' || typeof value === 'bigint' || value instanceof Double || value instanceof Decimal128;
}

/** Negative, zero or positive as `a` comes before, with or after `b`. */
export function compareValues(a: Value, b: Value): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === 'string' && typeof b === 'string') return compareStrings(a, b);
  const aClass = classOf(a);
  const difference = aClass - classOf(b);
  if (difference !== 0) return difference;
  return comparers[aClass](a, b);
}

/** Whether two values are equal in BSON order: 1, 1.0 and decimal 1 are, and so are NaN and NaN. */
export function equalValues(a: Value, b: Value): boolean {
  return compareValues(a, b) === 0;
}

/** Order of two strings by their UTF-8 bytes. */
export function compareStrings(a: string, b: string): number {
  if (a === b) return 0;
  const common = Math.min(a.length, b.length);
  for (let i = 0; i < common; i++) {
    const left = a.charCodeAt(i);
    const right = b.charCodeAt(i);
    if (left === right) continue;
    // UTF-16 surrogates stand for code points above U+FFFF, but their units are below U+E000.
    if (left >= 0xd800 && right >= 0xd800) return codePointRank(left) - codePointRank(right);
    return left - right;
  }
  return a.length - b.length;
}

function codePointRank(unit: number): number {
  return unit < 0xe000 ? unit + 0x10000 : unit;
}

/** Order of two raw documents (`named`) or arrays, element by element: type class, then name, then value. */
export function compareRaw(a: RawView, b: RawView, named: boolean): number {
  const aBytes = a.bytes;
  const bBytes = b.bytes;
  let aAt = a.start + 4;
  let bAt = b.start + 4;
  for (;;) {
    const aType = aBytes[aAt] as number;
    const bType = bBytes[bAt] as number;
    if (aType === 0 || bType === 0) return Number(aType !== 0) - Number(bType !== 0);
    let order = classOfTypeByte(aType) - classOfTypeByte(bType);
    if (order !== 0) return order;
    const aNameEnd = cstringEnd(aBytes, aAt + 1);
    const bNameEnd = cstringEnd(bBytes, bAt + 1);
    if (named) {
      order = compareRange(aBytes, aAt + 1, aNameEnd, bBytes, bAt + 1, bNameEnd);
      if (order !== 0) return order;
    }
    const aEnd = valueEnd(aBytes, aType, aNameEnd + 1);
    const bEnd = valueEnd(bBytes, bType, bNameEnd + 1);
    // The same bytes of the same type are the same value: nothing to decode.
    const raw = compareRange(aBytes, aNameEnd + 1, aEnd, bBytes, bNameEnd + 1, bEnd);
    if (raw !== 0 || aType !== bType) {
      order = compareRawValues(aBytes, aType, aNameEnd + 1, bBytes, bType, bNameEnd + 1);
      if (order !== 0) return order;
    }
    aAt = aEnd;
    bAt = bEnd;
  }
}

function compareRawValues(aBytes: Uint8Array, aType: number, aAt: number, bBytes: Uint8Array, bType: number, bAt: number): number {
  if (aType === bsonType.string && bType === bsonType.string) {
    return compareRange(aBytes, aAt + 4, aAt + 3 + readInt32(aBytes, aAt), bBytes, bAt + 4, bAt + 3 + readInt32(bBytes, bAt));
  }
  return compareValues(decodeValue(aBytes, aType, aAt), decodeValue(bBytes, bType, bAt));
}

function textOf(value: string | BsonSymbol): string {
  return typeof value === 'string' ? value : value.text;
}

function wireLength(value: Binary): number {
  return value.bytes.length + (value.subtype === 2 ? 4 : 0);
}

function compareBinaries(a: Binary, b: Binary): number {
  return wireLength(a) - wireLength(b) || a.subtype - b.subtype || compareBytes(a.bytes, b.bytes);
}

function compareBigInts(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function compareDates(a: DateTime, b: DateTime): number {
  return a.ms - b.ms || compareBigInts(a.msBig, b.msBig);
}

function comparePointers(a: DbPointer, b: DbPointer): number {
  const left = encodeUtf8(a.namespace);
  const right = encodeUtf8(b.namespace);
  return left.length - right.length || compareBytes(left, right) || compareBytes(a.id, b.id);
}

function equal(): number {
  return 0;
}

// A method's type, because its parameters may be narrower: a row is only given values of its class.
type Comparer = { of(a: Value, b: Value): number }['of'];

const comparers: { readonly [Class in TypeClass]: Comparer } = {
  [typeClass.minKey]: equal,
  [typeClass.undefined]: equal,
  [typeClass.null]: equal,
  [typeClass.number]: compareNumbers,
  [typeClass.string]: (a: string | BsonSymbol, b: string | BsonSymbol) => compareStrings(textOf(a), textOf(b)),
  [typeClass.object]: (a: Document, b: Document) => compareRaw(a, b, true),
  [typeClass.array]: (a: BsonArray, b: BsonArray) => compareRaw(a, b, false),
  [typeClass.binData]: compareBinaries,
  [typeClass.objectId]: (a: ObjectId, b: ObjectId) => compareBytes(a.bytes, b.bytes),
  [typeClass.bool]: (a: boolean, b: boolean) => Number(a) - Number(b),
  [typeClass.date]: compareDates,
  [typeClass.timestamp]: (a: Timestamp, b: Timestamp) => a.seconds - b.seconds || a.increment - b.increment,
  [typeClass.regex]: (a: Regex, b: Regex) => compareStrings(a.pattern, b.pattern) || compareStrings(a.flags, b.flags),
  [typeClass.dbPointer]: comparePointers,
  [typeClass.javascript]: (a: Code, b: Code) => compareStrings(a.code, b.code),
  [typeClass.javascriptWithScope]: (a: CodeWithScope, b: CodeWithScope) => compareStrings(a.code, b.code) || compareRaw(a.scope, b.scope, true),
  [typeClass.maxKey]: equal,
};
