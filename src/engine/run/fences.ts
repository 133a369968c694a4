// Fences: the packed table of an extent's basements (where each lies, how long, its checksum, its first key) and of its filters. A node header
// holds the fences of each extent it names, so a search knows which basement to read, and that what it reads is what was written. Immutable.
// See docs/file-format.md, "Fences".

import { assert } from '../../base/assert.ts';
import { compareBytes } from '../../base/bytes.ts';
import type { ByteReader } from '../../base/byte-reader.ts';
import type { ByteWriter } from '../../base/byte-writer.ts';
import { noBlobs, tallyBytes } from './blob-reference.ts';
import type { BlobTally } from './blob-reference.ts';
import { sharedPrefix, SortedKeys } from './sorted-keys.ts';

/** Columns of a row in the table. */
const column = { storedOffset: 0, storedLength: 1, rawLength: 2, checksum: 3, rows: 4, flags: 5 } as const;
const columns = 6;

/** Flags of a row: its first key is also the key before it; it is stored as it is, because compression gained next to nothing. */
const rowFlags = { continues: 1, plain: 2 } as const;
const knownFlags = 3;

/** Columns of a filter's row: the first basement behind those it covers, where it lies in the image, its length and checksum. */
const filterColumn = { end: 0, offset: 1, length: 2, checksum: 3 } as const;
const filterColumns = 4;

/** Longest payload of one basement that is believed: a value of 17 MiB and a key of the same, with room to spare. */
const rawLengthMax = 2 ** 26;

/** First keys of one extent as they stand in memory. */
const keyBytesMax = 2 ** 28;

/** Set in the codec's byte: the extent refers to blobs, and the table of them comes last. */
const withBlobs = 0x80;
const blobRowBytes = 48;

/** The objects beside the arrays, roughly. */
const objectBytes = 800;

/** What is known of a whole extent. */
export interface FencesSummary {
  /** Codec id of the basements that are not plain. */
  readonly codec: number;
  readonly minSeq: number;
  readonly maxSeq: number;
  readonly lastKey: Uint8Array;
  /** Bytes of blobs that its messages refer to. */
  readonly blobs?: BlobTally;
}

/** One row, as the builder states it. */
export interface FenceRow {
  readonly storedLength: number;
  readonly rawLength: number;
  readonly checksum: number;
  readonly rows: number;
  readonly firstKey: Uint8Array;
  readonly continues: boolean;
  readonly plain: boolean;
}

/** One filter, as the builder states it: it covers so many basements behind those of the filter before. */
export interface FilterRow {
  readonly basements: number;
  readonly length: number;
  readonly checksum: number;
}

/** The table of one extent; at least one row. */
export class Fences {
  /** Basements. */
  readonly length: number;
  /** Messages in all. */
  readonly count: number;
  /** Sum of the payloads before compression. */
  readonly rawBytes: number;
  /** Length of the image, filters included. */
  readonly storedBytes: number;
  readonly minSeq: number;
  readonly maxSeq: number;
  /** Codec id of the basements that are not plain. */
  readonly codec: number;
  readonly lastKey: Uint8Array;
  /** Bytes of blobs that its messages refer to, by segment. */
  readonly blobs: BlobTally;
  readonly blobBytes: number;
  /** Memory to charge to the budget. */
  readonly byteSize: number;
  readonly #firstKeys: SortedKeys;
  readonly #table: Uint32Array;
  /** Empty when the extent has no filter; else the filters cover all basements. */
  readonly #filters: Uint32Array;

