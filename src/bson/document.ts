// Document and BsonArray: BSON as a value, and the codec between raw bytes and typed values. Both are immutable and hold either a
// view on raw bytes, decoded element by element when asked, or values that are encoded when their bytes are first needed. Field
// order and repeated names are kept; names never become keys of JavaScript objects. Raw bytes are trusted: see validate.ts.

import { AssertionError } from '../base/errors.ts';
import { ByteSink } from './byte-sink.ts';
import { bsonType, cstringEnd, decodeName, elementValue, findElement, readInt32, valueEnd, writeInt32 } from './raw.ts';
import type { BsonType, RawView } from './raw.ts';
import { decodeString, scalarDecoders, scalarWriters } from './scalar-codec.ts';
import type { ScalarValue } from './scalar-codec.ts';

/** A BSON value, its type exact. JavaScript's undefined is no value: it stands for a missing field. */
export type Value = ScalarValue | Document | BsonArray | CodeWithScope;

/** JavaScript code with the document of its variables (deprecated). Never run. */
export class CodeWithScope {
  readonly code: string;
  readonly scope: Document;

  constructor(code: string, scope: Document) {
    this.code = code;
    this.scope = scope;
  }

  get bsonType(): 15 {
    return 15;
  }
}

/** Documents in order. */
export interface Documents extends Iterable<Document> {
  readonly length: number;
  /** A place that is not there is a bug of the caller. */
  at(index: number): Document;
}

type Entry = readonly [string, Value];

/** A BSON document. Its bytes may be shared with others: nobody writes to them. */
export class Document implements RawView {
  #bytes: Uint8Array | undefined;
  #start = 0;
  #end = 0;
  #entries: readonly Entry[] | undefined;

  private constructor(bytes: Uint8Array | undefined, start: number, entries: readonly Entry[] | undefined) {
    this.#bytes = bytes;
    this.#start = start;
    if (bytes !== undefined) this.#end = start + readInt32(bytes, start);
    this.#entries = entries;
  }

  /** The document without fields. */
  static readonly empty: Document = new Document(undefined, 0, []);

  /** A view on the document that begins at `start`. The bytes must be valid BSON (validateDocument) and never change. */
  static fromBytes(bytes: Uint8Array, start = 0): Document {
    return new Document(bytes, start, undefined);
  }

  static fromEntries(entries: Iterable<Entry>): Document {
    return new Document(undefined, 0, Array.isArray(entries) ? (entries as readonly Entry[]) : [...entries]);
  }

  /** For replies and tests: the object's keys in their order, those that are undefined left out. Not for names that users chose. */
  static of(object: Readonly<Record<string, Value | undefined>>): Document {
    const entries: Entry[] = [];
    for (const name of Object.keys(object)) {
      const value = object[name];
      if (value !== undefined) entries.push([name, value]);
    }
    return new Document(undefined, 0, entries);
  }

  get bsonType(): 3 {
    return 3;
  }

