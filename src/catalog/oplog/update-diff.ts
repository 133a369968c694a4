// What an update changed, as MongoDB's oplog says it (`$v: 2`): fields that went (`d`), have another value (`u`), came (`i`), and the same for
// the documents (`s` and the name) and arrays (`a`, `l`, `u0`, `s0`) in it. Found by comparing the bytes of before and after, guided by what
// the update wrote whole: `$set: {a: {…}}` is told as a new `a`, also where only one field in it differs.

import { equalRange } from '../../base/bytes.ts';
import { atOneGo, overItems } from '../../base/long-lists.ts';
import { looped } from '../../base/long-work.ts';
import { bsonType, decodeElement, decodeName, Document, elementEnd, elementValue, readInt32 } from '../../bson/index.ts';
import type { RawView, Value } from '../../bson/index.ts';

/** Which parts of a document an update writes. */
export interface ChangeShape {
  /** `whole`: this value is written as one; `append`: elements are put behind it; `inside`: parts of it are written. */
  readonly kind: 'whole' | 'append' | 'inside';
  readonly children: Map<string, ChangeShape>;
  /** Any element of an array (`$`, `$[]`, `$[name]`). */
  any: ChangeShape | undefined;
}

const shape = (kind: ChangeShape['kind']): ChangeShape => ({ kind, children: new Map(), any: undefined });

function addPath(root: ChangeShape, path: string, kind: ChangeShape['kind']): void {
  const parts = path.split('.');
  let at = root;
  parts.forEach((part, index) => {
    const isAny = part.startsWith('$');
    let next = isAny ? at.any : at.children.get(part);
    if (next === undefined) {
      next = shape(index === parts.length - 1 ? kind : 'inside');
      if (isAny) at.any = next;
      else at.children.set(part, next);
    }
    at = next;
  });
}

/** What an update of operators writes. */
export function shapeOfUpdate(update: Document): ChangeShape {
  const root = shape('inside');
  for (const [operator, fields] of update.fields) {
    if (!(fields instanceof Document)) continue;
    for (const [path, value] of fields.fields) {
      addPath(root, path, operator === '$push' ? 'append' : 'whole');
      if (operator === '$rename' && typeof value === 'string') addPath(root, value, 'whole');
    }
  }
  return root;
}

/** One element where it lies. */
interface Element {
  readonly name: string;
  readonly at: number;
  readonly end: number;
}

/** So many bytes are cut into elements in about the time of one step of a loop. */
const BYTES_PER_STEP = 32;

function elementsOf({ bytes, start, end: limit }: RawView): readonly Element[] {
  return atOneGo((limit - start) / BYTES_PER_STEP, () => {
    const elements: Element[] = [];
    for (let at = start + 4; bytes[at] !== 0; ) {
      const end = elementEnd(bytes, at);
      elements.push({ name: decodeName(bytes, at + 1, elementValue(bytes, at) - 1), at, end });
      at = end;
    }
    return elements;
  });
}

/** Whether two elements have the same type and value; names are not compared. */
function sameValue(a: RawView, left: Element, b: RawView, right: Element): boolean {
  const [first, second] = [elementValue(a.bytes, left.at), elementValue(b.bytes, right.at)];
  const length = left.end - first;
  if (a.bytes[left.at] !== b.bytes[right.at] || right.end - second !== length) return false;
  for (let i = 0; i < length; i++) if (a.bytes[first + i] !== b.bytes[second + i]) return false;
  return true;
}

const sizeOf = ({ bytes, start }: RawView): number => readInt32(bytes, start);

function nested(view: RawView, { at }: Element): RawView {
  const start = elementValue(view.bytes, at);
  return { bytes: view.bytes, start, end: start + readInt32(view.bytes, start) };
}

