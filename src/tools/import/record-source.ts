// The documents of a file, in batches: what a format gives, with the line of each, and the faults met on the way.
// A batch ends where it is full, whatever the chunks are that the file is read in.

import { CommandError } from '../../base/errors.ts';
import { Document, fromExtendedJson, ObjectIdGenerator } from '../../bson/index.ts';
import type { Env, File } from '../../env/index.ts';
import { parseTypedColumn, textOfBytes } from './cell.ts';
import { CsvReader, fieldBytes } from './csv-records.ts';
import type { DocumentBatch } from './document-batch.ts';
import { JsonReader } from './json-records.ts';
import type { Column, ParseGrace } from './row-encoder.ts';
import { RowEncoder } from './row-encoder.ts';

export interface FormatOptions {
  readonly type: 'csv' | 'tsv' | 'json';
  /** Columns by name, unless the first line has them. */
  readonly fields: readonly string[] | undefined;
  readonly headerLine: boolean;
  readonly columnsHaveTypes: boolean;
  readonly ignoreBlanks: boolean;
  readonly grace: ParseGrace;
  readonly jsonArray: boolean;
}

/** A format that chunks are given to. */
interface Format {
  /** Gives it the next chunk; undefined: there is no more. Only when it has nothing whole left of those before. */
  push(chunk: Uint8Array | undefined): void;
  /** Adds what is whole until the batch is full. */
  take(batch: DocumentBatch): void;
}

class CsvFormat implements Format {
  readonly #options: FormatOptions;
  readonly #ids: ObjectIdGenerator;
  readonly #reader: CsvReader;
  #encoder: RowEncoder | undefined;

  constructor(options: FormatOptions, ids: ObjectIdGenerator) {
    this.#options = options;
    this.#ids = ids;
    this.#reader = new CsvReader(options.type === 'csv' ? 0x2c : 0x09, options.type === 'csv');
    if (options.fields !== undefined) this.#encoder = this.#encoderFor(options.fields);
  }

  #encoderFor(names: readonly string[]): RowEncoder {
    const { columnsHaveTypes, ignoreBlanks, grace } = this.#options;
    const columns: Column[] = names.map((name) => {
      if (name === '') throw new CommandError(9, 'FailedToParse', 'the header has a column without a name');
      if (!columnsHaveTypes) return { name, type: undefined };
      const typed = parseTypedColumn(name);
      if (typed === undefined) throw new CommandError(9, 'FailedToParse', `the header's ${JSON.stringify(name)} is not a name with a type, as age.int32()`);
      return typed;
    });
    return new RowEncoder({ columns, ignoreBlanks, grace }, this.#ids);
  }

  push(chunk: Uint8Array | undefined): void {
    this.#reader.push(chunk);
  }

  take(batch: DocumentBatch): void {
    const reader = this.#reader;
    while (!batch.isFull && reader.next()) {
      const { record } = reader;
      if (this.#encoder === undefined) {
        this.#encoder = this.#encoderFor(Array.from({ length: record.fields }, (_, i) => textOfBytes(fieldBytes(record, i)) ?? ''));
        continue;
      }
      const wrong = this.#encoder.encode(record, batch);
      if (wrong !== undefined) batch.faults.push({ line: record.line, message: wrong.fault });
    }
  }
}

class JsonFormat implements Format {
  readonly #reader: JsonReader;

  constructor(isArray: boolean) {
    this.#reader = new JsonReader(isArray);
  }

  push(chunk: Uint8Array | undefined): void {
    this.#reader.push(chunk);
  }

  take(batch: DocumentBatch): void {
    while (!batch.isFull) {
      const record = this.#reader.next();
      if (record === undefined) return;
      const made = documentOf(record.bytes);
      if (made instanceof Document) batch.add(made.toBytes(), record.line);
      else batch.faults.push({ line: record.line, message: made });
    }
  }
}

function documentOf(bytes: Uint8Array): Document | string {
  const text = textOfBytes(bytes);
  if (text === undefined) return 'not UTF-8';
  try {
    const value = fromExtendedJson(text);
    return value instanceof Document ? value : 'not a document';
  } catch (error) {
    if (error instanceof CommandError) return error.message;
    throw error;
  }
}

const chunkBytes = 256 * 1024;

/** Reads a file as documents. */
export class RecordSource {
  readonly #file: File;
  readonly #format: Format;
  readonly size: number;
  #offset: number = 0;
  #ended: boolean = false;

  private constructor(file: File, size: number, format: Format) {
    this.#file = file;
    this.size = size;
    this.#format = format;
  }

  /** Opens a file; `io` when it is not there. */
  static async open(env: Env, path: string, options: FormatOptions): Promise<RecordSource> {
    const file = await env.files.open(path, 'read');
    const format = options.type === 'json' ? new JsonFormat(options.jsonArray) : new CsvFormat(options, new ObjectIdGenerator({ clock: env.clock, random: env.random }));
    return new RecordSource(file, await file.size(), format);
  }

  /** Bytes read so far. */
  get offset(): number {
    return this.#offset;
  }

  /** Fills an empty batch with what comes next; whether there was anything, be it faults. */
  async fill(batch: DocumentBatch): Promise<boolean> {
    for (;;) {
      this.#format.take(batch);
      if (batch.isFull) return true;
      if (this.#ended) return batch.count > 0 || batch.faults.length > 0;
      await this.#readChunk();
    }
  }

  async #readChunk(): Promise<void> {
    if (this.#offset >= this.size) {
      this.#ended = true;
      this.#format.push(undefined);
      return;
    }
    const chunk = new Uint8Array(Math.min(chunkBytes, this.size - this.#offset));
    const length = await this.#file.read(chunk, this.#offset);
    this.#offset = length < chunk.length ? this.size : this.#offset + length;
    if (length > 0) this.#format.push(chunk.subarray(0, length));
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}