  private constructor(summary: FencesSummary, firstKeys: SortedKeys, table: Uint32Array, filters: Uint32Array) {
    this.length = firstKeys.count;
    this.codec = summary.codec;
    this.minSeq = summary.minSeq;
    this.maxSeq = summary.maxSeq;
    this.lastKey = summary.lastKey;
    this.blobs = summary.blobs ?? noBlobs;
    this.blobBytes = tallyBytes(this.blobs);
    this.#firstKeys = firstKeys;
    this.#table = table;
    this.#filters = filters;
    let count = 0;
    let rawBytes = 0;
    let storedBytes = 0;
    for (let i = 0; i < this.length; i++) {
      count += this.rows(i);
      rawBytes += this.rawLength(i);
      storedBytes += this.storedLength(i);
    }
    this.count = count;
    this.rawBytes = rawBytes;
    for (let i = 0; i < this.filters; i++) storedBytes += this.filterLength(i);
    this.storedBytes = storedBytes;
    this.byteSize = firstKeys.bytes.length + 8 * (this.length + 1) + table.byteLength + filters.byteLength + summary.lastKey.length + this.blobs.size * blobRowBytes + objectBytes;
  }

  /** Rows in order; keys are copied. */
  static of(summary: FencesSummary, rows: readonly FenceRow[], filterRows: readonly FilterRow[] = []): Fences {
    assert(rows.length > 0, 'an extent has a basement');
    const table = new Uint32Array(rows.length * columns);
    let storedOffset = 0;
    rows.forEach((row, i) => {
      const flags = (row.continues ? rowFlags.continues : 0) | (row.plain ? rowFlags.plain : 0);
      table.set([storedOffset, row.storedLength, row.rawLength, row.checksum, row.rows, flags], i * columns);
      storedOffset += row.storedLength;
    });
    const firstKeys = SortedKeys.from(rows.map((row) => row.firstKey));
    const filters = new FilterTable(rows.length, storedOffset);
    for (const { basements, length, checksum } of filterRows) filters.add(basements, length, checksum);
    return new Fences({ ...summary, lastKey: summary.lastKey.slice() }, firstKeys, table, filters.table());
  }

  /** Where basement i begins in the image. */
  storedOffset(index: number): number {
    return this.#cell(index, column.storedOffset);
  }

  storedLength(index: number): number {
    return this.#cell(index, column.storedLength);
  }

  /** Length of the payload before compression. */
  rawLength(index: number): number {
    return this.#cell(index, column.rawLength);
  }

  /** CRC-32C of the stored bytes. */
  checksum(index: number): number {
    return this.#cell(index, column.checksum);
  }

  /** Messages in basement i. */
  rows(index: number): number {
    return this.#cell(index, column.rows);
  }

