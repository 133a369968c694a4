// Documents on their way in: `_id` first and there, of a type that may be a key, the document within its limits. Follows MongoDB's
// page "Documents" (field order, `_id`, limits) and its server's texts. Walks the top level once; only nested values are looked into deeper.

import { CommandError } from '../base/errors.ts';
import { BsonWriter, bsonType, Document, elementValue, FieldName, storedDepthMax, Timestamp, valueEnd, readUint32 } from '../bson/index.ts';
import type { ObjectIdGenerator } from '../bson/index.ts';
import type { Namespace } from './namespace.ts';
import { badValue } from './refusal.ts';

/** Largest document. */
export const documentBytesMax: number = 16 * 1024 * 1024;

/** Most bytes of what a session remembers of its last write: replies that hold whole documents, or as many keys as one message brings. */
const recordBytesMax: number = 4 * documentBytesMax;

/** Most bytes of a document of a collection. */
export function bytesMaxOf(ns: Namespace): number {
  return ns.text === 'config.transactions' ? recordBytesMax : documentBytesMax;
}

/** Where new ids and times come from. */
export interface IncomingSources {
  readonly ids: ObjectIdGenerator;
  readonly clock: { nowMs(): number };
}

const idName = new FieldName('_id');

const refusedIds: ReadonlyMap<number, string> = new Map([
  [bsonType.array, "The '_id' value cannot be of type array"],
  [bsonType.regex, "The '_id' value cannot be of type regex"],
  [bsonType.undefined, "The '_id' value cannot be of type undefined"],
]);

/** Makes documents ready for insertion. */
export class IncomingDocuments {
  readonly #sources: IncomingSources;
  #lastSeconds = 0;
  #increment = 0;

  constructor(sources: IncomingSources) {
    this.#sources = sources;
  }

  /** The document to store. 2, 15, 17280 ... for what may not be. */
  prepare(document: Document, bytesMax: number = documentBytesMax): Document {
    const { bytes, start } = document.raw;
    const scan = scanTopLevel(bytes, start);
    if (scan.id >= 0) checkId(bytes, scan.id);
    const placed = scan.id === start + 4 && !scan.zeroTimestamp ? document : this.#rebuild(document, scan.id);
    if (placed.byteLength > bytesMax) {
      throw new CommandError(
        10334,
        'BSONObjectTooLarge',
        `object to insert too large. size in bytes: ${placed.byteLength}, max size: ${bytesMax}`,
      );
    }
    return placed;
  }

  #rebuild(document: Document, id: number): Document {
    const { bytes, start } = document.raw;
    const writer = new BsonWriter(document.byteLength + 32);
    if (id < 0) writer.writeElement('_id', this.#sources.ids.next());
    else writer.copyElements(bytes, id, end(bytes, id));
    let offset = start + 4;
    while (bytes[offset] !== 0) {
      const next = end(bytes, offset);
      if (offset !== id) this.#copy(writer, bytes, offset, next);
      offset = next;
    }
    return writer.finishDocument();
  }

  #copy(writer: BsonWriter, bytes: Uint8Array, offset: number, next: number): void {
    if (!isZeroTimestamp(bytes, offset)) {
      writer.copyElements(bytes, offset, next);
      return;
    }
    const [element] = Document.fromBytes(wrap(bytes, offset, next)).fields;
    writer.writeElement(element?.[0] ?? '', this.#now());
  }

  #now(): Timestamp {
    const seconds = Math.max(this.#lastSeconds, Math.floor(this.#sources.clock.nowMs() / 1000));
    this.#increment = seconds === this.#lastSeconds ? this.#increment + 1 : 1;
    this.#lastSeconds = seconds;
    return new Timestamp(seconds, this.#increment);
  }
}

const end = (bytes: Uint8Array, offset: number): number => valueEnd(bytes, bytes[offset] as number, elementValue(bytes, offset));

/** A document of the one element at bytes[offset, next). */
function wrap(bytes: Uint8Array, offset: number, next: number): Uint8Array {
  return new BsonWriter(next - offset + 8).copyElements(bytes, offset, next).finish();
}

function isZeroTimestamp(bytes: Uint8Array, offset: number): boolean {
  if (bytes[offset] !== bsonType.timestamp) return false;
  const at = elementValue(bytes, offset);
  return readUint32(bytes, at) === 0 && readUint32(bytes, at + 4) === 0;
}

/** One walk of the top level: where `_id` is, whether a timestamp is to be filled in; what is nested is not too deep. */
function scanTopLevel(bytes: Uint8Array, start: number): { readonly id: number; readonly zeroTimestamp: boolean } {
  let id = -1;
  let zeroTimestamp = false;
  let offset = start + 4;
  for (let type = bytes[offset] as number; type !== 0; type = bytes[offset] as number) {
    const at = elementValue(bytes, offset);
    if (bytes[offset + 1] === underscore && isNamed(bytes, offset, idName)) {
      if (id >= 0) throw badValue("can't have multiple _id fields in one document");
      id = offset;
    } else if (type === bsonType.timestamp && isZeroTimestamp(bytes, offset)) {
      zeroTimestamp = true;
    }
    if (type === bsonType.object || type === bsonType.array) checkDepth(bytes, at, 2);
    offset = valueEnd(bytes, type, at);
  }
  return { id, zeroTimestamp };
}

const underscore = 0x5f;

function isNamed(bytes: Uint8Array, offset: number, name: FieldName): boolean {
  const wanted = name.bytes;
  for (let i = 0; i < wanted.length; i++) if (bytes[offset + 1 + i] !== wanted[i]) return false;
  return bytes[offset + 1 + wanted.length] === 0;
}

function checkId(bytes: Uint8Array, offset: number): void {
  const type = bytes[offset] as number;
  const refused = refusedIds.get(type);
  if (refused !== undefined) throw new CommandError(53, 'InvalidIdField', refused);
  if (type !== bsonType.object) return;
  const [first] = Document.fromBytes(bytes, elementValue(bytes, offset)).fields;
  if (first?.[0].startsWith('$') === true && !/^\$(id|ref|db)$/.test(first[0])) {
    throw new CommandError(52, 'DollarPrefixedFieldName', `_id fields may not contain '$'-prefixed fields: ${first[0]} is not valid for storage.`);
  }
}

/** Refuses more levels of documents and arrays than may be stored; the document at `start` is level `depth`. */
export function checkDepth(bytes: Uint8Array, start: number, depth: number): void {
  if (depth > storedDepthMax) {
    throw new CommandError(15, 'Overflow', `cannot insert document because it exceeds ${storedDepthMax} levels of nesting`);
  }
  let offset = start + 4;
  while (bytes[offset] !== 0) {
    const type = bytes[offset] as number;
    const at = elementValue(bytes, offset);
    if (type === bsonType.object || type === bsonType.array) checkDepth(bytes, at, depth + 1);
    offset = valueEnd(bytes, type, at);
  }
}
