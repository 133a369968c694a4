// Index filters (`planCacheSetFilter`): which indexes the planner may look at for queries of one shape. They live as long as the server,
// outrank a hint, and leave a collection scan where none of their indexes serves.

import type { Document, Value } from '../../bson/index.ts';
import type { Collation } from '../../collation/index.ts';
import { queryShape, type IndexFilterLookup } from '../../plan/index.ts';
import type { Filter } from '../../query/index.ts';

/** A filter as it was set. */
export interface IndexFilter {
  readonly query: Document;
  readonly sort: Document;
  readonly projection: Document;
  readonly collation: Document | undefined;
  /** Key patterns and names. */
  readonly indexes: readonly Value[];
}

/** The parts of a query that make its shape. */
export interface ShapeParts {
  readonly filter: Filter;
  readonly sort: Document;
  readonly projection: Document;
  readonly collation: Collation | undefined;
}

/** The shape as a text. */
export function shapeText({ filter, sort, projection, collation }: ShapeParts): string {
  return queryShape({ filter, given: { sort, projection }, collation });
}

/** Filters of all collections. */
export class IndexFilters {
  readonly #collections: Map<string, Map<string, IndexFilter>> = new Map();

  /** What the planner asks; undefined where the collection has no filters. */
  of(namespace: string): IndexFilterLookup | undefined {
    const filters = this.#collections.get(namespace);
    if (filters === undefined) return undefined;
    return (shape) => filters.get(shape)?.indexes;
  }

  list(namespace: string): readonly IndexFilter[] {
    return [...(this.#collections.get(namespace)?.values() ?? [])];
  }

  /** Sets the filter of a shape; one that was there is replaced. */
  set(namespace: string, shape: string, filter: IndexFilter): void {
    const filters = this.#collections.get(namespace) ?? new Map<string, IndexFilter>();
    filters.set(shape, filter);
    this.#collections.set(namespace, filters);
  }

  /** Removes the filter of a shape, or all of the collection. */
  clear(namespace: string, shape?: string): void {
    const filters = this.#collections.get(namespace);
    if (shape !== undefined) filters?.delete(shape);
    if (shape === undefined || filters?.size === 0) this.#collections.delete(namespace);
  }
}
