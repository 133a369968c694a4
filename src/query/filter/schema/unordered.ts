// Equality as `enum` and `uniqueItems` see it: the order of a document's fields does not matter.

import { BsonArray, Document, equalValues } from '../../../bson/index.ts';
import type { Value } from '../../../bson/index.ts';

/** Whether two values are equal, fields of documents in any order. */
export function equalUnordered(a: Value, b: Value): boolean {
  if (a instanceof Document && b instanceof Document) {
    const left = a.fields;
    const right = new Map(b.fields);
    if (left.length !== b.fields.length) return false;
    return left.every(([name, value]) => {
      const other = right.get(name);
      return other !== undefined && equalUnordered(value, other);
    });
  }
  if (a instanceof BsonArray && b instanceof BsonArray) {
    return a.length === b.length && a.items().every((item, index) => equalUnordered(item, b.at(index) ?? null));
  }
  return equalValues(a, b);
}
