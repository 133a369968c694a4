// Filters that ask for one `_id`: most of those that find, change or remove a single document. The key that is made of the value says all that such a
// filter says, so it is compiled only when somebody wants more of it than the document under that key.

import { BsonArray, bsonUndefined, Document, Regex, type Value } from '../../bson/index.ts';
import { compileFilter, type Filter, type QueryOptions } from '../../query/index.ts';

/** The value of `_id` that a filter asks for, where it asks for one and nothing of it is an operator. */
export function exactId(filter: Document): Value | undefined {
  const value = filter.get('_id');
  if (value === undefined || value === null || value === bsonUndefined) return undefined;
  if (value instanceof Regex || value instanceof BsonArray) return undefined;
  if (value instanceof Document && value.keys().some((name) => name.startsWith('$'))) return undefined;
  return value;
}

/** A filter that says which `_id` and nothing else. It is never wrong, so it can be compiled later. */
export class IdFilter implements Filter {
  readonly #filter: Document;
  readonly #options: QueryOptions;
  /** Nothing but an `_id` is compared. */
  readonly isQuick = true;
  #compiled: Filter | undefined;

  constructor(filter: Document, options: QueryOptions) {
    this.#filter = filter;
    this.#options = options;
  }

  get #whole(): Filter {
    return (this.#compiled ??= compileFilter(this.#filter, this.#options));
  }

  get shape(): Filter['shape'] {
    return this.#whole.shape;
  }

  matches(document: Document): boolean {
    return this.#whole.matches(document);
  }

  matchesRaw(bytes: Uint8Array, start: number): boolean {
    return this.#whole.matchesRaw(bytes, start);
  }

  place(document: Document): number | undefined {
    return this.#whole.place(document);
  }
}

/** A statement's filter, compiled where it is more than an `_id`. Throws CommandError where it is wrong. */
export function statementFilter(filter: Document, options: QueryOptions): Filter {
  return filter.fields.length === 1 && exactId(filter) !== undefined ? new IdFilter(filter, options) : compileFilter(filter, options);
}
