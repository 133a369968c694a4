// What stands for a literal in the shape of a query: the name of its type behind a question mark. Two values of one type are one in a shape.
// Follows the manual's page "Query Shapes".

import { BsonArray, Document, isNumber, typeNameOf, typeOf, type Value } from '../../bson/index.ts';

/** The word for a literal: `?number`, `?string`, `?array<?number>`; of an array of different types `?array<>`. */
export function placeholder(value: Value): string {
  if (value instanceof BsonArray) return arrayPlaceholder(value);
  return isNumber(value) ? '?number' : `?${typeNameOf(typeOf(value)) ?? 'undefined'}`;
}

function arrayPlaceholder(array: BsonArray): string {
  const kinds = new Set(array.items().map(placeholder));
  const [only] = kinds;
  return kinds.size === 1 && only !== undefined ? `?array<${only}>` : '?array<>';
}

/** A document in which words and flags stand as they are (names, options) and only other literals by their types. */
export function structureShape(value: Value): Value {
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (value instanceof BsonArray) return BsonArray.of(value.items().map(structureShape));
  if (value instanceof Document) return Document.fromEntries(value.fields.map(([name, inner]) => [name, structureShape(inner)]));
  return placeholder(value);
}
