// Bounds of indexes that are not plain. A hashed index knows equalities with single values, as their hashes. A wildcard index serves one path at a time: as an
// index of that path, whose entries begin with the path's name, and that has no entry of a document without the path.

import { BsonArray, Document, hashValue, typeClass } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';
import { wildcardPathField, wildcardShapeOf } from '../catalog/index.ts';
import type { CatalogTransaction, Cursor, DictionaryId, Direction, Index, IndexEntry, KeyRange, Totals, WildcardShape } from '../catalog/index.ts';
import { filterOf } from '../query/index.ts';
import type { FilterNode } from '../query/index.ts';
import { suits } from './conditions.ts';
import type { Conditions, Leaf } from './conditions.ts';
import { geoBounds } from './geo-bounds.ts';
import { indexBounds } from './index-bounds.ts';
import type { IndexBounds } from './index-bounds.ts';
import { bracketOf, everything, intersect, isEverything, isPoint, point, unite } from './interval.ts';
import type { Interval, Intervals } from './interval.ts';

/** The ways in which an index may serve these conditions: of a plain one its bounds, of others those that mean something. */
export function boundsFor(index: Index, conditions: Conditions): readonly IndexBounds[] {
  if (index.kind === 'hashed') return [hashedBounds(index, conditions)];
  if (index.kind === 'wildcard') return wildcardBounds(index, conditions);
  if (index.kind === '2d' || index.kind === '2dsphere') return geoBounds(index, index.kind, conditions);
  // A text index serves searches only (text.ts).
  if (index.kind === 'text') return [];
  return [indexBounds(index, conditions)];
}

function hashedBounds(index: Index, conditions: Conditions): IndexBounds {
  const bounds = indexBounds(index, conditions);
  const hashed = new Set(index.key.fields.filter(([, value]) => value === 'hashed').map(([path]) => path));
  const settled = new Set([...bounds.settled].filter((conjunct) => !conditions.leaves.some((leaf) => leaf.conjunct === conjunct && hashed.has(leaf.path))));
  const fields = bounds.fields.map((intervals, field) => (hashed.has(index.paths[field] ?? '') ? hashes(intervals) : intervals));
  return { index, fields, settled };
}

function hashes(intervals: Intervals): Intervals {
  if (!intervals.every(isPoint)) return everything;
  const sorted = [...new Set(intervals.map(({ low }) => hashValue(low)))].sort((a, b) => (a < b ? -1 : 1));
  return sorted.map(point);
}

/** Values that a wildcard index has no entries of: it enters documents and arrays. */
const entered: Intervals = [typeClass.object, typeClass.array].map(bracketOf).filter((bracket) => bracket !== undefined);
const nothing: Intervals = [point(null)];

const isExists = (node: FilterNode | undefined): boolean => node?.kind === 'exists';

function wildcardBounds(index: Index, conditions: Conditions): IndexBounds[] {
  const shape = wildcardShapeOf(index.key, index.wildcardProjection);
  const paths = new Set(conditions.leaves.filter((leaf) => serves(index, shape, leaf, conditions)).map(({ path }) => path));
  const found = [...paths].map((path) => pathBounds(index, shape, path, conditions));
  // A compound index has every document, so its plain fields in front may serve alone.
  const front = index.paths.slice(0, shape.field);
  if (found.length === 0 && conditions.leaves.some((leaf) => leaf.path === front[0] && suits(leaf, index.collation))) {
    return [indexBounds(new WildcardPath(index, shape, undefined, true), conditions)];
  }
  return found;
}

/** Whether a condition on this path is true only of documents that have an entry for it. */
function serves(index: Index, { projection }: WildcardShape, leaf: Leaf, { conjuncts }: Conditions): boolean {
  if (!suits(leaf, index.collation) || !entryPaths(leaf.path).every((path) => projection.takes(path))) return false;
  const node = conjuncts[leaf.conjunct];
  if (node === undefined || withoutEntry(leaf.path).some((document) => filterOf(node).matches(document))) return false;
  if (asksForAny(leaf, node)) return true;
  const { intervals } = leaf.bounds;
  return intersect(intervals, nothing).length === 0 && intersect(intervals, entered).every(isEntry);
}

/** What may stand on the way to a path that there is nothing at. */
const deadEnds: readonly Value[] = [Document.empty, BsonArray.empty, ...[0, BsonArray.empty, Document.empty].map((item) => BsonArray.of([item]))];

/** Documents that have no entry for the path: without it, or with something else on the way. */
function withoutEntry(path: string): Document[] {
  const parts = path.split('.');
  return [Document.empty, ...parts.slice(1).flatMap((_, i) => deadEnds.map((end) => nested(parts.slice(0, i + 1), end)))];
}

function nested(path: readonly string[], value: Value): Document {
  const [name = '', ...rest] = path;
  return Document.fromEntries([[name, rest.length === 0 ? value : nested(rest, value)]]);
}

/** Whether the condition is true of whatever is at the path, or below it. */
function asksForAny(leaf: Leaf, node: FilterNode | undefined): boolean {
  return leaf.negative || isExists(node);
}

/** Arrays stand in the index where they are elements of arrays, and by their first elements; of documents only the empty one. */
function isEntry(interval: Interval): boolean {
  return isPoint(interval) && (interval.low instanceof BsonArray || (interval.low instanceof Document && interval.low.isEmpty));
}

