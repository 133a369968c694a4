// BsonWriter: builds a document's bytes without intermediate objects, for replies and for documents put together from raw parts.

import { AssertionError } from '../base/errors.ts';
import { ByteSink } from './byte-sink.ts';
import { Document, indexName, writeElement } from './document.ts';
import type { Value } from './document.ts';
import { bsonType, writeInt32 } from './raw.ts';

/** A document of so many bytes is given in the memory that it was written into. */
const givenBytesMin = 1024 * 1024;

/** Where a writer was. */
export interface WriterMark {
  readonly length: number;
  readonly open: number;
}

/** Writes one document from front to back. Names of array elements are given by the caller, see `item`. */
export class BsonWriter {
  #sink: ByteSink;
  /** Where each open document began. */
  readonly #open: number[] = [0];

  constructor(capacity = 256) {
    this.#sink = new ByteSink(capacity);
    this.#sink.int32(0);
  }

  /** Begins a new document in the same memory, whatever was written before. */
  reset(): this {
    this.#sink.length = 4;
    this.#open.length = 0;
    this.#open.push(0);
    return this;
  }

  /** A place to which `backTo` takes the document: nothing that is open there may be ended before. */
  get mark(): WriterMark {
    return { length: this.#sink.length, open: this.#open.length };
  }

  /** Forgets what was written behind the mark. */
  backTo({ length, open }: WriterMark): void {
    this.#sink.length = length;
    this.#open.length = open;
  }

  /** Appends the elements of another document that is being written. */
  copyWritten(other: BsonWriter): this {
    this.#sink.range(other.#sink.bytes, 4, other.#sink.length);
    return this;
  }

  /** Bytes written so far, the ends of open documents not counted. */
  get byteLength(): number {
    return this.#sink.length;
  }

  writeElement(name: string, value: Value): this {
    writeElement(this.#sink, name, value);
    return this;
  }

  /** A document from raw bytes[start, end). */
  writeDocument(name: string, bytes: Uint8Array, start: number, end: number): this {
    return this.writeRaw(name, bsonType.object, bytes.subarray(start, end));
  }

  /** A value as it lies on the wire. */
  writeRaw(name: string, type: number, value: Uint8Array): this {
    this.#sink.byte(type & 0xff);
    this.#sink.cstring(name);
    this.#sink.range(value, 0, value.length);
    return this;
  }

  /** A value as it lies in bytes[start, end). */
  writeRange(name: string, type: number, bytes: Uint8Array, start: number, end: number): this {
    this.#sink.byte(type & 0xff);
    this.#sink.cstring(name);
    this.#sink.range(bytes, start, end);
    return this;
  }

  /** Whole elements (type, name, value, any number of them) from another document's bytes. */
  copyElements(bytes: Uint8Array, start: number, end: number): this {
    this.#sink.range(bytes, start, end);
    return this;
  }

  startDocument(name: string): this {
    return this.#begin(name, bsonType.object);
  }

  startArray(name: string): this {
    return this.#begin(name, bsonType.array);
  }

  /** Ends the innermost document or array that is open. */
  end(): this {
    const at = this.#open.pop();
    if (at === undefined || this.#open.length === 0) throw new AssertionError('no document is open');
    this.#close(at);
    return this;
  }

  /** Ends the whole. Bytes of their own; the writer is done with. */
  finish(): Uint8Array {
    if (this.#open.length !== 1) throw new AssertionError('a document is still open');
    this.#open.pop();
    this.#close(0);
    const sink = this.#sink;
    if (sink.length < givenBytesMin) return sink.toBytes();
    this.#sink = new ByteSink();
    this.#sink.int32(0);
    return sink.giveBytes();
  }

  finishDocument(): Document {
    return Document.fromBytes(this.finish());
  }

  #begin(name: string, type: number): this {
    this.#sink.byte(type);
    this.#sink.cstring(name);
    this.#open.push(this.#sink.length);
    this.#sink.int32(0);
    return this;
  }

  #close(at: number): void {
    this.#sink.byte(0);
    writeInt32(this.#sink.bytes, at, this.#sink.length - at);
  }
}

/** The name of element `index` of an array. */
export const item: (index: number) => string = indexName;
