// Filters as documents, put together.

import { BsonArray, Document } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';

/** One filter that means all of these; undefined for none. */
export function joinedFilters(filters: readonly Document[]): Document | undefined {
  if (filters.length < 2) return filters[0];
  return Document.fromEntries([['$and', BsonArray.of(filters)]]);
}

/** Whether a filter searches texts: has `$text`, at the top or in a list of filters. */
export function searchesText(filter: Value | undefined): boolean {
  if (!(filter instanceof Document)) return false;
  return filter.fields.some(([name, value]) => name === '$text' || (name.startsWith('$') && value instanceof BsonArray && value.items().some(searchesText)));
}
