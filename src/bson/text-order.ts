// Values under an order of texts other than that of their bytes. Where such an order rules, each text in a value is replaced by its sort key,
// written as a text of one character a byte: then everything that compares and encodes values in BSON order serves as it is. Names of fields, code and
// regular expressions keep their bytes, as in MongoDB.

import { compareValues } from './compare.ts';
import type { TextOrder } from './compare.ts';
import { BsonArray, CodeWithScope, Document } from './document.ts';
import type { Value } from './document.ts';
import { BsonSymbol } from './scalar.ts';

/** Negative, zero or positive as the first value comes before, with or after the second. */
export type Comparer = (a: Value, b: Value) => number;

/** The sort key of a text, as a text. */
function collatedText(text: string, order: TextOrder): string {
  const key = order.keyOf(text);
  if (key.length <= 1024) return String.fromCharCode(...key);
  let whole = '';
  for (let at = 0; at < key.length; at += 1024) whole += String.fromCharCode(...key.subarray(at, at + 1024));
  return whole;
}

/** The value with its texts replaced by their sort keys; the value itself where there is no order or no text. */
export function collated(value: Value, order: TextOrder | undefined): Value {
  if (order === undefined) return value;
  if (typeof value === 'string') return collatedText(value, order);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof BsonSymbol) return collatedText(value.text, order);
  if (value instanceof BsonArray) return hasText(value) ? BsonArray.of(value.items().map((item) => collated(item, order))) : value;
  if (value instanceof Document) return hasText(value) ? Document.fromEntries(value.fields.map(([name, field]) => [name, collated(field, order)])) : value;
  return value;
}

/** Whether there is a text in the value, so that an order of texts may matter. */
export function hasText(value: Value): boolean {
  if (typeof value === 'string' || value instanceof BsonSymbol) return true;
  if (value instanceof BsonArray) return value.items().some(hasText);
  if (value instanceof CodeWithScope) return false;
  return value instanceof Document && value.fields.some(([, field]) => hasText(field));
}

/** The order of values in which texts have this order. */
export function comparerOf(order: TextOrder | undefined): Comparer {
  if (order === undefined) return compareValues;
  return (a, b) => {
    if (typeof a === 'string' && typeof b === 'string') return order.compare(a, b);
    return compareValues(collated(a, order), collated(b, order));
  };
}
