// Filters as documents, put together.

import { BsonArray, Document } from '../bson/index.ts';

/** One filter that means all of these; undefined for none. */
export function joinedFilters(filters: readonly Document[]): Document | undefined {
  if (filters.length < 2) return filters[0];
  return Document.fromEntries([['$and', BsonArray.of(filters)]]);
}