function pathBounds(index: Index, shape: WildcardShape, path: string, conditions: Conditions): IndexBounds {
  if (path.split('.').some((part) => isNumber.test(part))) return numberedBounds(index, shape, path, conditions);
  const exists = conditions.leaves.some((leaf) => leaf.path === path && asksForAny(leaf, conditions.conjuncts[leaf.conjunct]));
  const wrapped = new WildcardPath(index, shape, path, exists);
  // Of an array or a missing value nothing is bounded here but by the conditions that serve.
  const own: Conditions = { conjuncts: conditions.conjuncts, leaves: conditions.leaves.filter((leaf) => leaf.path !== path || serves(index, shape, leaf, conditions)) };
  const bounds = indexBounds(wrapped, own);
  const below: Intervals = [point(path), { low: `${path}.`, lowInside: true, high: `${path}/`, highInside: false }];
  if (!exists) return { ...bounds, fields: bounds.fields.with(shape.field, [point(path)]) };
  // What a negation leaves out says nothing of the values below the path, which are entries of documents there.
  const isWhole = isEverything(bounds.fields[shape.field + 1] ?? []);
  return { ...bounds, fields: bounds.fields.with(shape.field, below).with(shape.field + 1, everything), settled: isWhole ? bounds.settled : new Set() };
}

const isNumber = /^\d+$/;

/** The paths of entries that a path may mean: numbers may be names, or places of elements, which the paths of entries do not have. */
function entryPaths(path: string): string[] {
  const [first = '', ...rest] = path.split('.');
  return rest.reduce<string[]>((paths, part) => paths.flatMap((each) => (isNumber.test(part) ? [each, `${each}.${part}`] : [`${each}.${part}`])), [first]);
}

/** A number in a path may be the place of an element, which the entry's path does not have; an array in an array is an entry as a whole. */
function numberedBounds(index: Index, shape: WildcardShape, path: string, conditions: Conditions): IndexBounds {
  const wrapped = new WildcardPath(index, shape, path, true);
  const leaf = conditions.leaves.find((each) => each.path === path && serves(index, shape, each, conditions));
  const names = entryPaths(path);
  const any = leaf === undefined || asksForAny(leaf, conditions.conjuncts[leaf.conjunct]);
  const below = names.map((name): Interval => ({ low: `${name}.`, lowInside: true, high: `${name}/`, highInside: false }));
  const arrays = bracketOf(typeClass.array);
  const values = any ? everything : unite([...leaf.bounds.intervals, ...(arrays === undefined ? [] : [arrays])]);
  const fields = wrapped.paths.map((_, i): Intervals => (i === shape.field ? unite([...names.map(point), ...(any ? below : [])]) : i === shape.field + 1 ? values : everything));
  return { index: wrapped, fields, settled: new Set() };
}

/** A wildcard index as an index of one path; of none (undefined) as one of its plain fields, with an entry for each of a document's values. */
class WildcardPath implements Index {
  readonly #index: Index;
  readonly kind = 'plain';
  readonly paths: readonly string[];
  readonly directions: readonly Direction[];
  readonly key: Document;
  readonly isMultikey: boolean;
  readonly multikeyComponents: readonly (readonly boolean[])[];

  /** `several`: whether a document may have several entries in the bounds. */
  constructor(index: Index, { field }: WildcardShape, path: string | undefined, several: boolean) {
    this.#index = index;
    const around = (front: readonly string[], back: readonly string[]): string[] => [...front, wildcardPathField, path ?? '', ...back];
    this.paths = around(index.paths.slice(0, field), index.paths.slice(field + 1));
    this.directions = [...index.directions.slice(0, field), 1, ...index.directions.slice(field)];
    this.key = Document.fromEntries(this.paths.map((each, i): [string, Value] => [each, this.directions[i] ?? 1]));
    this.isMultikey = index.isMultikey || several;
    this.multikeyComponents = this.paths.map((each, i) => each.split('.').map(() => i === field + 1 && index.isMultikey));
  }

  get name(): string {
    return this.#index.name;
  }

  get preparesUnique(): boolean {
    return false;
  }

  get unique(): boolean {
    return false;
  }

  get sparse(): boolean {
    return false;
  }

  get clustering(): boolean {
    return this.#index.clustering;
  }

  get hidden(): boolean {
    return this.#index.hidden;
  }

  get partialFilter(): Document | undefined {
    return this.#index.partialFilter;
  }

  get partialShape(): FilterNode | undefined {
    return this.#index.partialShape;
  }

  get expireAfterSeconds(): undefined {
    return undefined;
  }

  get collation(): Index['collation'] {
    return this.#index.collation;
  }

  get wildcardProjection(): Document | undefined {
    return this.#index.wildcardProjection;
  }

  get spec(): Document {
    return this.#index.spec;
  }

  get dictionary(): DictionaryId {
    return this.#index.dictionary;
  }

  get isPrimary(): boolean {
    return false;
  }

  entry(key: Uint8Array, value: Uint8Array): IndexEntry {
    return this.#index.entry(key, value);
  }

  scan(txn: CatalogTransaction, range: KeyRange, direction: Direction): Cursor {
    return this.#index.scan(txn, range, direction);
  }

  totals(txn: CatalogTransaction): Totals {
    return this.#index.totals(txn);
  }
}
