// The first byte of each encoded value: classes in BSON's order, numbers cut finer by sign and size. No byte is 00, so that a zero can
// end documents, arrays and text.

import { typeClass } from './compare.ts';
import type { TypeClass } from './compare.ts';

export const keyType = {
  minKey: 0x08,
  undefined: 0x0c,
  null: 0x10,
  nan: 0x20,
  negativeInfinity: 0x21,
  negativeLarge: 0x22, // to -2^63
  negativeInteger: 0x2b, // less 1 to 8, the bytes of the integer part
  negativeFraction: 0x2b, // above -1
  zero: 0x2c,
  positiveFraction: 0x2d,
  positiveInteger: 0x2d, // plus 1 to 8
  positiveLarge: 0x36,
  infinity: 0x37,
  string: 0x40,
  object: 0x48,
  array: 0x50,
  binData: 0x58,
  objectId: 0x60,
  false: 0x68,
  true: 0x69,
  date: 0x70,
  timestamp: 0x78,
  regex: 0x80,
  dbPointer: 0x88,
  javascript: 0x90,
  javascriptWithScope: 0x98,
  maxKey: 0xf0,
} as const;

/** First and last type byte of each class, by the class's number. */
const bounds = {
  [typeClass.minKey]: [keyType.minKey, keyType.minKey],
  [typeClass.undefined]: [keyType.undefined, keyType.undefined],
  [typeClass.null]: [keyType.null, keyType.null],
  [typeClass.number]: [keyType.nan, keyType.infinity],
  [typeClass.string]: [keyType.string, keyType.string],
  [typeClass.object]: [keyType.object, keyType.object],
  [typeClass.array]: [keyType.array, keyType.array],
  [typeClass.binData]: [keyType.binData, keyType.binData],
  [typeClass.objectId]: [keyType.objectId, keyType.objectId],
  [typeClass.bool]: [keyType.false, keyType.true],
  [typeClass.date]: [keyType.date, keyType.date],
  [typeClass.timestamp]: [keyType.timestamp, keyType.timestamp],
  [typeClass.regex]: [keyType.regex, keyType.regex],
  [typeClass.dbPointer]: [keyType.dbPointer, keyType.dbPointer],
  [typeClass.javascript]: [keyType.javascript, keyType.javascript],
  [typeClass.javascriptWithScope]: [keyType.javascriptWithScope, keyType.javascriptWithScope],
  [typeClass.maxKey]: [keyType.maxKey, keyType.maxKey],
} as const satisfies Record<TypeClass, readonly [number, number]>;

/** First and last type byte of the values of a class. */
export function classBounds(of: TypeClass): readonly [number, number] {
  return bounds[of];
}
