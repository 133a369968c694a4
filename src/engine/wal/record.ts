// The record of one commit: every message, every stated change of totals, every dictionary that comes or goes. A table of tagged parts, so
// that a part of a kind that this program does not know is seen and refused.

import { ByteReader } from '../../base/byte-reader.ts';
import { ByteWriter } from '../../base/byte-writer.ts';
import { EngineError } from '../../base/errors.ts';
import type { CompressionName, DictionaryOptions } from '../types.ts';

const tags = { put: 0, remove: 1, count: 4, create: 5, drop: 6 } as const;

const compressions: readonly CompressionName[] = ['none', 'lz4', 'zlib', 'zstd'];

/** Options of a dictionary as files keep them. */
export function writeDictionaryOptions(writer: ByteWriter, options: DictionaryOptions): void {
  writer.u8(compressions.indexOf(options.compression));
  writer.varint(options.pageBytes);
  writer.varint(options.readPageBytes);
  writer.varint(options.fanout);
}

/** Reads what writeDictionaryOptions wrote; a compression that this program does not know is EngineError 'format'. */
export function readDictionaryOptions(reader: ByteReader): DictionaryOptions {
  const method = reader.u8();
  const compression = compressions[method];
  if (compression === undefined) throw new EngineError('format', `a dictionary with unknown compression ${method}`);
  return { compression, pageBytes: reader.varint(), readPageBytes: reader.varint(), fanout: reader.varint() };
}

/** Writes the parts of a record; `body` gives a copy. */
export class RecordWriter {
  readonly #writer: ByteWriter = new ByteWriter(512);

  /** A message of kind 0 (put) or 1 (remove). */
  message(dictionary: number, kind: number, key: Uint8Array, value: Uint8Array): void {
    const writer = this.#writer;
    writer.u8(kind === 0 ? tags.put : tags.remove);
    writer.varint(dictionary);
    writer.varint(key.length);
    writer.append(key);
    if (kind !== 0) return;
    writer.varint(value.length);
    writer.append(value);
  }

  count(dictionary: number, rows: number, bytes: number): void {
    this.#writer.u8(tags.count);
    this.#writer.varint(dictionary);
    this.#writer.f64(rows);
    this.#writer.f64(bytes);
  }

  create(dictionary: number, options: DictionaryOptions): void {
    this.#writer.u8(tags.create);
    this.#writer.varint(dictionary);
    writeDictionaryOptions(this.#writer, options);
  }

  drop(dictionary: number): void {
    this.#writer.u8(tags.drop);
    this.#writer.varint(dictionary);
  }

  body(): Uint8Array {
    return this.#writer.bytes().slice();
  }
}

/** What a record says, part by part, in the order written. Keys and values are views on the record. */
export interface RecordVisitor {
  message(dictionary: number, kind: number, key: Uint8Array, value: Uint8Array): void;
  count(dictionary: number, rows: number, bytes: number): void;
  create(dictionary: number, options: DictionaryOptions): void;
  drop(dictionary: number): void;
}

const nothing = new Uint8Array(0);

const readers: ReadonlyMap<number, (reader: ByteReader, visitor: RecordVisitor) => void> = new Map([
  [tags.put, (reader, visitor) => {
    const dictionary = reader.varint();
    const key = reader.view(reader.varint());
    visitor.message(dictionary, 0, key, reader.view(reader.varint()));
  }],
  [tags.remove, (reader, visitor) => visitor.message(reader.varint(), 1, reader.view(reader.varint()), nothing)],
  [tags.count, (reader, visitor) => visitor.count(reader.varint(), reader.f64(), reader.f64())],
  [tags.create, (reader, visitor) => visitor.create(reader.varint(), readDictionaryOptions(reader))],
  [tags.drop, (reader, visitor) => visitor.drop(reader.varint())],
]);

/** Reads a record that RecordWriter wrote, a slice at a time. */
export class RecordReader {
  readonly #reader: ByteReader;

  constructor(body: Uint8Array) {
    this.#reader = new ByteReader(body);
  }

  /** Gives up to `parts` parts to the visitor; true when the record is at its end. An unknown part is EngineError `format`. */
  read(visitor: RecordVisitor, parts: number): boolean {
    const reader = this.#reader;
    for (let left = parts; left > 0 && reader.remaining > 0; left--) {
      const tag = reader.u8();
      const read = readers.get(tag);
      if (read === undefined) throw new EngineError('format', `a log record with an unknown part ${tag}`);
      read(reader, visitor);
    }
    return reader.remaining === 0;
  }
}
