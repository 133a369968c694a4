// ObjectId: 12 bytes, four of seconds, five of a process's random number, three of a counter, all big-endian, as the BSON manual
// page describes. The generator takes time and randomness from its caller, because this layer has neither.

import { compareBytes, equalBytes } from '../base/bytes.ts';
import { AssertionError } from '../base/errors.ts';

const hexDigits = '0123456789abcdef';

/** The 12 bytes that most documents are known by. */
export class ObjectId {
  readonly bytes: Uint8Array;

  /** Keeps `bytes`, which must be 12. */
  constructor(bytes: Uint8Array) {
    if (bytes.length !== 12) throw new AssertionError('an ObjectId has 12 bytes');
    this.bytes = bytes;
  }

  /** From 24 hex digits; undefined if `text` is anything else. */
  static parse(text: string): ObjectId | undefined {
    return /^[0-9a-fA-F]{24}$/.test(text) ? ObjectId.from(text) : undefined;
  }

  /** From 24 hex digits or a copy of 12 bytes. Anything else is a bug of the caller: use `parse` for what users give. */
  static from(source: string | Uint8Array): ObjectId {
    if (typeof source !== 'string') return new ObjectId(source.slice());
    const bytes = new Uint8Array(12);
    if (source.length !== 24) throw new AssertionError('an ObjectId has 24 hex digits');
    for (let i = 0; i < 12; i++) bytes[i] = Number.parseInt(source.slice(2 * i, 2 * i + 2), 16);
    return new ObjectId(bytes);
  }

  /** Seconds since 1970 when it was made. */
  get seconds(): number {
    const [a = 0, b = 0, c = 0, d = 0] = this.bytes;
    return a * 0x1000000 + b * 0x10000 + c * 0x100 + d;
  }

  toHexString(): string {
    let text = '';
    for (const byte of this.bytes) text += (hexDigits[byte >> 4] as string) + (hexDigits[byte & 15] as string);
    return text;
  }

  equals(other: ObjectId): boolean {
    return equalBytes(this.bytes, other.bytes);
  }

  compare(other: ObjectId): number {
    return compareBytes(this.bytes, other.bytes);
  }

  get bsonType(): 7 {
    return 7;
  }
}

/** What a generator needs of the outside world; `Env` has both. */
export interface ObjectIdSources {
  readonly clock: { nowMs(): number };
  readonly random: { bytes(count: number): Uint8Array };
}

/** Makes ObjectIds that differ from each other, and from other processes' by five random bytes. */
export class ObjectIdGenerator {
  readonly #clock: { nowMs(): number };
  readonly #process: Uint8Array;
  #counter: number;

  constructor(sources: ObjectIdSources) {
    this.#clock = sources.clock;
    const seed = sources.random.bytes(8);
    this.#process = seed.slice(0, 5);
    this.#counter = ((seed[5] as number) << 16) | ((seed[6] as number) << 8) | (seed[7] as number);
  }

  next(): ObjectId {
    const bytes = new Uint8Array(12);
    this.writeNext(bytes, 0);
    return new ObjectId(bytes);
  }

  /** Writes the bytes of the next one to `at`. */
  writeNext(bytes: Uint8Array, at: number): void {
    const seconds = Math.floor(this.#clock.nowMs() / 1000);
    for (let i = 0; i < 4; i++) bytes[at + i] = seconds >>> (24 - 8 * i);
    for (let i = 0; i < 5; i++) bytes[at + 4 + i] = this.#process[i] as number;
    this.#counter = (this.#counter + 1) & 0xffffff;
    for (let i = 0; i < 3; i++) bytes[at + 9 + i] = this.#counter >>> (16 - 8 * i);
  }
}
