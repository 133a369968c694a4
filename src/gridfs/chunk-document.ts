// A chunk document as raw BSON: its bytes are found, or laid down, where they lie, because they are nearly all of the document and making
// values of it would copy them once more. Reading trusts the BSON (the catalog checked it), not what it says.

import { Binary, bsonType, decodeElement, Document, elementValue, FieldName, findField, isNumber, readInt32, toDouble } from '../bson/index.ts';
import type { ObjectId, Value } from '../bson/index.ts';

const nName = new FieldName('n');
const dataName = new FieldName('data');
const oldBinary = 2;

/** What a chunk document says. The bytes share memory with the document. */
export interface RawChunk {
  /** NaN where it is no number. */
  readonly n: number;
  /** Undefined where there are none. */
  readonly data: Uint8Array | undefined;
}

/** Reads the chunk document that begins at `start`. */
export function readChunk(bytes: Uint8Array, start: number): RawChunk {
  return { n: numberAt(bytes, findField(bytes, start, nName)), data: binaryAt(bytes, findField(bytes, start, dataName)) };
}

/** Where the bytes of the file lie in a chunk document. */
export interface ChunkPlan {
  /** NaN where it is no number. */
  readonly n: number;
  readonly dataStart: number;
  readonly dataLength: number;
}

/**
 * The plan of a document of which only the beginning is there: undefined where that does not tell. Drivers write `_id`, `files_id`, `n` and `data`, so it
 * nearly always does.
 */
export function readChunkPlan(beginning: Uint8Array): ChunkPlan | undefined {
  let n: number | undefined;
  for (let at = 4; at + 1 < beginning.length; ) {
    const type = beginning[at] as number;
    const nameEnd = beginning.indexOf(0, at + 1);
    const value = nameEnd + 1;
    if (type === 0 || nameEnd < 0 || value + 8 > beginning.length) return undefined;
    if (isNamed(beginning, at + 1, nameEnd, 'data')) return n === undefined || type !== bsonType.binData ? undefined : dataPlan(beginning, value, n);
    if (n === undefined && isNamed(beginning, at + 1, nameEnd, 'n')) n = numberAt(beginning, at);
    const bytes = valueBytes(type, readInt32(beginning, value));
    if (bytes === undefined) return undefined;
    at = value + bytes;
  }
  return undefined;
}

function dataPlan(bytes: Uint8Array, at: number, n: number): ChunkPlan | undefined {
  return bytes[at + 4] === oldBinary ? undefined : { n, dataStart: at + 5, dataLength: readInt32(bytes, at) };
}

function isNamed(bytes: Uint8Array, from: number, to: number, name: string): boolean {
  if (to - from !== name.length) return false;
  for (let i = 0; i < name.length; i++) if (bytes[from + i] !== name.charCodeAt(i)) return false;
  return true;
}

/** Bytes of the values that chunks have before their data; `first`: what the value's first four bytes say. */
function valueBytes(type: number, first: number): number | undefined {
  if (type === bsonType.objectId) return 12;
  if (type === bsonType.int) return 4;
  if (type === bsonType.long || type === bsonType.double || type === bsonType.date) return 8;
  if (type === bsonType.string) return 4 + first;
  if (type === bsonType.binData) return 5 + first;
  return type === bsonType.object || type === bsonType.array ? first : undefined;
}

/** The number of the chunk in the document that begins at `start`; NaN where it is no number. */
export function readChunkNumber(bytes: Uint8Array, start: number): number {
  return numberAt(bytes, findField(bytes, start, nName));
}

function numberAt(bytes: Uint8Array, offset: number): number {
  if (offset < 0) return Number.NaN;
  const value = decodeElement(bytes, offset);
  return isNumber(value) ? toDouble(value) : Number.NaN;
}

function binaryAt(bytes: Uint8Array, offset: number): Uint8Array | undefined {
  if (offset < 0 || bytes[offset] !== bsonType.binData) return undefined;
  const at = elementValue(bytes, offset);
  const length = readInt32(bytes, at);
  const begin = at + 5;
  // The old subtype carries its length once more.
  if (bytes[at + 4] === oldBinary) return length < 4 ? undefined : bytes.subarray(begin + 4, begin + length);
  return bytes.subarray(begin, begin + length);
}

/** What a chunk document has beside the bytes of the file, at most: ids are ObjectIds. */
const headBytesMax = 128;

/** Memory for one chunk document of a file. */
export function chunkMemory(capacity: number): Uint8Array {
  return new Uint8Array(capacity + headBytesMax);
}

/** A chunk document being filled: the bytes of the file are copied once, to where they are stored from. */
export class ChunkBuffer {
  readonly n: number;
  readonly memory: Uint8Array;
  readonly #headBytes: number;
  readonly #capacity: number;
  #length = 0;

  /** `memory`: of `chunkMemory(capacity)`; nobody else writes to it while the document is in use. */
  constructor(ids: { readonly id: ObjectId; readonly file: Value }, n: number, { capacity, memory }: { readonly capacity: number; readonly memory: Uint8Array }) {
    this.n = n;
    this.memory = memory;
    this.#capacity = capacity;
    const empty = Document.of({ _id: ids.id, files_id: ids.file, n, data: new Binary(new Uint8Array(0)) }).toBytes();
    this.#headBytes = empty.length - 1;
    memory.set(empty);
  }

  /** Bytes of the file in it. */
  get length(): number {
    return this.#length;
  }

  get isFull(): boolean {
    return this.#length === this.#capacity;
  }

  /** Copies from source[start, …) what there is room for; the offset behind it. */
  fill(source: Uint8Array, start: number): number {
    const count = Math.min(source.length - start, this.#capacity - this.#length);
    this.memory.set(source.subarray(start, start + count), this.#headBytes + this.#length);
    this.#length += count;
    return start + count;
  }

  /** The document; nothing is filled in afterwards. */
  document(): Document {
    const size = this.#headBytes + this.#length + 1;
    this.memory[size - 1] = 0;
    const view = new DataView(this.memory.buffer, this.memory.byteOffset);
    view.setInt32(0, size, true);
    view.setInt32(this.#headBytes - 5, this.#length, true);
    return Document.fromBytes(this.memory.subarray(0, size));
  }
}
