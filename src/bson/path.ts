// Dotted paths through raw documents, in the two ways MongoDB walks them. A query's path looks into every element of the arrays on
// its way, and a numeric component also means an index (manual: "Query an Array"). An aggregation's path maps over the documents in
// arrays and knows no indexes. Names are prepared once per path; nothing is decoded before the path's end.

import { BsonArray, decodeValue, Document } from './document.ts';
import type { Value } from './document.ts';
import { bsonType, cstringEnd, elementValue, FieldName, findField, valueEnd } from './raw.ts';
import type { RawView } from './raw.ts';

/** One component of a path. */
export interface PathPart {
  readonly name: FieldName;
  /** The array index it can mean, or -1. */
  readonly index: number;
}

/** A dotted path, ready to be walked. */
export interface Path {
  readonly text: string;
  readonly parts: readonly PathPart[];
}

/** Splits a dotted path. Empty components are kept: whether they are allowed is the caller's rule. */
export function parsePath(dotted: string): Path {
  const parts = dotted.split('.').map((text) => ({ name: new FieldName(text), index: indexOf(text) }));
  return { text: dotted, parts };
}

function indexOf(text: string): number {
  return /^(?:0|[1-9]\d{0,8})$/.test(text) ? Number(text) : -1;
}

/**
 * What visitPath calls for each value. `value` is undefined where the path leads to nothing. `offset` is the index of the element of
 * the outermost array that was looked into without being asked for (what the positional operator means), -1 if there was none.
 * `whole` says that the path ended at an index: an array is then to be taken as it is, else its elements count as well.
 * True ends the walk.
 */
export type PathVisitor = (value: Value | undefined, offset: number, whole: boolean) => boolean;

/**
 * Calls `visit` for every value that a query's path reaches, in document order; a leaf array comes whole, and the caller looks into
 * it. Elements of an array that cannot hold the rest of the path are passed over without a call. Returns whether `visit` ended it.
 */
export function visitPath(doc: RawView, path: Path, visit: PathVisitor): boolean {
  return new PathWalk(path.parts, visit).document(doc.bytes, doc.start, 0, -1);
}

class PathWalk {
  readonly #parts: readonly PathPart[];
  readonly #visit: PathVisitor;

  constructor(parts: readonly PathPart[], visit: PathVisitor) {
    this.#parts = parts;
    this.#visit = visit;
  }

  /** Follows the parts from `depth` on in the document at `start`. */
  document(bytes: Uint8Array, start: number, depth: number, offset: number): boolean {
    const last = this.#parts.length - 1;
    let at = start;
    for (let part = depth; ; part++) {
      const element = findField(bytes, at, (this.#parts[part] as PathPart).name);
      if (element < 0) return this.#visit(undefined, offset, false);
      const type = bytes[element] as number;
      const value = elementValue(bytes, element);
      if (part === last) return this.#visit(decodeValue(bytes, type, value), offset, false);
      if (type === bsonType.array) return this.#array(bytes, value, part + 1, offset);
      if (type !== bsonType.object) return this.#visit(undefined, offset, false);
      at = value;
    }
  }

  /** Follows the parts from `depth` on in each element of the array at `start`. */
  #array(bytes: Uint8Array, start: number, depth: number, offset: number): boolean {
    const wanted = (this.#parts[depth] as PathPart).index;
    let at = start + 4;
    for (let index = 0; ; index++) {
      const type = bytes[at] as number;
      if (type === 0) return false;
      const value = cstringEnd(bytes, at + 1) + 1;
      if (type === bsonType.object && this.document(bytes, value, depth, offset < 0 ? index : offset)) return true;
      if (index === wanted && this.#indexed(bytes, value, type, depth, offset)) return true;
      at = valueEnd(bytes, type, value);
    }
  }

  #indexed(bytes: Uint8Array, value: number, type: number, depth: number, offset: number): boolean {
    if (depth === this.#parts.length - 1) return this.#visit(decodeValue(bytes, type, value), offset, true);
    if (type === bsonType.object) return this.document(bytes, value, depth + 1, offset);
    if (type === bsonType.array) return this.#array(bytes, value, depth + 1, offset);
    return false;
  }
}

/**
 * The value of an aggregation's path ("$a.b"): undefined where it is missing; where the path meets an array, an array of what the
 * documents in it have, without those that have nothing.
 */
export function getField(doc: Document, path: Path): Value | undefined {
  return fieldOf(doc, path.parts, 0);
}

/** Documents that were never encoded are walked as they are: encoding one to read a field would cost more. */
function fieldOf(doc: Document, parts: readonly PathPart[], depth: number): Value | undefined {
  let at = doc;
  for (let part = depth; ; part++) {
    if (at.isEncoded) return fieldAt(at.bytes, at.start, parts, part);
    const value = at.get((parts[part] as PathPart).name.text);
    if (part === parts.length - 1) return value;
    if (value instanceof BsonArray) return fieldsOfItems(value, parts, part + 1);
    if (!(value instanceof Document)) return undefined;
    at = value;
  }
}

function fieldsOfItems(array: BsonArray, parts: readonly PathPart[], depth: number): BsonArray {
  const found: Value[] = [];
  for (const item of array.items()) {
    const field = item instanceof Document ? fieldOf(item, parts, depth) : undefined;
    if (field !== undefined) found.push(field);
  }
  return BsonArray.of(found);
}

function fieldAt(bytes: Uint8Array, start: number, parts: readonly PathPart[], depth: number): Value | undefined {
  let at = start;
  for (let part = depth; ; part++) {
    const element = findField(bytes, at, (parts[part] as PathPart).name);
    if (element < 0) return undefined;
    const type = bytes[element] as number;
    const value = elementValue(bytes, element);
    if (part === parts.length - 1) return decodeValue(bytes, type, value);
    if (type === bsonType.array) return fieldsInArray(bytes, value, parts, part + 1);
    if (type !== bsonType.object) return undefined;
    at = value;
  }
}

function fieldsInArray(bytes: Uint8Array, start: number, parts: readonly PathPart[], depth: number): BsonArray {
  const found: Value[] = [];
  let at = start + 4;
  for (;;) {
    const type = bytes[at] as number;
    if (type === 0) return BsonArray.of(found);
    const value = cstringEnd(bytes, at + 1) + 1;
    if (type === bsonType.object) {
      const field = fieldAt(bytes, value, parts, depth);
      if (field !== undefined) found.push(field);
    }
    at = valueEnd(bytes, type, value);
  }
}
