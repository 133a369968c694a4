// Applies an update's tree to one raw document: one walk, untouched fields copied as they lie, changed ones written in their place, new
// ones behind them. Whether anything changed is known from the bytes. Follows the manual's pages "Update Operators" and the positional
// operators; the texts of refusals are MongoDB's.

import { must } from '../../base/assert.ts';
import { looped } from '../../base/long-work.ts';
import { bsonType, BsonWriter, describeField, Document, elementValue, firstElement, item, NameTable, valueEnd } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { refuse } from '../refuse.ts';
import { borrowWriter } from '../shared-writer.ts';
import type { ArrayFilters } from './array-filter.ts';
import { mergeNodes } from './node.ts';
import type { ElementsNode, FieldsNode, UpdateNode } from './node.ts';
import { keep, remove } from './operation.ts';
import type { OperationScope, Outcome } from './operation.ts';
import { refuseDollarName } from './path.ts';
import { isSame, RawValue } from './raw-value.ts';

/** Arrays of fewer bytes are changed in one go. */
const LONG_BYTES = 16384;

/** Nulls that one update may put between an array's end and a new element. */
const PADDING_MAX = 1_500_000;

/** The updated document, or the same one if nothing changed. */
export function runUpdate(doc: Document, root: FieldsNode, scope: OperationScope, filters: ArrayFilters): Document {
  const begin = (): { readonly run: UpdateRun; updated: Document } => ({ run: new UpdateRun(scope, filters, borrowWriter(doc.byteLength + 64)), updated: doc });
  const update = looped(begin, (state) => {
    state.updated = state.run.whole(doc, root);
    return true;
  });
  return must(update, 'an update is begun').updated;
}

const INDEX = /^(?:0|[1-9][0-9]*)$/;

class UpdateRun {
  readonly #scope: OperationScope;
  readonly #filters: ArrayFilters;
  readonly #writer: BsonWriter;
  #changed = false;

  constructor(scope: OperationScope, filters: ArrayFilters, writer: BsonWriter) {
    this.#scope = scope;
    this.#filters = filters;
    this.#writer = writer;
  }

