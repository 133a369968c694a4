// Plans for `$text`: the one text index of the collection, its entries for the terms that are searched, and the whole filter on the documents, which also
// finds what a document scores (manual: "$text").

import { CommandError } from '../base/errors.ts';
import { textFieldsOf } from '../catalog/index.ts';
import type { Collection, Index } from '../catalog/index.ts';
import { textNodeOf } from '../query/index.ts';
import type { FilterNode, TextNode } from '../query/index.ts';
import { indexAccess } from './access.ts';
import type { Access, Wanted } from './access.ts';
import { conditionsOf } from './conditions.ts';
import type { Conditions } from './conditions.ts';
import { holdsAll } from './implication.ts';
import { indexBounds } from './index-bounds.ts';
import { everything, isPoint, point, unite } from './interval.ts';

const unusable = (): CommandError =>
  new CommandError(291, 'NoQueryExecutionPlans', 'error processing query: planner returned error :: caused by :: failed to use text index to satisfy $text query (if text index is compound, are equality predicates given for all prefix fields?)');

/** The text search of these conditions. */
export function searchOf({ conjuncts }: Conditions): TextNode | undefined {
  return conjuncts.map(textNodeOf).find((node) => node !== undefined);
}

/** The way to what is searched. 27 where there is no text index, 291 where it cannot be used. */
export function textAccess(collection: Collection, node: TextNode, conditions: Conditions, wanted: Wanted): Access {
  const index = boundIndex(collection, node);
  if (!holdsAll(index, conditions.conjuncts)) throw unusable();
  const term = index.paths.indexOf('_fts');
  const bounds = indexBounds(index, conditions);
  const fields = bounds.fields.map((intervals, field) => (field === term ? unite(node.search.terms.map(point)) : field === term + 1 ? everything : intervals));
  if (!fields.slice(0, term).every((intervals) => intervals.every(isPoint))) throw unusable();
  return indexAccess({ index, fields, settled: new Set() }, conditions, wanted);
}

/** The text index, to which the search is bound. */
function boundIndex(collection: Collection, { search }: TextNode): Index {
  const index = collection.indexes.find((each) => each.kind === 'text');
  if (index === undefined) throw new CommandError(27, 'IndexNotFound', 'text index required for $text query');
  if (index.hidden) throw unusable();
  search.bind(textFieldsOf(index.spec));
  return index;
}

/** Binds searches that are alternatives to other conditions; every other alternative must have an index. False where there are none. */
export function bindAlternatives(collection: Collection, { conjuncts }: Conditions): boolean {
  const found = conjuncts.filter((node) => node.kind === 'or' && node.children.some(textNodeOf));
  for (const node of found.flatMap((each) => (each.kind === 'or' ? each.children : []))) {
    const search = textNodeOf(node);
    if (search !== undefined) boundIndex(collection, search);
    else if (!hasIndex(collection, node)) {
      const text = 'Failed to produce a solution for TEXT under OR - other non-TEXT clauses under OR have to be indexed as well.';
      throw new CommandError(291, 'NoQueryExecutionPlans', `error processing query: planner returned error :: caused by :: ${text}`);
    }
  }
  return found.length > 0;
}

function hasIndex(collection: Collection, node: FilterNode): boolean {
  const { leaves } = conditionsOf(node);
  return leaves.some(({ path }) => path === '_id' || collection.indexes.some((index) => !index.hidden && index.paths[0] === path));
}
