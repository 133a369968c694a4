// Which intervals of each field of an index a filter asks for, and which conditions they settle. A field that was never an array takes the
// intersection of all its conditions. Where arrays may stand, one condition's value and another's may be different elements: then one condition
// bounds the field (those inside one `$elemMatch` together), and two fields that go through the same array are not both bounded unless by one
// `$elemMatch`. Follows MongoDB's page "Multikey Index Bounds".

import { firstIndex } from '../base/long-lists.ts';
import type { Index } from '../catalog/index.ts';
import { suits } from './conditions.ts';
import type { Conditions, Leaf } from './conditions.ts';
import { everything, intersect, isEverything, isPoint, point } from './interval.ts';
import type { Intervals } from './interval.ts';

const onlyNull: Intervals = [point(null)];

/** The bounds of one index. */
export interface IndexBounds {
  readonly index: Index;
  /** One for each field. */
  readonly fields: readonly Intervals[];
  /** Conjuncts that hold for whatever is in the bounds. */
  readonly settled: ReadonlySet<number>;
}

/** Whether any component of a field's path was an array. */
export function isMultikeyField(index: Index, field: number): boolean {
  return index.multikeyComponents[field]?.includes(true) ?? false;
}

/** The bounds of an index by a filter's conditions. */
export function indexBounds(index: Index, conditions: Conditions): IndexBounds {
  const fields: Intervals[] = [];
  const settled = new Set<number>();
  const chosen: Leaf[][] = [];
  for (let field = 0; field < index.paths.length; field++) {
    const path = index.paths[field];
    const leaves = hasPosition(path) ? [] : conditions.leaves.filter((leaf) => leaf.path === path && suits(leaf, index.collation) && !missesArrays(index, field, leaf));
    const taken = isMultikeyField(index, field) ? takeOne(index, field, leaves, chosen) : leaves;
    chosen.push(taken);
    fields.push(taken.reduce<Intervals>((intervals, leaf) => intersect(intervals, leaf.bounds.intervals), everything));
    for (const leaf of taken) if (isSettled(index, field, leaf)) settled.add(leaf.conjunct);
  }
  return { index, fields, settled };
}

/** A number in a path may be an index or a name: what is in the index then depends on the document. */
export function hasPosition(path: string | undefined): boolean {
  return path === undefined || path.split('.').some((part) => /^\d+$/.test(part));
}

/** An array on the way that has no document in it stands in the index as null, and is nothing to the condition: what must not be null finds it. */
function missesArrays(index: Index, field: number, leaf: Leaf): boolean {
  const isDeep = index.multikeyComponents[field]?.slice(0, -1).includes(true) === true;
  return isDeep && leaf.negative && intersect(leaf.bounds.intervals, onlyNull).length === 0;
}

function isSettled(index: Index, field: number, leaf: Leaf): boolean {
  if (!leaf.bounds.exact || leaf.element !== undefined) return false;
  if (!isMultikeyField(index, field)) return true;
  return !leaf.negative && firstIndex(leaf.bounds.intervals, ({ low, high }) => low === null || high === null) < 0;
}

/** For a field with arrays: the one condition, or the conditions of one `$elemMatch`, that may bound it. */
function takeOne(index: Index, field: number, leaves: readonly Leaf[], chosen: readonly (readonly Leaf[])[]): Leaf[] {
  const groups = new Map<unknown, Leaf[]>();
  for (const leaf of leaves) {
    // Below the element there may be an array again, whose elements the conditions need not share.
    const isOne = leaf.element !== undefined && index.multikeyComponents[field]?.slice(leaf.element.depth).includes(true) !== true;
    const group = isOne ? leaf.element.node : leaf;
    groups.set(group, [...(groups.get(group) ?? []), leaf]);
  }
  const allowed = [...groups.values()].filter((group) => chosen.every((other, i) => other.length === 0 || mayShare(index, { field, group }, { field: i, group: other })));
  const [best] = allowed.sort((a, b) => rank(b) - rank(a));
  return best ?? [];
}

interface Taken {
  readonly field: number;
  readonly group: readonly Leaf[];
}

/** Whether two fields may both be bounded: they share no array, or one `$elemMatch` below it speaks of both. */
function mayShare(index: Index, a: Taken, b: Taken): boolean {
  const first = index.paths[a.field]?.split('.') ?? [];
  const second = index.paths[b.field]?.split('.') ?? [];
  let shared = 0;
  while (shared < first.length && first[shared] === second[shared]) shared += 1;
  const deepest = (index.multikeyComponents[a.field] ?? []).slice(0, shared).lastIndexOf(true);
  if (deepest < 0) return true;
  const element = a.group[0]?.element;
  return element !== undefined && element.node === b.group[0]?.element?.node && element.depth > deepest;
}

/** Points before ranges with two ends, those before one end, those before nothing. */
function rank(group: readonly Leaf[]): number {
  const intervals = group.reduce<Intervals>((all, leaf) => intersect(all, leaf.bounds.intervals), everything);
  return rankIntervals(intervals);
}

/** How narrow intervals look: 3 points, 2 a few intervals, 1 many or a complement, 0 everything. */
export function rankIntervals(intervals: Intervals): number {
  if (isEverything(intervals)) return 0;
  if (firstIndex(intervals, (interval) => !isPoint(interval)) < 0) return intervals.length <= 1 ? 4 : 3;
  return intervals.length === 1 ? 2 : 1;
}
