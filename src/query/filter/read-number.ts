// Numbers read where they lie in a document.

import { bsonType, decodeValue, Double, isNumber, readDouble, readInt32, readInt64 } from '../../bson/index.ts';
import type { NumberValue } from '../../bson/index.ts';

/** The number in a document where it lies, or undefined if the type byte is not a number's. */
export function readNumber(bytes: Uint8Array, type: number, at: number): NumberValue | undefined {
  switch (type) {
    case bsonType.int:
      return readInt32(bytes, at);
    case bsonType.double:
      return new Double(readDouble(bytes, at));
    case bsonType.long:
      return readInt64(bytes, at);
    case bsonType.decimal: {
      const value = decodeValue(bytes, type, at);
      return isNumber(value) ? value : undefined;
    }
    default:
      return undefined;
  }
}
