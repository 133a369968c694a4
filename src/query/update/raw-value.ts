// A value as it lies in a document, decoded only when an operator asks; and values encoded as they would lie there.

import { bsonType, decodeValue, Document, Double, elementValue, readDouble, readInt32, readInt64 } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';

/** A value in raw bytes: its type byte, bytes[start, end). */
export class RawValue {
  readonly bytes: Uint8Array;
  readonly type: number;
  readonly start: number;
  readonly end: number;

  constructor(bytes: Uint8Array, type: number, start: number, end: number) {
    this.bytes = bytes;
    this.type = type;
    this.start = start;
    this.end = end;
  }

  /** The typed value. */
  decode(): Value {
    return decodeValue(this.bytes, this.type, this.start);
  }

  get isArray(): boolean {
    return this.type === bsonType.array;
  }

  /** Whether both have the same type and the same bytes: what an update calls no change. */
  isIdentical(other: RawValue): boolean {
    const length = this.end - this.start;
    if (this.type !== other.type || other.end - other.start !== length) return false;
    for (let i = 0; i < length; i++) if (this.bytes[this.start + i] !== other.bytes[other.start + i]) return false;
    return true;
  }

  /** The bytes of the value alone. */
  toBytes(): Uint8Array {
    return this.bytes.subarray(this.start, this.end);
  }
}

const NAME = 'v';

/** A value as it lies on the wire. */
export function encodeValue(value: Value): RawValue {
  const { bytes } = Document.fromEntries([[NAME, value]]);
  return new RawValue(bytes, bytes[4] ?? 0, elementValue(bytes, 4), bytes.length - 1);
}

/** Whether a value would lie on the wire just as the raw one does. */
export function isSame(value: Value, current: RawValue): boolean {
  if (typeof value === 'number') return current.type === bsonType.int && readInt32(current.bytes, current.start) === value;
  if (typeof value === 'bigint') return current.type === bsonType.long && readInt64(current.bytes, current.start) === value;
  if (value instanceof Double) {
    return current.type === bsonType.double && Object.is(readDouble(current.bytes, current.start), value.value);
  }
  return encodeValue(value).isIdentical(current);
}
