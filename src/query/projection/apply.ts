// Applies a projection's tree to a raw document: untouched fields are copied as they lie, in their order; computed ones come behind them.
// Arrays on the way of a dotted path are entered; what is no document in them is dropped by an inclusion and kept by an exclusion.
// Follows the manual's pages "$project" and "$addFields".

import type { Document} from '../../bson/index.ts';
import { bsonType, elementValue, findElement, item, NameTable, valueEnd } from '../../bson/index.ts';
import type { BsonWriter } from '../../bson/index.ts';
import { AssertionError } from '../../base/errors.ts';
import { refuse } from '../refuse.ts';
import { borrowWriter } from '../shared-writer.ts';
import type { ProjectionBranch, ProjectionMode, ProjectionNode, SliceNode } from './node.ts';

/** The place of the filter's match in the outermost array, for the positional operator; -1 if there is none. */
export type MatchPosition = () => number;

/** Gives the projected document. */
export function applyProjection(doc: Document, root: ProjectionBranch, mode: ProjectionMode, position: MatchPosition): Document {
  const run = new ProjectionRun(doc, mode, position);
  return run.whole(root);
}

/** An element of a raw document: where it begins, its type, where its value begins, where it ends. */
interface Element {
  readonly bytes: Uint8Array;
  readonly at: number;
  readonly type: number;
  readonly value: number;
  readonly end: number;
  readonly name: string;
}

/** The elements of an array: what they are called does not count. */
function* elementsOf(bytes: Uint8Array, start: number): IterableIterator<Element> {
  let at = start + 4;
  for (;;) {
    const type = bytes[at] as number;
    if (type === 0) return;
    const value = elementValue(bytes, at);
    const end = valueEnd(bytes, type, value);
    yield { bytes, at, type, value, end, name: '' };
    at = end;
  }
}

class ProjectionRun {
  readonly #root: Document;
  readonly #mode: ProjectionMode;
  readonly #position: MatchPosition;
  readonly #writer: BsonWriter;

  constructor(root: Document, mode: ProjectionMode, position: MatchPosition) {
    this.#root = root;
    this.#mode = mode;
    this.#position = position;
    this.#writer = borrowWriter(root.byteLength);
  }

  whole(branch: ProjectionBranch): Document {
    this.#document(this.#root.bytes, this.#root.start, branch);
    return this.#writer.finishDocument();
  }

  /** Writes what becomes of the fields of the document at `start`. */
  #document(bytes: Uint8Array, start: number, branch: ProjectionBranch): void {
    const done = branch.computes ? new Set<string>() : undefined;
    const names = namesOf(branch.fields);
    const keeps = this.#mode !== 'include';
    let kept = start + 4;
    let at = kept;
    for (;;) {
      const type = bytes[at] as number;
      if (type === 0) break;
      const value = elementValue(bytes, at);
      const end = valueEnd(bytes, type, value);
      const found = names.find(bytes, at + 1, value - 1);
      if (found === undefined ? !keeps : found.value.kind !== 'include') {
        if (kept < at) this.#writer.copyElements(bytes, kept, at);
        kept = end;
        if (found !== undefined && this.#field({ bytes, at, type, value, end, name: found.name }, found.value)) done?.add(found.name);
      } else if (found !== undefined) {
        done?.add(found.name);
      }
      at = end;
    }
    if (kept < at) this.#writer.copyElements(bytes, kept, at);
    if (done !== undefined) this.#missing(bytes, start, branch, done);
  }

