// The hash of hashed indexes, as MongoDB computes it, so that `$toHashedIndexKey` and shard keys agree: MD5 over the seed 0, then the value: its class (numbers
// are one) as four bytes, and its bytes; of numbers the whole part as int64, of documents and arrays each element with its name, then a zero class. The
// first eight bytes of it are the hash.

import { Md5 } from '../base/md5.ts';
import { encodeUtf8 } from '../base/text.ts';
import { classOf, isNumber, typeClass } from './compare.ts';
import { BsonArray, CodeWithScope, Document } from './document.ts';
import type { Value } from './document.ts';
import { toDouble, truncateNumber } from './number.ts';
import type { NumberValue } from './scalar-codec.ts';
import { BsonWriter } from './writer.ts';

/** MongoDB's numbers for classes, where they are not the type's own. */
const classNumbers: ReadonlyMap<number, number> = new Map<number, number>([
  [typeClass.minKey, -1],
  [typeClass.undefined, 0],
  [typeClass.null, 5],
  [typeClass.number, 10],
  [typeClass.string, 15],
  [typeClass.object, 20],
  [typeClass.array, 25],
  [typeClass.binData, 30],
  [typeClass.objectId, 35],
  [typeClass.bool, 40],
  [typeClass.date, 45],
  [typeClass.timestamp, 47],
  [typeClass.regex, 50],
  [typeClass.dbPointer, 55],
  [typeClass.javascript, 60],
  [typeClass.javascriptWithScope, 65],
  [typeClass.maxKey, 127],
]);

/** The hash of a value; a missing one counts as null. */
export function hashValue(value: Value): bigint {
  const hash = new Md5();
  hash.update(new Uint8Array(4));
  addValue(hash, value, undefined);
  const digest = hash.digestBytes();
  return new DataView(digest.buffer, digest.byteOffset).getBigInt64(0, true);
}

function addInt32(hash: Md5, value: number): void {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setInt32(0, value, true);
  hash.update(bytes);
}

function addValue(hash: Md5, value: Value, name: string | undefined): void {
  addInt32(hash, classNumbers.get(classOf(value)) ?? 0);
  if (name !== undefined) hash.update(encodeUtf8(`${name}\0`));
  if (isNumber(value)) hash.update(wholeBytes(value));
  else if (value instanceof BsonArray) addElements(hash, value.items().map((item, i) => [String(i), item] as const));
  else if (value instanceof Document) addElements(hash, value.fields);
  else if (value instanceof CodeWithScope) addElements(hash, value.scope.fields);
  else hash.update(rawBytes(value));
}

function addElements(hash: Md5, fields: readonly (readonly [string, Value])[]): void {
  for (const [name, value] of fields) addValue(hash, value, name);
  addInt32(hash, 0);
}

const int64Max = 2n ** 63n - 1n;

/** The whole part as int64: what is too large is the largest, NaN is 0. */
function wholeBytes(value: NumberValue): Uint8Array {
  const cut = truncateNumber(value);
  const double = toDouble(value);
  let whole = cut ?? (double > 0 ? int64Max : double < 0 ? -int64Max - 1n : 0n);
  if (whole > int64Max) whole = int64Max;
  if (whole < -int64Max - 1n) whole = -int64Max - 1n;
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigInt64(0, whole, true);
  return bytes;
}

/** The value as it lies in a document. */
function rawBytes(value: Value): Uint8Array {
  const whole = new BsonWriter(64).writeElement('', value).finishDocument().toBytes();
  return whole.subarray(6, whole.length - 1);
}