  /** The value of the first field of that name. */
  get(name: string): Value | undefined {
    if (this.#entries !== undefined) {
      for (const entry of this.#entries) if (entry[0] === name) return entry[1];
      return undefined;
    }
    const bytes = this.bytes;
    const offset = findElement(bytes, this.#start, name);
    return offset < 0 ? undefined : decodeElement(bytes, offset);
  }

  has(name: string): boolean {
    if (this.#entries !== undefined) return this.#entries.some((entry) => entry[0] === name);
    return findElement(this.bytes, this.#start, name) >= 0;
  }

  /** All fields in order, decoded once and kept. */
  get fields(): readonly Entry[] {
    this.#entries ??= decodeEntries(this.bytes, this.#start);
    return this.#entries;
  }

  entries(): IterableIterator<Entry> {
    return this.fields[Symbol.iterator]();
  }

  [Symbol.iterator](): IterableIterator<Entry> {
    return this.fields[Symbol.iterator]();
  }

  keys(): string[] {
    return this.fields.map((entry) => entry[0]);
  }

  /** The first field, or undefined in an empty document. */
  get first(): Entry | undefined {
    if (this.#entries !== undefined) return this.#entries[0];
    const bytes = this.bytes;
    const offset = this.#start + 4;
    if (bytes[offset] === 0) return undefined;
    return [decodeName(bytes, offset + 1, cstringEnd(bytes, offset + 1)), decodeElement(bytes, offset)];
  }

  get isEmpty(): boolean {
    return this.#entries === undefined ? this.#end - this.#start === 5 : this.#entries.length === 0;
  }

  /** Whether the bytes are there already; if not, asking for them makes them. */
  get isEncoded(): boolean {
    return this.#bytes !== undefined;
  }

  /** How many bytes there are to look through; 0 where its values are at hand. */
  get bytesToRead(): number {
    return this.#entries === undefined ? this.#end - this.#start : 0;
  }

  get bytes(): Uint8Array {
    if (this.#bytes !== undefined) return this.#bytes;
    this.#bytes = encodeWhole(this.#entries ?? [], writeEntries);
    this.#end = this.#bytes.length;
    return this.#bytes;
  }

  get start(): number {
    return this.#start;
  }

  get end(): number {
    if (this.#bytes === undefined) return this.bytes.length;
    return this.#end;
  }

  /** Where the document lies; it is encoded if it was not yet. */
  get raw(): RawView {
    return this;
  }

  get byteLength(): number {
    return this.end - this.#start;
  }

  /** The document's bytes, perhaps shared with others. */
  toBytes(): Uint8Array {
    const bytes = this.bytes;
    return this.#start === 0 && this.#end === bytes.length ? bytes : bytes.subarray(this.#start, this.#end);
  }

  /** Appends the document's bytes. */
  writeTo(sink: ByteSink): void {
    if (this.#bytes !== undefined) sink.range(this.#bytes, this.#start, this.#end);
    else writeEntries(sink, this.#entries ?? []);
  }
}

const SHORT_ITEMS = 16;
/** Elements take three bytes or more. */
const SHORT_BYTES = 5 + 3 * SHORT_ITEMS;

/** A BSON array. Its bytes may be shared with others: nobody writes to them. */
export class BsonArray implements RawView {
  #bytes: Uint8Array | undefined;
  #start = 0;
  #end = 0;
  #items: readonly Value[] | undefined;
  readonly #list: Documents | undefined;

  private constructor(bytes: Uint8Array | undefined, start: number, items: readonly Value[] | undefined, list?: Documents) {
    this.#list = list;
    this.#bytes = bytes;
    this.#start = start;
    if (bytes !== undefined) this.#end = start + readInt32(bytes, start);
    this.#items = items;
  }

  /** The array without elements. */
  static readonly empty: BsonArray = new BsonArray(undefined, 0, []);

  /** A view on the array that begins at `start`; as Document.fromBytes. */
  static fromBytes(bytes: Uint8Array, start = 0): BsonArray {
    return new BsonArray(bytes, start, undefined);
  }

  /** Keeps `items`, which must not change afterwards. */
  static of(items: readonly Value[]): BsonArray {
    return new BsonArray(undefined, 0, items);
  }

  /** The array of these documents. */
  static ofList(list: Documents): BsonArray {
    return new BsonArray(undefined, 0, undefined, list);
  }

  /** The documents that it was made of, if it was. */
  get list(): Documents | undefined {
    return this.#list;
  }

  get bsonType(): 4 {
    return 4;
  }

  /** All elements in order, decoded once and kept. */
  items(): readonly Value[] {
    this.#items ??= this.#list === undefined ? decodeItems(this.bytes, this.#start) : [...this.#list];
    return this.#items;
  }

  [Symbol.iterator](): IterableIterator<Value> {
    return this.items()[Symbol.iterator]();
  }

  /** Whether it has a few elements only, told without looking at them; of an array of large elements perhaps false. */
  get isShort(): boolean {
    return this.#items === undefined ? this.#end - this.#start <= SHORT_BYTES : this.#items.length <= SHORT_ITEMS;
  }

  at(index: number): Value | undefined {
    return this.items()[index];
  }

  get length(): number {
    return this.#list?.length ?? this.items().length;
  }

  get isEmpty(): boolean {
    return this.#items === undefined && this.#list === undefined ? this.#end - this.#start === 5 : this.length === 0;
  }

  get bytes(): Uint8Array {
    if (this.#bytes !== undefined) return this.#bytes;
    this.#bytes = encodeWhole(this.items(), writeItems);
    this.#end = this.#bytes.length;
    return this.#bytes;
  }

  get start(): number {
    return this.#start;
  }

  get end(): number {
    if (this.#bytes === undefined) return this.bytes.length;
    return this.#end;
  }

  get raw(): RawView {
    return this;
  }

  get byteLength(): number {
    return this.end - this.#start;
  }

  toBytes(): Uint8Array {
    const bytes = this.bytes;
    return this.#start === 0 && this.#end === bytes.length ? bytes : bytes.subarray(this.#start, this.#end);
  }

  writeTo(sink: ByteSink): void {
    if (this.#bytes !== undefined) sink.range(this.#bytes, this.#start, this.#end);
    else writeItems(sink, this.items());
  }
}

/** The code of `$type` of a value: 1 to 19, -1 or 127. */
export function typeOf(value: Value): BsonType {
  switch (typeof value) {
    case 'number':
      return bsonType.int;
    case 'string':
      return bsonType.string;
    case 'boolean':
      return bsonType.bool;
    case 'bigint':
      return bsonType.long;
    default:
      return value === null ? bsonType.null : value.bsonType;
  }
}

function decodeCodeWithScope(bytes: Uint8Array, offset: number): CodeWithScope {
  const scopeAt = offset + 8 + readInt32(bytes, offset + 4);
  return new CodeWithScope(decodeString(bytes, offset + 4), Document.fromBytes(bytes, scopeAt));
}

type Decoder = (bytes: Uint8Array, offset: number) => Value;

const decoders: ReadonlyMap<number, Decoder> = new Map<number, Decoder>([
  ...scalarDecoders,
  [bsonType.object, (bytes, offset) => Document.fromBytes(bytes, offset)],
  [bsonType.array, (bytes, offset) => BsonArray.fromBytes(bytes, offset)],
  [bsonType.javascriptWithScope, decodeCodeWithScope],
]);
const decoderOf: readonly (Decoder | undefined)[] = Array.from({ length: 256 }, (_, type) => decoders.get(type));

/** The value at `offset`, whose type byte is `type`. Documents and arrays come as views, everything else in memory of its own. */
export function decodeValue(bytes: Uint8Array, type: number, offset: number): Value {
  if (type === bsonType.int) return readInt32(bytes, offset);
  if (type === bsonType.string) return decodeString(bytes, offset);
  const decoder = decoderOf[type];
  if (decoder === undefined) throw new AssertionError('BSON bytes with an unknown type were not validated');
  return decoder(bytes, offset);
}

/** The value of the element whose type byte is at `offset`. */
export function decodeElement(bytes: Uint8Array, offset: number): Value {
  return decodeValue(bytes, bytes[offset] as number, elementValue(bytes, offset));
}

function decodeEntries(bytes: Uint8Array, start: number): Entry[] {
  const entries: Entry[] = [];
  let offset = start + 4;
  for (;;) {
    const type = bytes[offset] as number;
    if (type === 0) return entries;
    const nameEnd = cstringEnd(bytes, offset + 1);
    entries.push([decodeName(bytes, offset + 1, nameEnd), decodeValue(bytes, type, nameEnd + 1)]);
    offset = valueEnd(bytes, type, nameEnd + 1);
  }
}

function decodeItems(bytes: Uint8Array, start: number): Value[] {
  const items: Value[] = [];
  let offset = start + 4;
  for (;;) {
    const type = bytes[offset] as number;
    if (type === 0) return items;
    const valueAt = cstringEnd(bytes, offset + 1) + 1;
    items.push(decodeValue(bytes, type, valueAt));
    offset = valueEnd(bytes, type, valueAt);
  }
}

const sharedSinkMax = 1 << 20;
let sharedSink = new ByteSink(4096);

function encodeWhole<T>(content: T, write: (sink: ByteSink, content: T) => void): Uint8Array {
  const sink = sharedSink;
  sink.length = 0;
  write(sink, content);
  if (sink.bytes.length <= sharedSinkMax) return sink.toBytes();
  // A large one is not copied once more: its memory is what was made, and another sink is shared from now on.
  sharedSink = new ByteSink(4096);
  return sink.giveBytes();
}

function writeEntries(sink: ByteSink, entries: readonly Entry[]): void {
  const { length: at, total } = sink;
  sink.int32(0);
  for (const entry of entries) writeElement(sink, entry[0], entry[1]);
  sink.byte(0);
  writeInt32(sink.bytes, at, sink.total - total);
}

const indexNames: readonly string[] = Array.from({ length: 1000 }, (_, index) => String(index));

/** The name of an array's element. */
export function indexName(index: number): string {
  return indexNames[index] ?? String(index);
}

function writeItems(sink: ByteSink, items: readonly Value[]): void {
  const { length: at, total } = sink;
  sink.int32(0);
  let index = 0;
  for (const item of items) writeElement(sink, indexName(index++), item);
  sink.byte(0);
  writeInt32(sink.bytes, at, sink.total - total);
}

/** Appends an element: type, name, value. A number that is no int32 is a bug of the caller. */
export function writeElement(sink: ByteSink, name: string, value: Value): void {
  sink.byte(typeOf(value) & 0xff);
  sink.cstring(name);
  writeValue(sink, value);
}

function writeValue(sink: ByteSink, value: Value): void {
  switch (typeof value) {
    case 'number':
      if ((value | 0) !== value) throw new AssertionError('a plain number must be an int32');
      sink.int32(value);
      return;
    case 'string':
      sink.string(value);
      return;
    case 'boolean':
      sink.byte(value ? 1 : 0);
      return;
    case 'bigint':
      if (BigInt.asIntN(64, value) !== value) throw new AssertionError('a bigint must be an int64');
      sink.int64(value);
      return;
    default:
      if (value !== null) writeObject(sink, value);
  }
}

type ObjectValue = Extract<Value, { readonly bsonType: BsonType }>;
// A method's type, because its parameter may be narrower: a row is only given values of its type.
type ObjectWriter = { of(sink: ByteSink, value: ObjectValue): void }['of'];

const writers: { readonly [Code in ObjectValue['bsonType']]: ObjectWriter } = {
  ...scalarWriters,
  [bsonType.object]: (sink, value: Document) => {
    value.writeTo(sink);
  },
  [bsonType.array]: (sink, value: BsonArray) => {
    value.writeTo(sink);
  },
  [bsonType.javascriptWithScope]: (sink, value: CodeWithScope) => {
    const { length: at, total } = sink;
    sink.int32(0);
    sink.string(value.code);
    value.scope.writeTo(sink);
    writeInt32(sink.bytes, at, sink.total - total);
  },
};

function writeObject(sink: ByteSink, value: ObjectValue): void {
  writers[value.bsonType](sink, value);
}
