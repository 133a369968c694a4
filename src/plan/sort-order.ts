// Whether an index gives the order of a sort, and which way it must be read: the sort's parts in turn are fields of the index, fields held
// to one value may lie between, and all directions agree or all are opposite. Where leading fields are held to a few values, one scan for each
// is merged. An array's place in a sort is its least or greatest element, so a sort by it needs all of the document's entries.

import type { Direction } from '../catalog/index.ts';
import { sameCollation } from '../collation/index.ts';
import type { SortKey } from '../query/index.ts';
import { isMultikeyField } from './index-bounds.ts';
import type { IndexBounds } from './index-bounds.ts';
import { isEverything, isPoint } from './interval.ts';
import type { Intervals } from './interval.ts';

/** Most scans that are merged. */
const mergedMax = 200;

export interface SortOrder {
  readonly direction: Direction;
  /** How many leading fields must be taken value by value and merged; 0: one scan is in order. */
  readonly exploded: number;
}

const isConstant = (intervals: Intervals | undefined): boolean => {
  const [only] = intervals ?? [];
  return intervals?.length === 1 && only !== undefined && isPoint(only);
};

/** How the index gives the order; undefined if it does not. */
export function sortOrderOf(bounds: IndexBounds, sort: SortKey): SortOrder | undefined {
  if (bounds.index.kind !== 'plain') return undefined;
  if (!sameCollation(bounds.index.collation, sort.collation)) return undefined;
  const walk = new OrderWalk(bounds);
  for (const { path, direction } of sort.parts) if (!walk.take(path.text, direction)) return undefined;
  if (walk.sortsArray && !arraysAreWhole(bounds)) return undefined;
  return walk.scans <= mergedMax ? { direction: walk.relation === -1 ? -1 : 1, exploded: walk.exploded } : undefined;
}

function arraysAreWhole({ index, fields }: IndexBounds): boolean {
  return fields.every((intervals, field) => !isMultikeyField(index, field) || isEverything(intervals));
}

class OrderWalk {
  readonly #bounds: IndexBounds;
  readonly #constants: Set<string> = new Set();
  #field = 0;
  relation: Direction | 0 = 0;
  exploded = 0;
  scans = 1;
  sortsArray = false;

  constructor(bounds: IndexBounds) {
    this.#bounds = bounds;
  }

  /** Goes on to the field that this part of the sort means; false if there is none. */
  take(path: string, direction: Direction): boolean {
    const { index, fields } = this.#bounds;
    for (; this.#field < fields.length; this.#field++) {
      const intervals = fields[this.#field];
      const here = index.paths[this.#field];
      if (here === path) return this.#match(intervals, direction);
      if (this.#constants.has(path)) return true;
      if (isConstant(intervals) && here !== undefined) this.#constants.add(here);
      else if (!this.#explode(intervals)) return false;
    }
    return this.#constants.has(path);
  }

  #match(intervals: Intervals | undefined, direction: Direction): boolean {
    const field = this.#field;
    const { index } = this.#bounds;
    this.#field += 1;
    if (isMultikeyField(index, field)) this.sortsArray = true;
    if (isConstant(intervals)) return true;
    const relation: Direction = index.directions[field] === direction ? 1 : -1;
    if (this.relation === 0) this.relation = relation;
    return this.relation === relation;
  }

  #explode(intervals: Intervals | undefined): boolean {
    if (this.relation !== 0 || intervals === undefined || intervals.length === 0 || !intervals.every(isPoint)) return false;
    this.scans *= intervals.length;
    this.exploded = this.#field + 1;
    return true;
  }
}
