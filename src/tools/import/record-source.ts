// The documents of a file, in batches: what a format gives, with the line of each, and the faults met on the way.

import { CommandError } from '../../base/errors.ts';
import { Document, fromExtendedJson, ObjectIdGenerator } from '../../bson/index.ts';
import type { Env, File } from '../../env/index.ts';
import { parseTypedColumn, textOfBytes } from './cell.ts';
import { CsvReader, fieldBytes } from './csv-records.ts';
import type { ImportFault } from './fault.ts';
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

/** Documents read from one chunk. */
export interface ReadBatch {
  readonly documents: Document[];
  readonly lines: number[];
  readonly faults: ImportFault[];
}

/** A format that chunks are given to. */
interface Format {
  /** Takes a chunk (undefined at the end) and adds what is whole now. */
  take(chunk: Uint8Array | undefined, batch: ReadBatch): void;
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

  take(chunk: Uint8Array | undefined, batch: ReadBatch): void {
    const reader = this.#reader;
    reader.push(chunk);
    while (reader.next()) {
      const { record } = reader;
      if (this.#encoder === undefined) {
        this.#encoder = this.#encoderFor(Array.from({ length: record.fields }, (_, i) => textOfBytes(fieldBytes(record, i)) ?? ''));
        continue;
      }
      const row = this.#encoder.encode(record);
      if (row instanceof Document) {
        batch.documents.push(row);
        batch.lines.push(record.line);
      } else batch.faults.push({ line: record.line, message: row.fault });
    }
  }
}

class JsonFormat implements Format {
  readonly #reader: JsonReader;

  constructor(isArray: boolean) {
    this.#reader = new JsonReader(isArray);
  }

  take(chunk: Uint8Array | undefined, batch: ReadBatch): void {
    this.#reader.push(chunk);
    for (let record = this.#reader.next(); record !== undefined; record = this.#reader.next()) {
      const made = documentOf(record.bytes);
      if (made instanceof Document) {
        batch.documents.push(made);
        batch.lines.push(record.line);
      } else batch.faults.push({ line: record.line, message: made });
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

const chunkBytes = 1024 * 1024;

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

  /** The documents of the next chunk; undefined at the end. */
  async next(): Promise<ReadBatch | undefined> {
    if (this.#ended) return undefined;
    const chunk = new Uint8Array(chunkBytes);
    const length = await this.#file.read(chunk, this.#offset);
    this.#offset += length;
    const batch: ReadBatch = { documents: [], lines: [], faults: [] };
    if (length > 0) this.#format.take(chunk.subarray(0, length), batch);
    if (length < chunkBytes) {
      this.#ended = true;
      this.#format.take(undefined, batch);
    }
    return batch;
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}
