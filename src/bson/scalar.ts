// The BSON types that JavaScript has no exact value for, each a small immutable class: one JavaScript value for one BSON value, so
// that what was read is written back bit for bit. `bsonType` is the code of `$type` and tells the classes apart in a union.
// Byte arrays given to a constructor are kept, not copied; nobody writes to them afterwards.

/** A 64-bit IEEE number. Plain JavaScript numbers are int32. */
export class Double {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }

  get bsonType(): 1 {
    return 1;
  }
}

/** Milliseconds since 1970, the whole int64 range. */
export class DateTime {
  /** Rounded to the nearest double beyond ±2^53; `msBig` is exact. */
  readonly ms: number;
  readonly #exact: bigint | undefined;

  /** A fraction of a millisecond is cut off. */
  constructor(ms: number | bigint) {
    if (typeof ms === 'number') {
      this.ms = Math.trunc(ms);
    } else {
      this.ms = Number(ms);
      if (!Number.isSafeInteger(this.ms)) this.#exact = ms;
    }
  }

  get msBig(): bigint {
    return this.#exact ?? BigInt(this.ms);
  }

  get bsonType(): 9 {
    return 9;
  }
}

/** Bytes with a subtype. For the old subtype 2 `bytes` is the content, without the second length field that the wire has. */
export class Binary {
  readonly subtype: number;
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array, subtype = 0) {
    this.bytes = bytes;
    this.subtype = subtype;
  }

  get bsonType(): 5 {
    return 5;
  }
}

/** A regular expression as it was given: flags keep their order. */
export class Regex {
  readonly pattern: string;
  readonly flags: string;

  constructor(pattern: string, flags = '') {
    this.pattern = pattern;
    this.flags = flags;
  }

  get bsonType(): 11 {
    return 11;
  }
}

/** Two unsigned 32-bit numbers, ordered by seconds, then increment. */
export class Timestamp {
  readonly seconds: number;
  readonly increment: number;

  constructor(seconds: number, increment: number) {
    this.seconds = seconds >>> 0;
    this.increment = increment >>> 0;
  }

  /** Both as one unsigned 64-bit number. */
  toBigInt(): bigint {
    return (BigInt(this.seconds) << 32n) | BigInt(this.increment);
  }

  static fromBigInt(value: bigint): Timestamp {
    return new Timestamp(Number((value >> 32n) & 0xffffffffn), Number(value & 0xffffffffn));
  }

  get bsonType(): 17 {
    return 17;
  }
}

/** JavaScript code. Never run. */
export class Code {
  readonly code: string;

  constructor(code: string) {
    this.code = code;
  }

  get bsonType(): 13 {
    return 13;
  }
}

/** The deprecated symbol type; compares as a string. */
export class BsonSymbol {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  get bsonType(): 14 {
    return 14;
  }
}

/** The deprecated pointer: a namespace and the 12 bytes of an object id. */
export class DbPointer {
  readonly namespace: string;
  readonly id: Uint8Array;

  constructor(namespace: string, id: Uint8Array) {
    this.namespace = namespace;
    this.id = id;
  }

  get bsonType(): 12 {
    return 12;
  }
}

/** The class of `bsonUndefined`. */
export class BsonUndefined {
  get bsonType(): 6 {
    return 6;
  }
}

/** The class of `minKey`. */
export class MinKey {
  get bsonType(): -1 {
    return -1;
  }
}

/** The class of `maxKey`. */
export class MaxKey {
  get bsonType(): 127 {
    return 127;
  }
}

/** The deprecated undefined value: not the same as a missing field, which is JavaScript's undefined. */
export const bsonUndefined: BsonUndefined = new BsonUndefined();
/** Before every other value. */
export const minKey: MinKey = new MinKey();
/** After every other value. */
export const maxKey: MaxKey = new MaxKey();
