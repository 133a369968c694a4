// The one walker that decides whether bytes are BSON that may come in. It trusts no length: every end is checked against the end of
// what encloses it, depth is counted here and nowhere else, and after it the readers of raw.ts and document.ts need no checks.
// Iterative, so that no input can exhaust the stack. Follows bsonspec.org 1.1; text must be UTF-8.

import { CommandError } from '../base/errors.ts';
import { isUtf8Range } from '../base/text.ts';
import { bsonType, decodeName, fixedValueSize, readInt32 } from './raw.ts';

/** Levels of nesting a stored document may have; the document itself is the first. */
export const storedDepthMax = 100;
/** Levels of nesting that are read at all, in commands. */
const parsedDepthMax = 201;

/** What validateDocument allows. */
export interface ValidationLimits {
  /** Levels of documents and arrays, the outermost counted. */
  readonly depth: number;
}

const parsedLimits: ValidationLimits = { depth: parsedDepthMax };

/**
 * Returns if one valid document takes exactly bytes[start, end); otherwise throws CommandError 22 InvalidBSON, or 15 Overflow where
 * the nesting is too deep. Reads nothing outside of the range.
 */
export function validateDocument(
  bytes: Uint8Array,
  start: number,
  end: number,
  limits: ValidationLimits = parsedLimits,
): void {
  shared.walk(bytes, start, end, limits.depth);
}

function invalid(reason: string): CommandError {
  return new CommandError(22, 'InvalidBSON', `Invalid BSON: ${reason}`);
}

const nothing = new Uint8Array(0);

/** Walks one document at a time: there are thousands in a batch. */
class Walker {
  #bytes: Uint8Array = nothing;
  #depthMax: number = 0;
  /** The offsets behind the documents that are open, outermost first. */
  readonly #ends: number[] = [];
  #at = 0;

  walk(bytes: Uint8Array, start: number, end: number, depthMax: number): void {
    this.#bytes = bytes;
    this.#depthMax = depthMax;
    this.#ends.length = 0;
    try {
      this.#walk(start, end);
    } finally {
      this.#bytes = nothing;
    }
  }

  #walk(start: number, end: number): void {
    if (start < 0 || end > this.#bytes.length || end < start) throw invalid('the range is not there');
    this.#at = start;
    this.#open(end, true);
    while (this.#ends.length > 0) {
      const close = (this.#ends[this.#ends.length - 1] as number) - 1;
      if (this.#at === close) {
        this.#at = close + 1;
        this.#ends.pop();
      } else {
        this.#element(close);
      }
    }
  }

  /** Enters the document at the current offset. It may reach to `limit`, and must if `exact`. */
  #open(limit: number, exact: boolean): void {
    const size = this.#length(limit);
    const end = this.#at + size;
    if (size < 5 || end > limit || (exact && end !== limit)) throw invalid('the length of a document is wrong');
    if (this.#bytes[end - 1] !== 0) throw invalid('a document does not end in a zero');
    if (this.#ends.length >= this.#depthMax) {
      throw new CommandError(15, 'Overflow', `BSONObj exceeds maximum nested object depth: ${String(this.#depthMax)}`);
    }
    this.#ends.push(end);
    this.#at += 4;
  }

  /** The int32 at the current offset, which must end before `limit`. */
  #length(limit: number): number {
    if (this.#at + 4 > limit) throw invalid('a length is cut off');
    return readInt32(this.#bytes, this.#at);
  }

  /** Goes over the element at the current offset, or into its document. `close` is the closing zero of what encloses it. */
  #element(close: number): void {
    const type = this.#bytes[this.#at] as number;
    const nameAt = this.#at + 1;
    this.#at = nameAt;
    this.#cstring(close);
    const size = fixedValueSize(type);
    if (size >= 0) {
      if (this.#at + size > close) throw this.#fault('is cut off', nameAt);
      if (type === bsonType.bool && (this.#bytes[this.#at] as number) > 1) throw this.#fault('is neither false nor true', nameAt);
      this.#at += size;
    } else {
      this.#variable(type, close, nameAt);
    }
  }

  #variable(type: number, close: number, nameAt: number): void {
    switch (type) {
      case bsonType.string:
      case bsonType.javascript:
      case bsonType.symbol:
        this.#string(close, nameAt);
        break;
      case bsonType.object:
      case bsonType.array:
        this.#open(close, false);
        break;
      case bsonType.binData:
        this.#binary(close, nameAt);
        break;
      case bsonType.regex:
        this.#cstring(close);
        this.#cstring(close);
        break;
      case bsonType.dbPointer:
        this.#string(close, nameAt);
        if (this.#at + 12 > close) throw this.#fault('is cut off', nameAt);
        this.#at += 12;
        break;
      case bsonType.javascriptWithScope:
        this.#codeWithScope(close, nameAt);
        break;
      default:
        throw this.#fault(`has the unknown type ${String(type)}`, nameAt);
    }
  }

  #cstring(close: number): void {
    const start = this.#at;
    let end = start;
    let high = 0;
    while (end < close && this.#bytes[end] !== 0) {
      high |= this.#bytes[end] as number;
      end++;
    }
    if (end === close) throw invalid('a field name or regular expression has no end');
    if (high >= 0x80 && !isUtf8Range(this.#bytes, start, end)) throw invalid('a field name or regular expression is not UTF-8');
    this.#at = end + 1;
  }

  #string(close: number, nameAt: number): void {
    const length = this.#length(close);
    const start = this.#at + 4;
    if (length < 1 || length > close - start) throw this.#fault('has a wrong length', nameAt);
    const end = start + length - 1;
    if (this.#bytes[end] !== 0) throw this.#fault('does not end in a zero', nameAt);
    if (!isUtf8Range(this.#bytes, start, end)) throw this.#fault('is not UTF-8', nameAt);
    this.#at = end + 1;
  }

  #binary(close: number, nameAt: number): void {
    const length = this.#length(close);
    const start = this.#at + 5;
    if (length < 0 || length > close - start) throw this.#fault('has a wrong length', nameAt);
    if (this.#bytes[start - 1] === 2 && (length < 4 || readInt32(this.#bytes, start) !== length - 4)) {
      throw this.#fault('has a wrong inner length', nameAt);
    }
    this.#at = start + length;
  }

  #codeWithScope(close: number, nameAt: number): void {
    const total = this.#length(close);
    const end = this.#at + total;
    if (total < 14 || end > close) throw this.#fault('has a wrong length', nameAt);
    this.#at += 4;
    this.#string(end, nameAt);
    this.#open(end, true);
  }

  #fault(what: string, nameAt: number): CommandError {
    const bytes = this.#bytes;
    let end = nameAt;
    while (bytes[end] !== 0) end++;
    return invalid(`the field '${decodeName(bytes, nameAt, end)}' ${what}`);
  }
}

const shared = new Walker();
