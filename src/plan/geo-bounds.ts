// Bounds of 2d and 2dsphere indexes: a condition on the shape as intervals of cells, which let through more than match, so the condition is tested on
// the document too. Such an index has no entry of a document without a shape, so it serves only with a condition on its shape.

import { gridOf } from '../catalog/index.ts';
import type { Index } from '../catalog/index.ts';
import { capRectangles, regionIntervals } from '../query/index.ts';
import type { FilterNode, GeoBounds, Region } from '../query/index.ts';
import type { Conditions } from './conditions.ts';
import { indexBounds } from './index-bounds.ts';
import type { IndexBounds } from './index-bounds.ts';
import type { Interval, Intervals } from './interval.ts';

/** The rectangles in which an index of this kind finds a region; undefined where it cannot. */
function rectanglesOf(kind: '2d' | '2dsphere', { cap, bounds }: Region): readonly GeoBounds[] | undefined {
  if (cap !== undefined) return capRectangles(cap);
  return kind === '2d' && bounds !== undefined ? [bounds] : undefined;
}

/** Cells of an index that hold what lies in these rectangles. */
export function cellIntervals(index: Index, kind: '2d' | '2dsphere', rectangles: readonly GeoBounds[]): Intervals {
  return regionIntervals(gridOf(kind, index.spec), rectangles).map(({ low, high }): Interval => ({ low, lowInside: true, high, highInside: true }));
}

/** The bounds that a condition gives the shape's field; none where no condition is about the shape. */
export function geoBounds(index: Index, kind: '2d' | '2dsphere', conditions: Conditions): IndexBounds[] {
  const field = index.key.fields.findIndex(([, value]) => value === kind);
  const path = index.paths[field];
  const nodes = conditions.conjuncts.filter((node): node is Extract<FilterNode, { readonly kind: 'geo' }> => node.kind === 'geo' && node.path.text === path);
  for (const node of nodes) {
    const rectangles = rectanglesOf(kind, node.region);
    if (rectangles === undefined) continue;
    return [withCells(index, field, conditions, cellIntervals(index, kind, rectangles))];
  }
  return [];
}

/** The bounds of the other fields, and cells for the shape's. */
export function withCells(index: Index, field: number, conditions: Conditions, cells: Intervals): IndexBounds {
  const { fields, settled } = indexBounds(index, conditions);
  const shape = index.paths[field];
  const kept = new Set([...settled].filter((conjunct) => !conditions.leaves.some((leaf) => leaf.conjunct === conjunct && leaf.path === shape)));
  return { index, fields: fields.with(field, cells), settled: kept };
}
