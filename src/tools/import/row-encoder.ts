// A record of fields as one BSON document, built byte by byte: an import makes millions of them. Columns without a stated type are inferred
// (cell.ts); names with dots make embedded documents.

import { must } from '../../base/assert.ts';
import { encodeUtf8 } from '../../base/text.ts';
import { Document, writeInt32 } from '../../bson/index.ts';
import type { ObjectIdGenerator, Value } from '../../bson/index.ts';
import { inferCell, isCellFault, textOfBytes } from './cell.ts';
import type { CellFault, CellType } from './cell.ts';
import type { CsvRecord } from './csv-records.ts';
import { fieldBytes } from './csv-records.ts';
import type { DocumentBatch } from './document-batch.ts';

/** A column of the file. */
export interface Column {
  readonly name: string;
  /** Undefined: inferred. */
  readonly type: CellType | undefined;
}

/** What becomes of a field that is not of its column's type. */
export type ParseGrace = 'stop' | 'skipField' | 'skipRow' | 'autoCast';

export interface RowOptions {
  readonly columns: readonly Column[];
  readonly ignoreBlanks: boolean;
  readonly grace: ParseGrace;
}

const typeInt32 = 0x10;
const typeString = 0x02;
const zero = 0x30;
const minus = 0x2d;
/** What comes before the bytes of an ObjectId that is the `_id`. */
const idElement = Uint8Array.of(0x07, 0x5f, 0x69, 0x64, 0);
/** No number of nine digits. */
const noWhole = 0x7fffffff;
/** Shorter texts are copied byte by byte: a view of them would cost more. */
const textBytesMin = 48;

/** A column, ready to be written many times. */
interface WrittenColumn extends Column {
  /** The name with its closing zero. */
  readonly nameBytes: Uint8Array;
}

/** Encodes records into batches. */
export class RowEncoder {
  readonly #options: RowOptions;
  readonly #columns: readonly WrittenColumn[];
  readonly #ids: ObjectIdGenerator;
  readonly #makesId: boolean;
  readonly #isFlat: boolean;

  constructor(options: RowOptions, ids: ObjectIdGenerator) {
    this.#options = options;
    this.#ids = ids;
    this.#columns = options.columns.map((column) => ({ ...column, nameBytes: encodeUtf8(`${column.name}\0`) }));
    this.#makesId = !options.columns.some(({ name }) => name === '_id');
    this.#isFlat = options.columns.every(({ name }) => !name.includes('.')) && new Set(options.columns.map(({ name }) => name)).size === options.columns.length;
  }

  /** Adds one record to a batch as a document; what is wrong with the record, if it is not added. */
  encode(record: CsvRecord, batch: DocumentBatch): CellFault | undefined {
    if (record.fault !== undefined) return { fault: record.fault };
    const columns = this.#columns;
    if (record.fields > columns.length) return { fault: `${record.fields} fields where the header names ${columns.length}` };
    return this.#isFlat ? this.#flat(record, batch) : this.#nested(record, batch);
  }

  #flat(record: CsvRecord, batch: DocumentBatch): CellFault | undefined {
    const start = batch.length;
    batch.reserve(4 + idElement.length + 12);
    batch.length = start + 4;
    if (this.#makesId) this.#id(batch);
    for (let i = 0; i < record.fields; i++) {
      const fault = this.#field(record, i, batch);
      if (fault === undefined) continue;
      batch.length = start;
      return fault;
    }
    batch.reserve(1);
    batch.bytes[batch.length++] = 0;
    writeInt32(batch.bytes, start, batch.length - start);
    batch.end(record.line);
    return undefined;
  }

