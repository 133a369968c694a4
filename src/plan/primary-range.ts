// Whether a filter asks for exactly one range of primary keys: then what matches need not be looked at one by one.

import type { Collection, KeyRange } from '../catalog/index.ts';
import type { Filter, FilterNode } from '../query/index.ts';
import { conditionsOf } from './conditions.ts';
import { indexBounds } from './index-bounds.ts';
import { scanRanges } from './scan-ranges.ts';

const isAlways = (node: FilterNode): boolean => node.kind === 'always' && node.value;

/** The record keys of all documents that match and of no others; `{}`: all of them; undefined: the filter asks for more, or less, than a range. */
export function primaryRange(collection: Collection, filter: Filter): KeyRange | undefined {
  const conditions = conditionsOf(filter.shape);
  if (conditions.conjuncts.every(isAlways)) return {};
  const [primary] = collection.indexes;
  if (primary === undefined || !collection.isKeyedById) return undefined;
  const bounds = indexBounds(primary, conditions);
  if (!conditions.conjuncts.every((node, i) => isAlways(node) || bounds.settled.has(i))) return undefined;
  const { ranges, test } = scanRanges(bounds);
  return test === undefined && ranges.length === 1 ? ranges[0] : undefined;
}
