// A join by equality done for many documents at once: one query for all their values, its answers given out by value. Documents that look
// for null are joined one by one, because null also stands for what is missing.

import { BsonArray, Document, parsePath, Regex, visitPath } from '../../bson/index.ts';
import type { Path, TextOrder, Value } from '../../bson/index.ts';
import { isNullish, keyOfValue } from '../../query/index.ts';
import type { ValueKey } from '../../query/index.ts';

/** The values of a local field that a foreign one may equal: elements of an array each; null for none. */
export function localValues(document: Document, path: Path): Value[] {
  const values: Value[] = [];
  visitPath(document, path, (value, _offset, whole) => {
    if (value instanceof BsonArray && !whole) values.push(...value.items());
    else if (value !== undefined) values.push(value);
    return false;
  });
  return values.length === 0 ? [null] : values;
}

/** The condition that a foreign field equals one of these values. */
export function joinFilter(field: string, values: readonly Value[]): Document {
  const [first = null] = values;
  if (values.length === 1) return equal(field, first);
  // `$in` takes a regular expression as a pattern, a join as a value.
  if (values.some((value) => value instanceof Regex)) {
    return Document.of({ $or: BsonArray.of(values.map((value) => equal(field, value))) });
  }
  return Document.fromEntries([[field, Document.of({ $in: BsonArray.of(values) })]]);
}

function equal(field: string, value: Value): Document {
  return Document.fromEntries([[field, Document.of({ $eq: value })]]);
}

/** Documents of a batch that can be joined together, with the values they look for. */
export class JoinBatch {
  readonly #wanted = new Map<ValueKey, Value>();
  readonly #keys = new Map<Document, readonly ValueKey[]>();
  readonly #order: TextOrder | undefined;

  constructor(order: TextOrder | undefined) {
    this.#order = order;
  }

  /** Takes a document in; false if it must be joined by itself. */
  add(document: Document, values: readonly Value[]): boolean {
    if (values.some((value) => isNullish(value) || value instanceof Regex)) return false;
    const keys = values.map((value) => keyOfValue(value, this.#order));
    keys.forEach((key, index) => this.#wanted.set(key, values[index] ?? null));
    this.#keys.set(document, keys);
    return true;
  }

  /** The values that the documents look for, each once. */
  get values(): Value[] {
    return [...this.#wanted.values()];
  }

  /** For each document the foreign ones that it looks for, in the order in which they were found. */
  distribute(foreign: readonly Document[], foreignField: string): ReadonlyMap<Document, readonly Document[]> {
    const places = this.#placesByKey(foreign, parsePath(foreignField));
    const joined = new Map<Document, readonly Document[]>();
    for (const [document, keys] of this.#keys) {
      const found = new Set(keys.flatMap((key) => places.get(key) ?? []));
      const ordered = keys.length === 1 ? [...found] : [...found].sort((left, right) => left - right);
      joined.set(document, ordered.map((place) => foreign[place]).filter((one) => one !== undefined));
    }
    return joined;
  }

  #placesByKey(foreign: readonly Document[], path: Path): Map<ValueKey, number[]> {
    const places = new Map<ValueKey, number[]>();
    foreign.forEach((document, place) => {
      for (const key of this.#keysOf(document, path)) {
        const list = places.get(key);
        if (list === undefined) places.set(key, [place]);
        else list.push(place);
      }
    });
    return places;
  }

  /** The keys of a foreign document that are looked for; each once. */
  #keysOf(document: Document, path: Path): Set<ValueKey> {
    const keys = new Set<ValueKey>();
    const take = (value: Value): void => {
      const key = keyOfValue(value, this.#order);
      if (this.#wanted.has(key)) keys.add(key);
    };
    visitPath(document, path, (value, _offset, whole) => {
      if (value === undefined) return false;
      take(value);
      if (value instanceof BsonArray && !whole) value.items().forEach(take);
      return false;
    });
    return keys;
  }
}