  #copy(element: Element): void {
    this.#writer.copyElements(element.bytes, element.at, element.end);
  }

  /** Writes a field that the tree names. False if it is still to be made by `#missing`. */
  #field(element: Element, node: ProjectionNode): boolean {
    switch (node.kind) {
      case 'include':
        this.#copy(element);
        return true;
      case 'exclude':
        return true;
      case 'slice':
        this.#slice(element, node);
        return true;
      case 'positional':
        this.#positional(element, undefined);
        return true;
      case 'elemMatch':
        if (this.#mode === 'include') return false;
        this.#elemMatch(element, node.find);
        return true;
      case 'computed': {
        if (this.#mode !== 'add') return false;
        const value = node.expression.evaluate(this.#root);
        if (value !== undefined) this.#writer.writeElement(element.name, value);
        return true;
      }
      case 'branch':
        return this.#branch(element, node);
    }
  }

  #branch(element: Element, node: ProjectionBranch): boolean {
    const { bytes, type, value, name } = element;
    if (type === bsonType.object) {
      this.#writer.startDocument(name);
      this.#document(bytes, value, node);
      this.#writer.end();
      return true;
    }
    if (type === bsonType.array) {
      if (node.positional) this.#positional(element, node);
      else this.#array(element, node, name);
      return true;
    }
    if (this.#mode === 'exclude') this.#copy(element);
    else if (this.#mode === 'add') this.#made(name, node);
    else return !node.computes;
    return true;
  }

  #array(element: Element, node: ProjectionBranch, name: string): void {
    let index = 0;
    this.#writer.startArray(name);
    for (const inner of elementsOf(element.bytes, element.value)) {
      if (inner.type === bsonType.object) {
        this.#writer.startDocument(item(index++));
        this.#document(inner.bytes, inner.value, node);
        this.#writer.end();
      } else if (inner.type === bsonType.array) {
        this.#array(inner, node, item(index++));
      } else if (this.#mode === 'exclude') {
        this.#copy(inner);
      } else if (node.computes) {
        this.#made(item(index++), node);
      }
    }
    this.#writer.end();
  }

  /** Writes a document that has only the computed fields of a branch. */
  #made(name: string, branch: ProjectionBranch): void {
    this.#writer.startDocument(name);
    for (const [field, node] of branch.fields) this.#makeField(field, node);
    this.#writer.end();
  }

  #makeField(name: string, node: ProjectionNode): void {
    if (node.kind === 'branch') {
      if (node.computes) this.#made(name, node);
    } else if (node.kind === 'computed') {
      const value = node.expression.evaluate(this.#root);
      if (value !== undefined) this.#writer.writeElement(name, value);
    }
  }

  /** Writes the computed fields that are not yet there, in the order of the specification. */
  #missing(bytes: Uint8Array, start: number, branch: ProjectionBranch, done: ReadonlySet<string>): void {
    for (const [name, node] of branch.fields) {
      if (done.has(name)) continue;
      if (node.kind === 'elemMatch') {
        const at = findElement(bytes, start, name);
        if (at >= 0) this.#elemMatch(elementAt(bytes, at, name), node.find);
      } else {
        this.#makeField(name, node);
      }
    }
  }

  #elemMatch(element: Element, find: (bytes: Uint8Array, start: number) => number): void {
    if (element.type !== bsonType.array) return;
    const index = find(element.bytes, element.value);
    if (index < 0) return;
    this.#writer.startArray(element.name);
    this.#elements(element, index, index + 1);
    this.#writer.end();
  }

  /** Writes elements [from, to) of an array as the first ones of the array that is open. */
  #elements(element: Element, from: number, to: number): void {
    let index = 0;
    for (const inner of elementsOf(element.bytes, element.value)) {
      if (index >= to) return;
      if (index >= from) {
        this.#writer.writeRange(item(index - from), inner.type, inner.bytes, inner.value, inner.end);
      }
      index++;
    }
  }

  #slice(element: Element, node: SliceNode): void {
    if (element.type !== bsonType.array) {
      this.#copy(element);
      return;
    }
    let length = 0;
    if (node.skip === undefined ? node.limit < 0 : node.skip < 0) length = countElements(element);
    const [from, to] = sliceRange(node, length);
    this.#writer.startArray(element.name);
    this.#elements(element, from, to);
    this.#writer.end();
  }

  /** Reduces the array to the element that the filter matched; below it goes on with the branch, if there is one. */
  #positional(element: Element, branch: ProjectionBranch | undefined): void {
    if (element.type !== bsonType.array) {
      this.#copy(element);
      return;
    }
    const position = this.#position();
    if (position < 0) {
      throw refuse(51246, "Executor error during find command :: caused by :: positional operator '.$' couldn't find a matching element in the array");
    }
    let index = 0;
    for (const inner of elementsOf(element.bytes, element.value)) {
      if (index++ !== position) continue;
      this.#writer.startArray(element.name);
      if (branch !== undefined && inner.type === bsonType.object) {
        this.#writer.startDocument(item(0));
        this.#document(inner.bytes, inner.value, { ...branch, positional: false });
        this.#writer.end();
      } else {
        this.#writer.writeRange(item(0), inner.type, inner.bytes, inner.value, inner.end);
      }
      this.#writer.end();
      return;
    }
    throw refuse(51247, "Executor error during find command :: caused by :: positional operator '.$' element mismatch");
  }
}

const tables: WeakMap<ReadonlyMap<string, ProjectionNode>, NameTable<ProjectionNode>> = new WeakMap();

/** The names of a level, made once for all documents. */
function namesOf(fields: ReadonlyMap<string, ProjectionNode>): NameTable<ProjectionNode> {
  const known = tables.get(fields) ?? new NameTable(fields);
  tables.set(fields, known);
  return known;
}

function elementAt(bytes: Uint8Array, at: number, name: string): Element {
  const type = bytes[at];
  if (type === undefined) throw new AssertionError('an element beyond its document');
  const value = elementValue(bytes, at);
  return { bytes, at, type, value, end: valueEnd(bytes, type, value), name };
}

function countElements(element: Element): number {
  let count = 0;
  for (const inner of elementsOf(element.bytes, element.value)) if (inner.end > 0) count++;
  return count;
}

/** The elements [from, to) that a slice of an array of this length keeps; the length is needed only for a slice from the back. */
function sliceRange(node: SliceNode, length: number): [number, number] {
  const { skip, limit } = node;
  if (skip === undefined) return limit >= 0 ? [0, limit] : [Math.max(length + limit, 0), length];
  const from = skip >= 0 ? skip : Math.max(length + skip, 0);
  return [from, from + limit];
}
