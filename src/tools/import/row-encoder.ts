// A record of fields as one BSON document, built byte by byte: an import makes millions of them. Columns without a stated type are inferred
// (cell.ts); names with dots make embedded documents.

import { must } from '../../base/assert.ts';
import { encodeUtf8 } from '../../base/text.ts';
import { Document } from '../../bson/index.ts';
import type { ObjectIdGenerator, Value } from '../../bson/index.ts';
import { inferCell, isCellFault, textOfBytes } from './cell.ts';
import type { CellFault, CellType } from './cell.ts';
import type { CsvRecord } from './csv-records.ts';
import { fieldBytes } from './csv-records.ts';

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

/** The document, or what is wrong with the record. */
export type EncodedRow = Document | { readonly fault: string };

const typeInt32 = 0x10;
const typeString = 0x02;
const typeObjectId = 0x07;
const zero = 0x30;
const minus = 0x2d;

/** Encodes records. */
export class RowEncoder {
  readonly #options: RowOptions;
  readonly #ids: ObjectIdGenerator;
  readonly #names: readonly Uint8Array[];
  readonly #makesId: boolean;
  readonly #isFlat: boolean;
  #buffer: Uint8Array = new Uint8Array(4096);
  #length: number = 0;

  constructor(options: RowOptions, ids: ObjectIdGenerator) {
    this.#options = options;
    this.#ids = ids;
    this.#names = options.columns.map(({ name }) => encodeUtf8(`${name}\0`));
    this.#makesId = !options.columns.some(({ name }) => name === '_id');
    this.#isFlat = options.columns.every(({ name }) => !name.includes('.')) && new Set(options.columns.map(({ name }) => name)).size === options.columns.length;
  }

  /** Encodes one record; the document has memory of its own. */
  encode(record: CsvRecord): EncodedRow {
    if (record.fault !== undefined) return { fault: record.fault };
    const { columns } = this.#options;
    if (record.fields > columns.length) return { fault: `${record.fields} fields where the header names ${columns.length}` };
    return this.#isFlat ? this.#flat(record) : this.#nested(record);
  }

  #flat(record: CsvRecord): EncodedRow {
    this.#length = 4;
    if (this.#makesId) this.#id();
    for (let i = 0; i < record.fields; i++) {
      const fault = this.#field(record, i);
      if (fault !== undefined) return fault;
    }
    this.#reserve(1);
    this.#buffer[this.#length++] = 0;
    const bytes = this.#buffer.slice(0, this.#length);
    putInt32(bytes, 0, bytes.length);
    return Document.fromBytes(bytes);
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#buffer.length) return;
    const larger = new Uint8Array(Math.max(this.#buffer.length * 2, this.#length + bytes));
    larger.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = larger;
  }

  #id(): void {
    this.#buffer.set([typeObjectId, 0x5f, 0x69, 0x64, 0], this.#length);
    this.#buffer.set(this.#ids.next().bytes, this.#length + 5);
    this.#length += 17;
  }

  #head(column: number, type: number, valueBytes: number): void {
    const name = must(this.#names[column], 'a column');
    this.#reserve(1 + name.length + valueBytes);
    const buffer = this.#buffer;
    buffer[this.#length++] = type;
    for (let i = 0; i < name.length; i++) buffer[this.#length++] = name[i] as number;
  }

  /** Writes one field; what is wrong with it, if that stops the record. */
  #field(record: CsvRecord, column: number): CellFault | undefined {
    const { type } = must(this.#options.columns[column], 'a column');
    const start = record.starts[column] as number;
    const end = record.ends[column] as number;
    if (start === end && this.#options.ignoreBlanks) return undefined;
    if (type === undefined && record.quoted[column] !== true) {
      const whole = smallWhole(record.bytes, start, end);
      if (whole !== undefined) {
        this.#head(column, typeInt32, 4);
        putInt32(this.#buffer, this.#length, whole);
        this.#length += 4;
        return undefined;
      }
      if (isPlainText(record.bytes, start, end)) {
        this.#text(record.bytes.subarray(start, end), column);
        return undefined;
      }
    }
    const cell = this.#cell(record, column);
    if (isCellFault(cell)) return cell;
    if (cell !== undefined) this.#value(column, cell);
    return undefined;
  }

  #text(bytes: Uint8Array, column: number): void {
    this.#head(column, typeString, 5 + bytes.length);
    putInt32(this.#buffer, this.#length, bytes.length + 1);
    this.#buffer.set(bytes, this.#length + 4);
    this.#length += 4 + bytes.length;
    this.#buffer[this.#length++] = 0;
  }

  #value(column: number, value: Value): void {
    const bytes = Document.fromEntries([[must(this.#options.columns[column], 'a column').name, value]]).toBytes();
    this.#reserve(bytes.length);
    this.#buffer.set(bytes.subarray(4, bytes.length - 1), this.#length);
    this.#length += bytes.length - 5;
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

  #nested(record: CsvRecord): EncodedRow {
    const root = new Map<string, NestedValue>();
    if (this.#makesId) root.set('_id', this.#ids.next());
    for (let i = 0; i < record.fields; i++) {
      if (record.starts[i] === record.ends[i] && this.#options.ignoreBlanks) continue;
      const cell = this.#cell(record, i);
      if (isCellFault(cell)) return cell;
      const { name } = must(this.#options.columns[i], 'a column');
      if (cell !== undefined && !place(root, name.split('.'), cell)) return { fault: `${name} clashes with another column` };
    }
    return documentOf(root);
  }
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

/** The number that bytes[start, end) surely are, when it is whole and has at most nine digits. */
function smallWhole(bytes: Uint8Array, start: number, end: number): number | undefined {
  const negative = bytes[start] === minus;
  const from = negative ? start + 1 : start;
  const digits = end - from;
  if (digits < 1 || digits > 9 || (bytes[from] === zero && (digits > 1 || negative))) return undefined;
  let value = 0;
  for (let i = from; i < end; i++) {
    const digit = (bytes[i] as number) - zero;
    if (digit < 0 || digit > 9) return undefined;
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

function putInt32(target: Uint8Array, at: number, value: number): void {
  target[at] = value;
  target[at + 1] = value >>> 8;
  target[at + 2] = value >>> 16;
  target[at + 3] = value >>> 24;
}

