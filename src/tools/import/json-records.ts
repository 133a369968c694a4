// JSON documents out of chunks of a file: one a line, or any way apart, or the elements of one array. Only where each begins and ends is
// found here; a string may hold anything.

import { concatBytes } from '../../base/bytes.ts';

/** The text of one document, and the line at which it begins. */
export interface JsonRecord {
  readonly bytes: Uint8Array;
  readonly line: number;
}

const open = new Set([0x7b, 0x5b]);
const close = new Set([0x7d, 0x5d]);
const space = new Set([0x20, 0x09, 0x0a, 0x0d, 0x2c]);
const quote = 0x22;
const backslash = 0x5c;
const lineFeed = 0x0a;

/** Splits chunks into documents. */
export class JsonReader {
  readonly #isArray: boolean;
  #rest: Uint8Array = new Uint8Array(0);
  #at: number = 0;
  #line: number = 1;
  #ended: boolean = false;
  #inArray: boolean = false;

  /** `isArray`: the file is one array of documents. */
  constructor(isArray: boolean) {
    this.#isArray = isArray;
  }

  /** Takes the next chunk; undefined: there is no more. */
  push(chunk: Uint8Array | undefined): void {
    if (chunk === undefined) this.#ended = true;
    else this.#rest = this.#at === this.#rest.length ? chunk : concatBytes([this.#rest.subarray(this.#at), chunk]);
    if (chunk !== undefined) this.#at = 0;
  }

  /** The next document; undefined when none is whole yet. At the end what is left is given as it is. */
  next(): JsonRecord | undefined {
    this.#skip();
    if (this.#at >= this.#rest.length) return undefined;
    const end = this.#end();
    if (end < 0) return undefined;
    const record = { bytes: this.#rest.subarray(this.#at, end), line: this.#line };
    for (const byte of record.bytes) if (byte === lineFeed) this.#line += 1;
    this.#at = end;
    return record;
  }

  #skip(): void {
    for (; this.#at < this.#rest.length; this.#at++) {
      const byte = this.#rest[this.#at] as number;
      if (byte === lineFeed) this.#line += 1;
      if (space.has(byte)) continue;
      if (this.#isArray && (byte === 0x5b || byte === 0x5d) && this.#inArray === (byte === 0x5d)) {
        this.#inArray = !this.#inArray;
        continue;
      }
      return;
    }
  }

  /** The offset behind the document at the place, or -1. What is no document ends with its line. */
  #end(): number {
    let depth = 0;
    for (let at = this.#at; at < this.#rest.length; at++) {
      const byte = this.#rest[at] as number;
      if (byte === quote) {
        at = this.#stringEnd(at);
        if (at < 0) break;
      } else if (open.has(byte)) depth += 1;
      else if (close.has(byte)) {
        depth -= 1;
        if (depth <= 0) return at + 1;
      } else if (byte === lineFeed && depth === 0) return at;
    }
    return this.#ended ? this.#rest.length : -1;
  }

  #stringEnd(start: number): number {
    for (let at = start + 1; at < this.#rest.length; at++) {
      if (this.#rest[at] === backslash) at += 1;
      else if (this.#rest[at] === quote) return at;
    }
    return -1;
  }
}