  #beginAnew(): void {
    this.#writer.reset();
    this.#changed = false;
  }

  /** The whole document; from its beginning again where it was broken off. */
  whole(doc: Document, root: FieldsNode): Document {
    this.#beginAnew();
    this.#fields(doc.bytes, doc.start, root, '');
    return this.#changed ? this.#writer.finishDocument() : doc;
  }

  /** The children of a level with the positional one put at its index. */
  #childrenOf(node: FieldsNode, path: string): ReadonlyMap<string, UpdateNode> {
    if (node.positional === undefined) return node.children;
    const { position } = this.#scope.context;
    if (position === undefined || position < 0) {
      throw refuse(2, 'The positional operator did not find the match needed from the query.');
    }
    const name = String(position);
    const known = node.children.get(name);
    const merged = known === undefined ? node.positional : mergeNodes(known, node.positional, join(path, name));
    return new Map([...node.children, [name, merged]]);
  }

  #fields(bytes: Uint8Array, start: number, node: FieldsNode, path: string): void {
    const children = this.#childrenOf(node, path);
    const names = namesOf(children);
    const seen = new Set<string>();
    const place = { path, inArray: false };
    let untouched = start + 4;
    let at = untouched;
    for (;;) {
      const type = bytes[at] as number;
      if (type === 0) break;
      const value = elementValue(bytes, at);
      const end = valueEnd(bytes, type, value);
      const found = names.find(bytes, at + 1, value - 1);
      if (found !== undefined && !seen.has(found.name)) {
        if (untouched < at) this.#writer.copyElements(bytes, untouched, at);
        untouched = end;
        seen.add(found.name);
        this.#touch(found.name, new RawValue(bytes, type, value, end), found.value, place);
      }
      at = end;
    }
    if (untouched < at) this.#writer.copyElements(bytes, untouched, at);
    if (seen.size === children.size) return;
    for (const [name, child] of children) if (!seen.has(name)) this.#create(name, child, path);
  }

  #create(name: string, child: UpdateNode, path: string): void {
    const made = this.#makeValue(child, join(path, name));
    if (made === keep) return;
    if (path === '') this.#checkTopName(name);
    this.#write(name, made);
  }

  /** Stored documents may have `$` names below the top; an insertion may bring them at the top too. */
  #checkTopName(name: string): void {
    if (!this.#scope.inserting) refuseDollarName(name, name);
  }

  #write(name: string, value: Value | RawValue): void {
    this.#changed = true;
    if (value instanceof RawValue) this.#writer.writeRange(name, value.type, value.bytes, value.start, value.end);
    else this.#writer.writeElement(name, value);
  }

  /** The value of something that is not there; `keep` if it stays so. */
  #makeValue(node: UpdateNode, path: string): Value | RawValue | typeof keep {
    if (node.kind === 'leaf') return node.operation.missing(this.#scope);
    if (node.kind === 'elements') {
      throw refuse(2, `The path '${path}' must exist in the document in order to apply array updates.`);
    }
    const entries: [string, Value][] = [];
    for (const [name, child] of this.#childrenOf(node, path)) {
      const made = this.#makeValue(child, join(path, name));
      if (made === keep) continue;
      entries.push([name, made instanceof RawValue ? made.decode() : made]);
    }
    return entries.length === 0 ? keep : Document.fromEntries(entries);
  }

  /** Writes what becomes of a value that a node speaks of. */
  #touch(name: string, current: RawValue, node: UpdateNode, place: Place): void {
    const path = join(place.path, name);
    if (node.kind === 'leaf') {
      if (place.path === '') this.#checkTopName(name);
      this.#settle(name, current, node.operation.existing(current, this.#scope, name), place);
    } else if (node.kind === 'elements') {
      this.#elements(name, current, node, path);
    } else if (current.type === bsonType.object) {
      this.#writer.startDocument(name);
      this.#fields(current.bytes, current.start, node, path);
      this.#writer.end();
    } else if (current.isArray) {
      this.#writer.startArray(name);
      this.#indexes(name, current, node, path);
      this.#writer.end();
    } else {
      this.#blocked(name, current, node, path);
      this.#writer.writeRange(name, current.type, current.bytes, current.start, current.end);
    }
  }

  #settle(name: string, current: RawValue, outcome: Outcome, place: Place): void {
    if (outcome === remove) {
      if (!place.inArray) this.#changed = true;
      else if (current.type !== bsonType.null) this.#changed = true;
      if (place.inArray) this.#writer.writeElement(name, null);
      return;
    }
    if (outcome !== keep) {
      if (!(outcome instanceof RawValue ? outcome.isIdentical(current) : isSame(outcome, current))) {
        this.#write(name, outcome);
        return;
      }
    }
    this.#writer.writeRange(name, current.type, current.bytes, current.start, current.end);
  }

  /** Fields below a value that can have none. */
  #blocked(name: string, current: RawValue, node: FieldsNode, path: string): void {
    for (const [field, child] of this.#childrenOf(node, path)) {
      this.#refuseBlocked(field, child, () => describeField(name, current.decode()));
    }
  }

  #refuseBlocked(field: string, node: UpdateNode, element: () => string): void {
    if (node.kind === 'leaf') {
      if (node.operation.ignoresBlockedPath?.(this.#scope) === true) return;
    } else if (node.kind === 'fields') {
      if (node.positional === undefined && [...node.children.values()].every((child) => this.#ignored(child))) return;
    }
    throw refuse(28, `Cannot create field '${field}' in element {${element()}}`);
  }

  #ignored(node: UpdateNode): boolean {
    if (node.kind === 'leaf') return node.operation.ignoresBlockedPath?.(this.#scope) === true;
    return node.kind === 'fields' && node.positional === undefined && [...node.children.values()].every((child) => this.#ignored(child));
  }

  /** An array whose elements are named by index. */
  #indexes(name: string, current: RawValue, node: FieldsNode, path: string): void {
    const children = this.#childrenOf(node, path);
    const byIndex = new Map<number, UpdateNode>();
    for (const [field, child] of children) {
      const index = INDEX.test(field) ? Number(field) : -1;
      if (index >= 0) byIndex.set(index, child);
      else this.#refuseBlocked(field, child, () => describeField(name, current.decode()));
    }
    let length = this.#namedElements(current, byIndex, path);
    for (const [index, child] of byIndex) {
      if (index < length) continue;
      const made = this.#makeValue(child, join(path, String(index)));
      if (made === keep) continue;
      if (index - length > PADDING_MAX) throw refuse(2, `Cannot backfill array to larger than ${String(PADDING_MAX)} elements`);
      while (length < index) this.#write(item(length++), null);
      this.#write(item(length++), made);
    }
  }

  /** Writes the elements that are there, changed where they are named; how many there are. */
  #namedElements(current: RawValue, byIndex: ReadonlyMap<number, UpdateNode>, path: string): number {
    const { bytes } = current;
    const place = { path, inArray: true };
    let untouched = current.start + 4;
    let at = untouched;
    let length = 0;
    for (; ; length++) {
      const type = bytes[at] as number;
      if (type === 0) break;
      const value = elementValue(bytes, at);
      const end = valueEnd(bytes, type, value);
      const child = byIndex.get(length);
      if (child !== undefined) {
        if (untouched < at) this.#writer.copyElements(bytes, untouched, at);
        untouched = end;
        this.#touch(item(length), new RawValue(bytes, type, value, end), child, place);
      }
      at = end;
    }
    if (untouched < at) this.#writer.copyElements(bytes, untouched, at);
    return length;
  }

  /** An array whose elements are named by array filters. */
  #elements(name: string, current: RawValue, node: ElementsNode, path: string): void {
    if (!current.isArray) {
      throw refuse(2, `Cannot apply array updates to non-array element ${describeField(name, current.decode())}`);
    }
    this.#writer.startArray(name);
    const { bytes, start } = current;
    if (current.end - start < LONG_BYTES) {
      let index = 0;
      for (let at = start + 4; bytes[at] !== 0; ) {
        const value = elementValue(bytes, at);
        const end = valueEnd(bytes, bytes[at] as number, value);
        this.#element(new RawValue(bytes, bytes[at] as number, value, end), index++, node, path);
        at = end;
      }
    } else {
      this.#longArray(current, node, path);
    }
    this.#writer.end();
  }

  /** The elements of a long array are written apart: where that is broken off, what was written of them stays. */
  #longArray({ bytes, start, end }: RawValue, node: ElementsNode, path: string): void {
    const begin = (): UpdateRun => new UpdateRun(this.#scope, this.#filters, new BsonWriter(end - start + 64));
    const part = looped(begin, (run) => {
      firstElement(bytes, start, (_bytes, type, value, { index }) => {
        const { mark } = run.#writer;
        try {
          return run.#element(new RawValue(bytes, type, value, valueEnd(bytes, type, value)), index, node, path);
        } catch (error) {
          run.#writer.backTo(mark);
          throw error;
        }
      });
      return true;
    });
    const written = must(part, 'a part is begun');
    this.#writer.copyWritten(written.#writer);
    this.#changed ||= written.#changed;
  }

  #element(element: RawValue, length: number, node: ElementsNode, path: string): false {
    const index = item(length);
    let child: UpdateNode | undefined;
    for (const [identifier, each] of node.children) {
      if (!this.#filters.matches(identifier, element)) continue;
      child = child === undefined ? each : mergeNodes(child, each, join(path, index));
    }
    if (child === undefined) this.#writer.writeRange(index, element.type, element.bytes, element.start, element.end);
    else this.#touch(index, element, child, { path, inArray: true });
    return false;
  }
}

const tables: WeakMap<ReadonlyMap<string, UpdateNode>, NameTable<UpdateNode>> = new WeakMap();

/** The names of a level, made once for all documents. */
function namesOf(children: ReadonlyMap<string, UpdateNode>): NameTable<UpdateNode> {
  const known = tables.get(children) ?? new NameTable(children);
  tables.set(children, known);
  return known;
}

interface Place {
  /** The path of what holds the value. */
  readonly path: string;
  readonly inArray: boolean;
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

