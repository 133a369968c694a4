// The record of one commit: every message, every stated change of totals, every dictionary that comes or goes. A table of tagged parts, so
// that a part of a kind that this program does not know is seen and refused.

import { must } from '../../base/assert.ts';
import { pooledBytes, viewOf } from '../../base/bytes.ts';
import { ByteReader } from '../../base/byte-reader.ts';
import { ByteWriter } from '../../base/byte-writer.ts';
import { EngineError } from '../../base/errors.ts';
import type { CompressionName, DictionaryOptions } from '../types.ts';

const tags = { put: 0, remove: 1, rangeDelete: 2, spill: 3, count: 4, create: 5, drop: 6, update: 7, reference: 8, move: 9, createWithBlobs: 10, puts: 11 } as const;

/** Kinds of messages as run/message.ts has them, and the tag of each. */
const kinds = { put: 0, remove: 1, update: 3, reference: 4 } as const;
const tagsOfKinds: ReadonlyMap<number, number> = new Map<number, number>([
  [kinds.put, tags.put], [kinds.remove, tags.remove], [kinds.update, tags.update], [kinds.reference, tags.reference],
]);

const compressions: readonly CompressionName[] = ['none', 'lz4', 'zlib', 'zstd'];

/** Options of a dictionary as files keep them that do not know large values. */
function writeDictionaryOptions(writer: ByteWriter, options: DictionaryOptions): void {
  writer.u8(compressions.indexOf(options.compression));
  writer.varint(options.pageBytes);
  writer.varint(options.readPageBytes);
  writer.varint(options.fanout);
}

/** Options as those keep them that know large values. */
export function writeAllDictionaryOptions(writer: ByteWriter, options: DictionaryOptions): void {
  writeDictionaryOptions(writer, options);
  writer.varint(options.largeValueBytes === undefined ? 0 : options.largeValueBytes + 1);
}

/** Reads what writeAllDictionaryOptions wrote. */
export function readAllDictionaryOptions(reader: ByteReader): DictionaryOptions {
  const options = readDictionaryOptions(reader);
  const large = reader.varint();
  return large === 0 ? options : { ...options, largeValueBytes: large - 1 };
}

/** Reads what writeDictionaryOptions wrote; a compression that this program does not know is EngineError 'format'. */
export function readDictionaryOptions(reader: ByteReader): DictionaryOptions {
  const method = reader.u8();
  const compression = compressions[method];
  if (compression === undefined) throw new EngineError('format', `a dictionary with unknown compression ${method}`);
  return { compression, pageBytes: reader.varint(), readPageBytes: reader.varint(), fanout: reader.varint() };
}

/** Bytes of a stamp. */
const stampBytes = 8;
const noStamp = new Uint8Array(stampBytes);

const keptBytes = 1024 * 1024;
/** Memory of records of at least so many bytes is used again, and so many are kept: a load would ask the system for it with each batch. */
const spareBytesMin = 32 * 1024;
const sparesMax = 2;

/** Writes the parts of a record; `body` gives a copy. */
export class RecordWriter {
  #writer: ByteWriter = new ByteWriter(512);
  /** Where stamps are to be put. */
  #places: number[] = [];
  readonly #spares: Uint8Array[] = [];

