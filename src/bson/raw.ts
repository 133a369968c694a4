// Reading BSON where it lies: sizes, elements and numbers at offsets, without making objects. Everything here trusts its bytes:
// they came from this program or passed validateDocument. Follows bsonspec.org, version 1.1.

import { AssertionError } from '../base/errors.ts';
import { decodeUtf8, encodeUtf8 } from '../base/text.ts';

/** A document or array as it lies in memory: bytes[start, end) from its length field to its closing zero. Not to be written to. */
export interface RawView {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

/** The number that stands for each type on the wire. */
export const bsonType = {
  double: 1,
  string: 2,
  object: 3,
  array: 4,
  binData: 5,
  undefined: 6,
  objectId: 7,
  bool: 8,
  date: 9,
  null: 10,
  regex: 11,
  dbPointer: 12,
  javascript: 13,
  symbol: 14,
  javascriptWithScope: 15,
  int: 16,
  timestamp: 17,
  long: 18,
  decimal: 19,
  minKey: -1,
  maxKey: 127,
} as const;

/** The aliases of `$type`. */
export type TypeName = keyof typeof bsonType;
/** The codes of `$type`: 1 to 19, -1 for minKey, 127 for maxKey. */
export type BsonType = (typeof bsonType)[TypeName];

function isTypeName(name: string): name is TypeName {
  return Object.hasOwn(bsonType, name);
}

const typeNames = new Map<number, TypeName>();
for (const name of Object.keys(bsonType)) if (isTypeName(name)) typeNames.set(bsonType[name], name);

/** The alias of a type code, or undefined where there is none. */
export function typeNameOf(code: number): TypeName | undefined {
  return typeNames.get(code);
}

/** The type code of an alias, or undefined where there is none. */
export function typeCodeOf(name: string): BsonType | undefined {
  return isTypeName(name) ? bsonType[name] : undefined;
}

const float = new Float64Array(1);
const floatWords = new Uint32Array(float.buffer);
const floatBytes = new Uint8Array(float.buffer);

/** A signed 32-bit number, little-endian as all of BSON. */
export function readInt32(bytes: Uint8Array, offset: number): number {
  return (
    (bytes[offset] as number) |
    ((bytes[offset + 1] as number) << 8) |
    ((bytes[offset + 2] as number) << 16) |
    ((bytes[offset + 3] as number) << 24)
  );
}

/** An unsigned 32-bit number. */
export function readUint32(bytes: Uint8Array, offset: number): number {
  return readInt32(bytes, offset) >>> 0;
}

/** A signed 64-bit number as high word (signed) times 2^32 plus low word: exact only within ±2^53. */
export function readInt64Approximate(bytes: Uint8Array, offset: number): number {
  return readInt32(bytes, offset + 4) * 4294967296 + readUint32(bytes, offset);
}

/** A signed 64-bit number. */
export function readInt64(bytes: Uint8Array, offset: number): bigint {
  const high = readInt32(bytes, offset + 4);
  if (high >= -0x200000 && high < 0x200000) return BigInt(high * 4294967296 + readUint32(bytes, offset));
  return (BigInt(high) << 32n) | BigInt(readUint32(bytes, offset));
}

/** A 64-bit IEEE number. */
export function readDouble(bytes: Uint8Array, offset: number): number {
  floatWords[0] = readInt32(bytes, offset);
  floatWords[1] = readInt32(bytes, offset + 4);
  return float[0] as number;
}

/** Puts the low 32 bits of an integer. */
export function writeInt32(bytes: Uint8Array, offset: number, value: number): void {
  bytes[offset] = value;
  bytes[offset + 1] = value >> 8;
  bytes[offset + 2] = value >> 16;
  bytes[offset + 3] = value >> 24;
}

/** Puts the low 64 bits of an integer. */
export function writeInt64(bytes: Uint8Array, offset: number, value: bigint): void {
  const near = Number(value);
  if (Number.isSafeInteger(near)) {
    writeSafeInteger(bytes, offset, near);
    return;
  }
  writeInt32(bytes, offset, Number(value & 0xffffffffn) | 0);
  writeInt32(bytes, offset + 4, Number((value >> 32n) & 0xffffffffn) | 0);
}

/** Puts an integer within ±2^53 as 64 bits. */
export function writeSafeInteger(bytes: Uint8Array, offset: number, value: number): void {
  writeInt32(bytes, offset, value | 0);
  writeInt32(bytes, offset + 4, Math.floor(value / 4294967296) | 0);
}

/** Puts a 64-bit IEEE number. */
export function writeDouble(bytes: Uint8Array, offset: number, value: number): void {
  float[0] = value;
  for (let i = 0; i < 8; i++) bytes[offset + i] = floatBytes[i] as number;
}

/** The offset of the zero that ends the cstring at `offset`. */
export function cstringEnd(bytes: Uint8Array, offset: number): number {
  let end = offset;
  while (bytes[end] !== 0) end++;
  return end;
}

// Bytes that a value takes beside what its length field says; -1 where the type has rules of its own.
const fixedSize: Int8Array = new Int8Array(256).fill(-1);
for (const [type, size] of [
  [bsonType.double, 8],
  [bsonType.undefined, 0],
  [bsonType.objectId, 12],
  [bsonType.bool, 1],
  [bsonType.date, 8],
  [bsonType.null, 0],
  [bsonType.int, 4],
  [bsonType.timestamp, 8],
  [bsonType.long, 8],
  [bsonType.decimal, 16],
  [0xff, 0],
  [bsonType.maxKey, 0],
] as const) {
  fixedSize[type] = size;
}
const lengthExtra: Uint8Array = new Uint8Array(256);
for (const type of [bsonType.string, bsonType.javascript, bsonType.symbol]) lengthExtra[type] = 4;
lengthExtra[bsonType.binData] = 5;
lengthExtra[bsonType.dbPointer] = 16;

/** Size of values of this type where it is fixed, else -1. `type` is the byte on the wire (255 for minKey). */
export function fixedValueSize(type: number): number {
  return fixedSize[type] as number;
}

/** The offset behind the value at `offset`, whose type byte is `type`. */
export function valueEnd(bytes: Uint8Array, type: number, offset: number): number {
  const size = fixedSize[type] as number;
  if (size >= 0) return offset + size;
  if (type === bsonType.regex) return cstringEnd(bytes, cstringEnd(bytes, offset) + 1) + 1;
  return offset + readInt32(bytes, offset) + (lengthExtra[type] as number);
}

/** The offset behind the element whose type byte is at `offset`. */
export function elementEnd(bytes: Uint8Array, offset: number): number {
  return valueEnd(bytes, bytes[offset] as number, cstringEnd(bytes, offset + 1) + 1);
}

/** The offset of the value of the element whose type byte is at `offset`. */
export function elementValue(bytes: Uint8Array, offset: number): number {
  return cstringEnd(bytes, offset + 1) + 1;
}

/** A field's name, ready to be looked for in raw documents many times. */
export class FieldName {
  readonly text: string;
  readonly bytes: Uint8Array;