/** The difference of two values of one name: a difference inside, or undefined where it is told as a new value. */
function innerDiff(before: RawView, after: RawView, { left, right }: { left: Element; right: Element }, guide: ChangeShape | undefined): Document | undefined {
  const type = before.bytes[left.at];
  if (guide?.kind === 'whole' || type !== after.bytes[right.at]) return undefined;
  return type === bsonType.object || type === bsonType.array ? nestedDiff(type, nested(before, left), nested(after, right), guide) : undefined;
}

function nestedDiff(type: number, before: RawView, after: RawView, guide: ChangeShape | undefined): Document | undefined {
  const diff = type === bsonType.object ? documentDiff(before, after, guide) : arrayDiff(before, after, guide);
  // Unguided (a pipeline's), what would not be shorter is told whole.
  if (diff === undefined || (guide === undefined && diff.byteLength >= sizeOf(after))) return undefined;
  return diff;
}

/** Without a guide for it, a part of a guided document was written whole. */
function guideOf(guide: ChangeShape | undefined, name: string): ChangeShape | undefined {
  return guide === undefined ? undefined : (guide.children.get(name) ?? guide.any ?? WHOLE);
}

const WHOLE: ChangeShape = shape('whole');

interface Pair {
  readonly left: Element;
  readonly right: Element;
}

interface Walk {
  readonly changed: Pair[];
  left: number;
  right: number;
}

/** Documents of fewer bytes are walked in one go. */
const LONG_BYTES = 16384;

/** Compares two elements; true: there are no more, or their names differ. */
function step(before: RawView, after: RawView, walk: Walk): boolean {
  const { left, right } = walk;
  if (before.bytes[left] === 0 || after.bytes[right] === 0) return true;
  const [leftValue, rightValue] = [elementValue(before.bytes, left), elementValue(after.bytes, right)];
  const nameBytes = leftValue - left - 1;
  if (nameBytes !== rightValue - right - 1 || !equalRange(before.bytes, left + 1, after.bytes, right + 1, nameBytes)) return true;
  const [leftEnd, rightEnd] = [elementEnd(before.bytes, left), elementEnd(after.bytes, right)];
  const isSame = before.bytes[left] === after.bytes[right] && leftEnd - leftValue === rightEnd - rightValue && equalRange(before.bytes, leftValue, after.bytes, rightValue, leftEnd - leftValue);
  if (!isSame) {
    const name = decodeName(before.bytes, left + 1, leftValue - 1);
    walk.changed.push({ left: { name, at: left, end: leftEnd }, right: { name, at: right, end: rightEnd } });
  }
  walk.left = leftEnd;
  walk.right = rightEnd;
  return false;
}

/** Elements that have another value, as long as both documents have the same names in the same places, and what is left of them behind that. */
function walkTogether(before: RawView, after: RawView): { readonly changed: readonly Pair[]; readonly before: RawView; readonly after: RawView } {
  const walk: Walk = { changed: [], left: before.start + 4, right: after.start + 4 };
  const isLong = after.end - after.start >= LONG_BYTES;
  if (!isLong) while (!step(before, after, walk));
  const { changed, left, right } = isLong ? (looped(() => walk, (state) => step(before, after, state)) ?? walk) : walk;
  return { changed, before: { bytes: before.bytes, start: left - 4, end: before.end }, after: { bytes: after.bytes, start: right - 4, end: after.end } };
}

/** What is told of a document so far, and which of its elements of before have not been met. */
interface Told {
  readonly left: Map<string, Element>;
  readonly updated: [string, Value][];
  readonly inserted: [string, Value][];
  readonly inside: [string, Value][];
}