  /** Begins a record; what was written before is forgotten. Memory stays, unless a rare large record has made it grow much. */
  begin(): void {
    if (this.#writer.length > keptBytes) this.#writer = new ByteWriter(512);
    this.#writer.reset();
    this.#places = [];
  }

  /** A message; its seq is the record's. */
  message(dictionary: number, message: MessageSlice): void {
    const writer = this.#writer;
    writer.u8(message.kind === kinds.put ? tags.put : must(tagsOfKinds.get(message.kind), 'a kind of message that is logged'));
    writer.varint(dictionary);
    writer.varint(message.keyEnd - message.keyStart);
    writer.appendFrom(message.view, message.keyStart, message.keyEnd);
    if (message.kind === kinds.remove) return;
    writer.varint(message.valueEnd - message.valueStart);
    writer.appendFrom(message.view, message.valueStart, message.valueEnd);
  }

  /** Puts [from, to) of some that lie one behind the other in memory: their lengths, then their bytes in one copy. */
  puts(dictionary: number, puts: ManyPuts, from: number, to: number): void {
    const writer = this.#writer;
    writer.u8(tags.puts);
    writer.varint(dictionary);
    writer.varint(to - from);
    for (let entry = from; entry < to; entry++) {
      writer.varint(puts.keyBytes(entry));
      writer.varint(puts.valueBytes(entry));
    }
    writer.appendFrom(puts.view, puts.start(from), puts.start(to - 1) + puts.keyBytes(to - 1) + puts.valueBytes(to - 1));
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#writer.length;
  }

  /** A reference to a value that was put before and lies elsewhere now. */
  move(dictionary: number, key: Uint8Array, reference: Uint8Array): void {
    const writer = this.#writer;
    writer.u8(tags.move);
    writer.varint(dictionary);
    for (const bytes of [key, reference]) {
      writer.varint(bytes.length);
      writer.append(bytes);
    }
  }

  /** A range delete; its seq is the record's. */
  rangeDelete(dictionary: number, { from, to }: BoundedRange): void {
    const writer = this.#writer;
    writer.u8(tags.rangeDelete);
    writer.varint(dictionary);
    writer.u8((from === undefined ? 0 : 1) | (to === undefined ? 0 : 2));
    for (const bound of [from, to]) {
      if (bound === undefined) continue;
      writer.varint(bound.length);
      writer.append(bound);
    }
  }

  /** A put under a key that begins with a stamp; `place` is the rest of the key. Gives the bytes of key and what is written of the value. */
  stampedRow(dictionary: number, place: number, { bytes, isReference }: { readonly bytes: Uint8Array; readonly isReference: boolean }): number {
    const writer = this.#writer;
    writer.u8(isReference ? tags.reference : tags.put);
    writer.varint(dictionary);
    writer.varint(stampBytes + 2);
    this.#places.push(writer.length);
    writer.append(noStamp, 0, stampBytes);
    writer.u8(place >>> 8);
    writer.u8(place & 0xff);
    writer.varint(bytes.length);
    writer.append(bytes);
    return stampBytes + 2 + bytes.length;
  }

  /** Where in the body stamps are to be put. */
  get stampPlaces(): readonly number[] {
    return this.#places;
  }

  /** What the commit spilled of a dictionary, known to the checkpoint before it; it comes before the dictionary's other parts. */
  spill(dictionary: number, number: number): void {
    this.#writer.u8(tags.spill);
    this.#writer.varint(dictionary);
    this.#writer.varint(number);
  }

  count(dictionary: number, rows: number, bytes: number): void {
    this.#writer.u8(tags.count);
    this.#writer.varint(dictionary);
    this.#writer.f64(rows);
    this.#writer.f64(bytes);
  }

  create(dictionary: number, options: DictionaryOptions): void {
    this.#writer.u8(tags.createWithBlobs);
    this.#writer.varint(dictionary);
    writeAllDictionaryOptions(this.#writer, options);
  }

  drop(dictionary: number): void {
    this.#writer.u8(tags.drop);
    this.#writer.varint(dictionary);
  }

  /** A copy of the record. */
  body(): Uint8Array {
    const bytes = this.#writer.bytes();
    const body = this.#memory(bytes.length);
    body.set(bytes);
    return body;
  }

  /** Memory for a record: for long ones what others have left. */
  #memory(length: number): Uint8Array {
    if (length < spareBytesMin || length > keptBytes) return pooledBytes(length);
    const at = this.#spares.findIndex((spare) => spare.length >= length);
    const memory = at < 0 ? new Uint8Array(Math.min(keptBytes, length + (length >>> 2))) : (this.#spares.splice(at, 1)[0] as Uint8Array);
    return memory.subarray(0, length);
  }

  /** Takes the memory of a record back that nobody reads any more. */
  giveBack(body: Uint8Array): void {
    if (body.length < spareBytesMin || body.length > keptBytes) return;
    this.#spares.push(new Uint8Array(body.buffer));
    if (this.#spares.length > sparesMax) this.#spares.shift();
  }
}

/** A message whose key and value lie in one array, filled anew for each message so that none is allocated (as in run/message.ts). */
export interface MessageSlice {
  bytes: Uint8Array;
  /** Of all of `bytes`. */
  view: DataView;
  keyStart: number;
  keyEnd: number;
  valueStart: number;
  valueEnd: number;
  seq: number;
  kind: number;
  /** Not known here. */
  hash: number;
}

/** Puts that lie in one memory without gaps, key and value of each and then those of the next. */
export interface ManyPuts {
  readonly view: DataView;
  start(entry: number): number;
  keyBytes(entry: number): number;
  valueBytes(entry: number): number;
}

/** Bounds of a range delete; absent: none. */
export interface BoundedRange {
  readonly from: Uint8Array | undefined;
  readonly to: Uint8Array | undefined;
}

/** What a record says, part by part, in the order written. The slice is filled anew for the next message. */
export interface RecordVisitor {
  message(dictionary: number, message: MessageSlice): void;
  /** A reference in the place of another to the same value. */
  move(dictionary: number, message: MessageSlice): void;
  rangeDelete(dictionary: number, range: BoundedRange): void;
  spill(dictionary: number, number: number): void;
  count(dictionary: number, rows: number, bytes: number): void;
  create(dictionary: number, options: DictionaryOptions): void;
  drop(dictionary: number): void;
}

type PartReader = (reader: ByteReader, visitor: RecordVisitor, slice: MessageSlice) => void;

const readMessage = (kind: number, moves: boolean = false): PartReader => (reader, visitor, slice) => {
  const dictionary = reader.varint();
  const keyBytes = reader.varint();
  slice.keyStart = reader.skip(keyBytes);
  slice.keyEnd = slice.keyStart + keyBytes;
  const valueBytes = kind === kinds.remove ? 0 : reader.varint();
  slice.valueStart = reader.skip(valueBytes);
  slice.valueEnd = slice.valueStart + valueBytes;
  slice.kind = kind;
  if (moves) visitor.move(dictionary, slice);
  else visitor.message(dictionary, slice);
};

function readBounds(reader: ByteReader): BoundedRange {
  const flags = reader.u8();
  if (flags > 3) throw new EngineError('format', `a range delete with unknown flags ${flags}`);
  const from = (flags & 1) === 0 ? undefined : reader.copy(reader.varint());
  const to = (flags & 2) === 0 ? undefined : reader.copy(reader.varint());
  return { from, to };
}

const readers: ReadonlyMap<number, PartReader> = new Map<number, PartReader>([
  [tags.put, readMessage(kinds.put)],
  [tags.remove, readMessage(kinds.remove)],
  [tags.update, readMessage(kinds.update)],
  [tags.reference, readMessage(kinds.reference)],
  [tags.move, readMessage(kinds.reference, true)],
  [tags.rangeDelete, (reader, visitor) => visitor.rangeDelete(reader.varint(), readBounds(reader))],
  [tags.spill, (reader, visitor) => visitor.spill(reader.varint(), reader.varint())],
  [tags.count, (reader, visitor) => visitor.count(reader.varint(), reader.f64(), reader.f64())],
  [tags.create, (reader, visitor) => visitor.create(reader.varint(), readDictionaryOptions(reader))],
  [tags.createWithBlobs, (reader, visitor) => visitor.create(reader.varint(), readAllDictionaryOptions(reader))],
  [tags.drop, (reader, visitor) => visitor.drop(reader.varint())],
]);

/** Reads a record that RecordWriter wrote, a slice at a time. */
export class RecordReader {
  readonly #reader: ByteReader;
  readonly #slice: MessageSlice;

  /** Reads all of a record, or some of its parts. */
  constructor(body: Uint8Array, range: { readonly start?: number; readonly end?: number } = {}) {
    this.#reader = new ByteReader(body, range);
    this.#slice = { bytes: body, view: viewOf(body), keyStart: 0, keyEnd: 0, valueStart: 0, valueEnd: 0, seq: 0, kind: 0, hash: 0 };
  }

  /** Gives up to `parts` parts to the visitor; true when the record is at its end. An unknown part is EngineError `format`. */
  read(visitor: RecordVisitor, parts: number): boolean {
    const reader = this.#reader;
    for (let left = parts; left > 0 && reader.remaining > 0; left--) {
      const tag = reader.u8();
      if (tag === tags.puts) {
        left -= this.#readPuts(visitor);
        continue;
      }
      const read = readers.get(tag);
      if (read === undefined) throw new EngineError('format', `a log record with an unknown part ${tag}`);
      read(reader, visitor, this.#slice);
    }
    return reader.remaining === 0;
  }

  /** Gives the puts of one part to the visitor; how many they are. */
  #readPuts(visitor: RecordVisitor): number {
    const reader = this.#reader;
    const slice = this.#slice;
    const dictionary = reader.varint();
    const count = reader.varint();
    if (count > reader.remaining) reader.fail('more puts than bytes');
    const lengthsAt = reader.position;
    let bytes = 0;
    for (let i = 0; i < 2 * count; i++) bytes += reader.varint();
    let at = reader.skip(bytes);
    const end = reader.position;
    reader.seek(lengthsAt);
    slice.kind = kinds.put;
    for (let i = 0; i < count; i++) {
      slice.keyStart = at;
      slice.keyEnd = at + reader.varint();
      slice.valueStart = slice.keyEnd;
      slice.valueEnd = slice.keyEnd + reader.varint();
      at = slice.valueEnd;
      visitor.message(dictionary, slice);
    }
    reader.seek(end);
    return count;
  }
}