  /** Writes an `_id`; there is room for it. */
  #id(batch: DocumentBatch): void {
    const { bytes } = batch;
    let at = batch.length;
    for (let i = 0; i < idElement.length; i++) bytes[at++] = idElement[i] as number;
    this.#ids.writeNext(bytes, at);
    batch.length = at + 12;
  }

  /** Writes one field; what is wrong with it, if that stops the record. */
  #field(record: CsvRecord, index: number, batch: DocumentBatch): CellFault | undefined {
    const column = this.#columns[index] as WrittenColumn;
    const start = record.starts[index] as number;
    const end = record.ends[index] as number;
    if (start === end && this.#options.ignoreBlanks) return undefined;
    if (column.type === undefined && record.quoted[index] !== true) {
      const { bytes } = record;
      const whole = smallWhole(bytes, start, end);
      if (whole !== noWhole) {
        const at = writeHead(batch, column, typeInt32, 4);
        writeInt32(batch.bytes, at, whole);
        return undefined;
      }
      if (isPlainText(bytes, start, end)) {
        writePlainText(batch, column, record, index);
        return undefined;
      }
    }
    const cell = this.#cell(record, index);
    if (isCellFault(cell)) return cell;
    if (cell !== undefined) writeCell(batch, column, cell);
    return undefined;
  }

  /** The value of a field by its column's type; undefined: leave the field out. */
  #cell(record: CsvRecord, column: number): Value | CellFault | undefined {
    const { name, type } = must(this.#options.columns[column], 'a column');
    const text = textOfBytes(fieldBytes(record, column));
    if (text === undefined) return { fault: `${name} is not UTF-8` };
    if (type === undefined) return record.quoted[column] === true ? text : inferCell(text);
    const cell = type(text);
    if (!isCellFault(cell)) return cell;
    if (this.#options.grace === 'skipField') return undefined;
    return this.#options.grace === 'autoCast' ? inferCell(text) : { fault: `${name}: ${cell.fault}` };
  }

  #nested(record: CsvRecord, batch: DocumentBatch): CellFault | undefined {
    const root = new Map<string, NestedValue>();
    if (this.#makesId) root.set('_id', this.#ids.next());
    for (let i = 0; i < record.fields; i++) {
      if (record.starts[i] === record.ends[i] && this.#options.ignoreBlanks) continue;
      const cell = this.#cell(record, i);
      if (isCellFault(cell)) return cell;
      const { name } = must(this.#options.columns[i], 'a column');
      if (cell !== undefined && !place(root, name.split('.'), cell)) return { fault: `${name} clashes with another column` };
    }
    batch.add(documentOf(root).toBytes(), record.line);
    return undefined;
  }
}

/** Writes type and name of a field and makes room for its value; where the value goes. */
function writeHead(batch: DocumentBatch, { nameBytes }: WrittenColumn, type: number, valueBytes: number): number {
  batch.reserve(1 + nameBytes.length + valueBytes);
  const { bytes } = batch;
  let at = batch.length;
  bytes[at++] = type;
  for (let i = 0; i < nameBytes.length; i++) bytes[at++] = nameBytes[i] as number;
  batch.length = at + valueBytes;
  return at;
}

/** Writes a field as the text that it is. */
function writePlainText(batch: DocumentBatch, column: WrittenColumn, record: CsvRecord, index: number): void {
  const { bytes } = record;
  const start = record.starts[index] as number;
  const end = record.ends[index] as number;
  const length = end - start;
  let at = writeHead(batch, column, typeString, 5 + length);
  const target = batch.bytes;
  writeInt32(target, at, length + 1);
  at += 4;
  if (length >= textBytesMin) target.set(bytes.subarray(start, end), at);
  else for (let i = 0; i < length; i++) target[at + i] = bytes[start + i] as number;
  target[at + length] = 0;
}

function writeCell(batch: DocumentBatch, { name }: WrittenColumn, value: Value): void {
  const bytes = Document.fromEntries([[name, value]]).toBytes();
  const length = bytes.length - 5;
  batch.reserve(length);
  batch.bytes.set(bytes.subarray(4, 4 + length), batch.length);
  batch.length += length;
}

type NestedValue = Value | Map<string, NestedValue>;

function place(into: Map<string, NestedValue>, path: readonly string[], value: Value): boolean {
  const [name = '', ...rest] = path;
  const there = into.get(name);
  if (rest.length === 0) {
    if (there !== undefined) return false;
    into.set(name, value);
    return true;
  }
  if (there !== undefined && !(there instanceof Map)) return false;
  const inner = there ?? new Map<string, NestedValue>();
  into.set(name, inner);
  return place(inner, rest, value);
}

function documentOf(fields: Map<string, NestedValue>): Document {
  return Document.fromEntries([...fields].map(([name, value]) => [name, value instanceof Map ? documentOf(value) : value] as const));
}

/** The number that bytes[start, end) surely are, when it is whole and has at most nine digits; else `noWhole`. */
function smallWhole(bytes: Uint8Array, start: number, end: number): number {
  const negative = bytes[start] === minus;
  const from = negative ? start + 1 : start;
  const digits = end - from;
  if (digits < 1 || digits > 9 || (bytes[from] === zero && (digits > 1 || negative))) return noWhole;
  let value = 0;
  for (let i = from; i < end; i++) {
    const digit = (bytes[i] as number) - zero;
    if (digit < 0 || digit > 9) return noWhole;
    value = value * 10 + digit;
  }
  return negative ? -value : value;
}

/** Whether bytes[start, end) are ASCII and no number at all. */
function isPlainText(bytes: Uint8Array, start: number, end: number): boolean {
  const first = bytes[start];
  let letters = start === end || (first !== minus && ((first ?? 0) < zero || (first ?? 0) > zero + 9));
  for (let i = start; i < end; i++) {
    const byte = bytes[i] as number;
    if (byte >= 0x80 || byte === 0) return false;
    // A space, colon or slash is in no number.
    if (byte === 0x20 || byte === 0x3a || byte === 0x2f) letters = true;
  }
  return letters;
}
