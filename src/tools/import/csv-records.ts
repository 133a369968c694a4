// CSV and TSV as records of byte ranges (RFC 4180): quoted fields may hold delimiters, doubled quotes and line ends; lines end in LF or CRLF;
// a byte order mark is passed over. Works on chunks as they come; what is not whole waits for the next. Bytes are not decoded here.

import { concatBytes } from '../../base/bytes.ts';

const quote = 0x22;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
/** There is no closing quote so far. */
const missing = -2;

/** One record: field i is bytes[starts[i], ends[i]); quoted fields with doubled quotes are in `unquoted`. Valid until the next record. */
export interface CsvRecord {
  bytes: Uint8Array;
  fields: number;
  readonly starts: number[];
  readonly ends: number[];
  readonly quoted: boolean[];
  /** Line at which it begins, from 1. */
  line: number;
  /** Trouble with the record's form. */
  fault: string | undefined;
}

/** Splits chunks into records. */
export class CsvReader {
  readonly #delimiter: number;
  readonly #quotes: boolean;
  #rest: Uint8Array = new Uint8Array(0);
  #at: number = 0;
  #line: number = 1;
  #first: boolean = true;
  #ended: boolean = false;
  readonly record: CsvRecord = { bytes: this.#rest, fields: 0, starts: [], ends: [], quoted: [], line: 0, fault: undefined };

  /** `quotes`: whether quotes mean anything; in TSV they do not. */
  constructor(delimiter: number, quotes: boolean) {
    this.#delimiter = delimiter;
    this.#quotes = quotes;
  }

  /** Takes the next chunk; undefined: there is no more. */
  push(chunk: Uint8Array | undefined): void {
    if (chunk === undefined) {
      this.#ended = true;
      return;
    }
    this.#rest = this.#at === this.#rest.length ? chunk : concatBytes([this.#rest.subarray(this.#at), chunk]);
    this.#at = 0;
    if (this.#first && this.#rest.length >= 3) {
      if (this.#rest[0] === 0xef && this.#rest[1] === 0xbb && this.#rest[2] === 0xbf) this.#at = 3;
      this.#first = false;
    }
  }

  /** Makes `record` the next record; false when it is not whole yet (or there is none). Empty lines are passed over. */
  next(): boolean {
    while (this.#at < this.#rest.length && !(this.#first && !this.#ended)) {
      const record = this.record;
      record.bytes = this.#rest;
      record.fields = 0;
      record.fault = undefined;
      record.line = this.#line;
      const end = this.#readFields();
      if (end < 0) return false;
      const empty = record.fields === 1 && record.starts[0] === record.ends[0] && record.quoted[0] === false;
      this.#at = end;
      if (!empty) return true;
    }
    return false;
  }

  /** Reads the fields of the record at the place; the offset behind it, or -1 when it is not whole. */
  #readFields(): number {
    const plain = this.#plainRecord();
    if (plain >= 0) return plain;
    let at = this.#at;
    const line = this.#line;
    for (;;) {
      const end = this.#quotes && this.#rest[at] === quote ? this.#quotedField(at) : this.#plainField(at);
      if (end < 0) {
        this.#line = line;
        return -1;
      }
      const byte = this.#rest[end];
      if (byte === this.#delimiter) {
        at = end + 1;
        continue;
      }
      if (byte === lineFeed) this.#line += 1;
      return byte === undefined ? end : end + 1;
    }
  }

  /** Reads a record that has no quotes and a line end, as nearly all have, in one pass; the offset behind it, or -1 for any other. */
  #plainRecord(): number {
    const { starts, ends, quoted } = this.record;
    const bytes = this.#rest;
    const delimiter = this.#delimiter;
    let fields = 0;
    let start = this.#at;
    for (let at = start; at < bytes.length; at++) {
      const byte = bytes[at];
      if (byte === quote && at === start) return -1;
      if (byte !== delimiter && byte !== lineFeed) continue;
      starts[fields] = start;
      ends[fields] = byte === lineFeed && at > start && bytes[at - 1] === carriageReturn ? at - 1 : at;
      quoted[fields++] = false;
      start = at + 1;
      if (byte === delimiter) continue;
      this.record.fields = fields;
      this.#line += 1;
      return start;
    }
    return -1;
  }

  #add(start: number, end: number, quoted: boolean): void {
    const { record } = this;
    record.starts[record.fields] = start;
    record.ends[record.fields] = end;
    record.quoted[record.fields] = quoted;
    record.fields += 1;
  }

  /** A field without quotes; the offset of what ends it. */
  #plainField(start: number): number {
    const bytes = this.#rest;
    const { length } = bytes;
    let at = start;
    for (; at < length; at++) {
      const byte = bytes[at];
      if (byte === this.#delimiter || byte === lineFeed) break;
    }
    if (at === length && !this.#ended) return -1;
    const end = bytes[at] !== this.#delimiter && at > start && bytes[at - 1] === carriageReturn ? at - 1 : at;
    this.#add(start, end, false);
    return at;
  }

  #quotedField(start: number): number {
    const close = this.#closingQuote(start);
    if (close < 0) return close === missing ? this.#openQuote(start) : -1;
    this.#add(start + 1, close, true);
    return this.#behindQuote(close + 1);
  }

  /** The offset of the quote that closes the field; -1 when it may come, `missing` when there is none so far. */
  #closingQuote(start: number): number {
    const bytes = this.#rest;
    for (let at = start + 1; at < bytes.length; at++) {
      if (bytes[at] === lineFeed) this.#line += 1;
      if (bytes[at] !== quote) continue;
      if (at + 1 >= bytes.length && !this.#ended) return -1;
      if (bytes[at + 1] !== quote) return at;
      at += 1;
    }
    return missing;
  }

  /** What ends a quoted field whose closing quote is before `from`. */
  #behindQuote(from: number): number {
    const bytes = this.#rest;
    if (!this.#ended && from + 1 >= bytes.length) return -1;
    const end = bytes[from] === carriageReturn && bytes[from + 1] === lineFeed ? from + 1 : from;
    if (end >= bytes.length || bytes[end] === this.#delimiter || bytes[end] === lineFeed) return end;
    this.record.fault ??= 'a quoted field goes on behind its closing quote';
    const after = this.#plainEnd(end);
    return after >= bytes.length && !this.#ended ? -1 : after;
  }

  #plainEnd(from: number): number {
    let end = from;
    while (end < this.#rest.length && this.#rest[end] !== this.#delimiter && this.#rest[end] !== lineFeed) end += 1;
    return end;
  }

  /** A quote that is never closed takes the rest of the file. */
  #openQuote(start: number): number {
    if (!this.#ended) return -1;
    this.record.fault = 'a quote is never closed';
    this.#add(start + 1, this.#rest.length, true);
    return this.#rest.length;
  }
}

/** The bytes of a field, doubled quotes made single. */
export function fieldBytes(record: CsvRecord, index: number): Uint8Array {
  const start = record.starts[index] ?? 0;
  const end = record.ends[index] ?? 0;
  const view = record.bytes.subarray(start, end);
  if (record.quoted[index] !== true || !view.includes(quote)) return view;
  const single = new Uint8Array(view.length);
  let length = 0;
  for (let i = 0; i < view.length; i++) {
    single[length++] = view[i] ?? 0;
    if (view[i] === quote) i += 1;
  }
  return single.subarray(0, length);
}