  constructor(text: string) {
    this.text = text;
    this.bytes = encodeUtf8(text);
  }
}

/** The offset of the type byte of the first element called `name` in the document that begins at `start`; -1 if there is none. */
export function findField(bytes: Uint8Array, start: number, name: FieldName): number {
  const wanted = name.bytes;
  const length = wanted.length;
  let offset = start + 4;
  for (;;) {
    const type = bytes[offset];
    if (type === 0) return -1;
    if (type === undefined) throw new AssertionError('these bytes are no document');
    let at = offset + 1;
    let i = 0;
    while (i < length && bytes[at] === wanted[i]) {
      at++;
      i++;
    }
    if (i === length && bytes[at] === 0) return offset;
    while (at < bytes.length && bytes[at] !== 0) at++;
    const next = valueEnd(bytes, type, at + 1);
    if (!(next > offset)) throw new AssertionError('these bytes are no document');
    offset = next;
  }
}

const preparedMax = 4096;
const prepared = new Map<string, FieldName>();

/** The name, prepared; those asked for lately are kept. */
function fieldName(text: string): FieldName {
  let name = prepared.get(text);
  if (name === undefined) {
    name = new FieldName(text);
    if (prepared.size >= preparedMax) prepared.clear();
    prepared.set(text, name);
  }
  return name;
}

/** As findField, for a name that is not prepared. */
export function findElement(bytes: Uint8Array, start: number, name: string): number {
  return findField(bytes, start, fieldName(name));
}

const cachedNames: string[] = new Array<string>(1024).fill('');

/** The text of a field name at bytes[start, end). Names come again and again: recent ones are not made anew. */
export function decodeName(bytes: Uint8Array, start: number, end: number): string {
  const length = end - start;
  if (length > 24) return decodeUtf8(bytes, start, end);
  let hash = length;
  for (let i = start; i < end; i++) hash = (Math.imul(hash, 31) + (bytes[i] as number)) | 0;
  const slot = (hash ^ (hash >>> 10)) & 1023;
  const cached = cachedNames[slot] as string;
  if (cached.length === length) {
    let i = 0;
    while (i < length && cached.charCodeAt(i) === bytes[start + i] && cached.charCodeAt(i) < 0x80) i++;
    if (i === length) return cached;
  }
  const text = decodeUtf8(bytes, start, end);
  cachedNames[slot] = text;
  return text;
}