  /** Whether basement i begins with the key that the one before ends with: a key with more versions than a basement holds. */
  continues(index: number): boolean {
    return (this.#cell(index, column.flags) & rowFlags.continues) !== 0;
  }

  /** Whether basement i is stored without compression. */
  isPlain(index: number): boolean {
    return (this.#cell(index, column.flags) & rowFlags.plain) !== 0;
  }

  /** Number of filters. */
  get filters(): number {
    return this.#filters.length / filterColumns;
  }

  /** The filter that knows the keys that begin in basement i; -1: there is none. */
  filterOf(index: number): number {
    const filters = this.#filters;
    for (let i = 0; i < filters.length; i += filterColumns) if (index < (filters[i] as number)) return i / filterColumns;
    return -1;
  }

  /** Where filter i begins in the image. */
  filterOffset(index: number): number {
    return this.#filters[index * filterColumns + filterColumn.offset] as number;
  }

  filterLength(index: number): number {
    return this.#filters[index * filterColumns + filterColumn.length] as number;
  }

  /** CRC-32C of filter i as stored. */
  filterChecksum(index: number): number {
    return this.#filters[index * filterColumns + filterColumn.checksum] as number;
  }

  /** A view of the first key of basement i. */
  firstKey(index: number): Uint8Array {
    return this.#firstKeys.key(index);
  }

  /**
   * The last basement whose first key is `key` or smaller, -1 when `key` is before the first. Where a basement `continues`, newer versions
   * lie in those before: a search for a version starts at `firstFor` and goes on to this one.
   */
  find(key: Uint8Array): number {
    return this.#firstKeys.upperBound(key) - 1;
  }

  /** The first basement that can hold `key` or a greater key: where its newest version is, if it is here; `length` when all keys are smaller. */
  firstFor(key: Uint8Array): number {
    if (compareBytes(key, this.lastKey) > 0) return this.length;
    const index = this.#firstKeys.lowerBound(key);
    if (index === 0) return 0;
    const beginsHere = index < this.length && !this.continues(index) && this.#firstKeys.equals(index, key);
    return beginsHere ? index : index - 1;
  }

  /** Whether all keys here are behind `key`. */
  begins(key: Uint8Array): boolean {
    return this.#firstKeys.compare(0, key) > 0;
  }

  /** Whether a key of [from, to) can be here; absent: no bound. */
  overlaps(from?: Uint8Array, to?: Uint8Array): boolean {
    if (from !== undefined && compareBytes(this.lastKey, from) < 0) return false;
    return to === undefined || this.#firstKeys.compare(0, to) < 0;
  }

  encode(writer: ByteWriter): void {
    const keys = this.#firstKeys;
    const prefix = sharedPrefix(keys.bytes, 0, keys.prefixLength, this.lastKey, 0, this.lastKey.length);
    writer.u8(this.blobs.size === 0 ? this.codec : this.codec | withBlobs);
    writer.varint(this.length);
    writer.varint(this.minSeq);
    writer.varint(this.maxSeq - this.minSeq);
    writer.varint(prefix);
    writer.append(keys.bytes, 0, prefix);
    for (let i = 0; i < this.length; i++) {
      writer.varint(this.storedLength(i));
      writer.varint(this.rawLength(i));
      writer.varint(this.rows(i));
      writer.u8(this.#cell(i, column.flags));
      writer.u32(this.checksum(i));
      const start = (keys.offsets[i] as number) + prefix;
      const end = keys.offsets[i + 1] as number;
      writer.varint(end - start);
      writer.append(keys.bytes, start, end);
    }
    writer.varint(this.lastKey.length - prefix);
    writer.append(this.lastKey, prefix);
    writer.varint(this.filters);
    for (let i = 0, covered = 0; i < this.filters; i++) {
      const end = this.#filters[i * filterColumns + filterColumn.end] as number;
      writer.varint(end - covered);
      writer.varint(this.filterLength(i));
      writer.u32(this.filterChecksum(i));
      covered = end;
    }
    if (this.blobs.size > 0) encodeBlobs(writer, this.blobs);
  }

  static decode(reader: ByteReader): Fences {
    const method = reader.u8();
    const length = reader.varint();
    if (length === 0 || length > reader.remaining) reader.fail('a table of fences without its rows');
    const minSeq = reader.varint();
    const maxSeq = minSeq + reader.varint();
    if (maxSeq > Number.MAX_SAFE_INTEGER) reader.fail('a seq beyond 2^53');
    const prefix = reader.view(reader.varint());
    const table = new Uint32Array(length * columns);
    // Where each suffix lies in the bytes read; copied when their sum is known. No object a row: a node holds thousands.
    const suffixes = new Uint32Array(length);
    const offsets = new Uint32Array(length + 1);
    let storedOffset = 0;
    for (let i = 0, keyBytes = 0; i < length; i++) {
      storedOffset += decodeRow(reader, table, i * columns, storedOffset);
      const suffixLength = reader.varint();
      suffixes[i] = reader.skip(suffixLength);
      keyBytes += prefix.length + suffixLength;
      if (keyBytes > keyBytesMax) reader.fail('first keys beyond their limit');
      offsets[i + 1] = keyBytes;
    }
    const firstKeys = firstKeysOf(reader.bytes, suffixes, prefix, offsets);
    const lastKey = withPrefix(prefix, reader);
    for (let i = 1; i < length; i++) if (firstKeys.compareWithin(i - 1, i) > 0) reader.fail('first keys out of order');
    if (storedOffset >= 2 ** 32 || firstKeys.compare(length - 1, lastKey) > 0) reader.fail('a last key before the first');
    const filters = decodeFilterTable(reader, length, storedOffset);
    const blobs = (method & withBlobs) === 0 ? noBlobs : decodeBlobs(reader);
    return new Fences({ codec: method & ~withBlobs, minSeq, maxSeq, lastKey, blobs }, firstKeys, table, filters);
  }

  #cell(index: number, which: number): number {
    return this.#table[index * columns + which] as number;
  }
}

function encodeBlobs(writer: ByteWriter, blobs: BlobTally): void {
  writer.varint(blobs.size);
  for (const [segment, bytes] of blobs) {
    writer.varint(segment);
    writer.varint(bytes);
  }
}

function decodeBlobs(reader: ByteReader): BlobTally {
  const blobs = new Map<number, number>();
  for (let left = reader.varint(); left > 0; left--) blobs.set(reader.varint(), reader.varint());
  return blobs;
}

/** The rows of filters being put together: they lie behind the basements, in order. */
class FilterTable {
  readonly #basements: number;
  #offset: number;
  #covered = 0;
  readonly #cells: number[] = [];

  constructor(basements: number, offset: number) {
    this.#basements = basements;
    this.#offset = offset;
  }

  add(basements: number, length: number, checksum: number): void {
    this.#covered += basements;
    this.#cells.push(this.#covered, this.#offset, length, checksum);
    this.#offset += length;
  }

  /** Whether every basement is covered, or none. */
  get isWhole(): boolean {
    return this.#cells.length === 0 || (this.#covered === this.#basements && this.#offset < 2 ** 32);
  }

  table(): Uint32Array {
    assert(this.isWhole, 'filters cover all basements');
    return Uint32Array.from(this.#cells);
  }
}

function decodeFilterTable(reader: ByteReader, basements: number, offset: number): Uint32Array {
  const filters = new FilterTable(basements, offset);
  const count = reader.varint();
  if (count > basements) reader.fail('more filters than basements');
  for (let i = 0; i < count; i++) {
    const covered = reader.varint();
    const length = reader.varint();
    if (covered === 0 || covered > basements || length > rawLengthMax) reader.fail('a filter beyond its limits');
    filters.add(covered, length, reader.u32());
  }
  if (!filters.isWhole) reader.fail('filters that do not cover the basements');
  return filters.table();
}

/** Reads a row but its key into table[at...); returns the bytes it has stored. */
function decodeRow(reader: ByteReader, table: Uint32Array, at: number, storedOffset: number): number {
  const storedLength = reader.varint();
  const rawLength = reader.varint();
  const rows = reader.varint();
  const flags = reader.u8();
  if (storedLength > rawLengthMax || rawLength > rawLengthMax || rows === 0 || rows > rawLength) reader.fail('a basement beyond its limits');
  if (flags > knownFlags) reader.fail('unknown flags of a basement');
  table[at + column.storedOffset] = storedOffset;
  table[at + column.storedLength] = storedLength;
  table[at + column.rawLength] = rawLength;
  table[at + column.rows] = rows;
  table[at + column.flags] = flags;
  table[at + column.checksum] = reader.u32();
  return storedLength;
}

function firstKeysOf(bytes: Uint8Array, suffixes: Uint32Array, prefix: Uint8Array, offsets: Uint32Array): SortedKeys {
  const count = suffixes.length;
  const keys = new Uint8Array(offsets[count] as number);
  for (let i = 0; i < count; i++) {
    let to = offsets[i] as number;
    for (let k = 0; k < prefix.length; k++) keys[to++] = prefix[k] as number;
    const end = offsets[i + 1] as number;
    for (let from = suffixes[i] as number; to < end; from++) keys[to++] = bytes[from] as number;
  }
  return new SortedKeys(keys, offsets, count);
}

function withPrefix(prefix: Uint8Array, reader: ByteReader): Uint8Array {
  const suffix = reader.view(reader.varint());
  const key = new Uint8Array(prefix.length + suffix.length);
  key.set(prefix);
  key.set(suffix, prefix.length);
  return key;
}