function documentDiff(wholeBefore: RawView, wholeAfter: RawView, guide: ChangeShape | undefined): Document {
  const { changed, before, after } = walkTogether(wholeBefore, wholeAfter);
  const change = ({ updated, inside }: Told, pair: Pair): void => {
    const { name, at } = pair.right;
    const diff = innerDiff(before, after, pair, guideOf(guide, name));
    if (diff === undefined) updated.push([name, decodeElement(after.bytes, at)]);
    else inside.push([`s${name}`, diff]);
  };
  const begin = (): Told => ({ left: new Map(), updated: [], inserted: [], inside: [] });
  const first = overItems(changed, begin, change);
  const behind = (): Told => ({
    left: new Map(elementsOf(before).map((element) => [element.name, element])),
    updated: [...first.updated],
    inserted: [],
    inside: [...first.inside],
  });
  const { left, updated, inserted, inside } = overItems(elementsOf(after), behind, (told, element) => {
    const { name } = element;
    const old = told.left.get(name);
    if (old === undefined) told.inserted.push([name, decodeElement(after.bytes, element.at)]);
    else if (!sameValue(before, old, after, element)) change(told, { left: old, right: element });
    told.left.delete(name);
  });
  const fields: [string, Value][] = [];
  if (left.size > 0) fields.push(['d', Document.fromEntries([...left.keys()].map((name) => [name, false]))]);
  if (updated.length > 0) fields.push(['u', Document.fromEntries(updated)]);
  if (inserted.length > 0) fields.push(['i', Document.fromEntries(inserted)]);
  return Document.fromEntries([...fields, ...inside]);
}

/** Undefined where the array is told whole. */
function arrayDiff(before: RawView, after: RawView, guide: ChangeShape | undefined): Document | undefined {
  const [old, fresh] = [elementsOf(before), elementsOf(after)];
  if (guide !== undefined && fresh.length < old.length) return undefined;
  const begin = (): { readonly fields: [string, Value][]; isWhole: boolean } => ({ fields: fresh.length < old.length ? [['a', true], ['l', fresh.length]] : [['a', true]], isWhole: false });
  const { fields, isWhole } = overItems(fresh, begin, (told, element, index) => {
    const left = old[index];
    if (left !== undefined && sameValue(before, left, after, element)) return false;
    told.isWhole = left !== undefined && guide?.kind === 'append';
    if (told.isWhole) return true;
    const diff = left === undefined ? undefined : innerDiff(before, after, { left, right: element }, guideOf(guide, String(index)));
    told.fields.push(diff === undefined ? [`u${String(index)}`, decodeElement(after.bytes, element.at)] : [`s${String(index)}`, diff]);
    return false;
  });
  return isWhole ? undefined : Document.fromEntries(fields);
}

/** The difference of two states of a document; `guide` undefined: what was written is not known (a pipeline). */
export function diffOf(before: Document, after: Document, guide: ChangeShape | undefined): Document {
  return documentDiff(before.raw, after.raw, guide);
}

/** One step of a path: a field, or an element of an array. */
export type PathStep = string | number;

/** What is said of one path in a difference. */
export interface DiffVisitor {
  updated(path: readonly PathStep[], value: Value): void;
  removed(path: readonly PathStep[]): void;
  truncated(path: readonly PathStep[], length: number): void;
}

/** Tells a visitor all of a difference, path by path. */
export function visitDiff(diff: Document, visitor: DiffVisitor, path: readonly PathStep[] = []): void {
  const isArray = diff.get('a') === true;
  for (const [key, value] of diff.fields) {
    if (isArray) visitElement(key, value, visitor, path);
    else visitField(key, value, visitor, path);
  }
}

function visitElement(key: string, value: Value, visitor: DiffVisitor, path: readonly PathStep[]): void {
  if (key === 'l' && typeof value === 'number') visitor.truncated(path, value);
  else if (key.startsWith('u')) visitor.updated([...path, Number(key.slice(1))], value);
  else if (key.startsWith('s') && value instanceof Document) visitDiff(value, visitor, [...path, Number(key.slice(1))]);
}

function visitField(key: string, value: Value, visitor: DiffVisitor, path: readonly PathStep[]): void {
  if (!(value instanceof Document)) return;
  if (key === 'd') for (const name of value.keys()) visitor.removed([...path, name]);
  else if (key === 'u' || key === 'i') for (const [name, field] of value.fields) visitor.updated([...path, name], field);
  else visitDiff(value, visitor, [...path, key.slice(1)]);
}
