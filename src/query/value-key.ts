// Keys for JavaScript maps under which equal values meet: numbers of any type by value, documents field by field in order, as `$eq` has it.
// Used where values are gathered: `$group`, `$addToSet`, joins.

import { BsonSymbol, collated, compareNumbers, Double, encodeKey, isNumber } from '../bson/index.ts';
import type { NumberValue, TextOrder, Value } from '../bson/index.ts';

/** A key of a map; two values have the same key exactly if they are equal. */
export type ValueKey = number | string;

/** The key of a value; under an order of texts, texts that it does not tell apart are equal. */
export function keyOfValue(value: Value, order?: TextOrder): ValueKey {
  return plainKey(order === undefined ? value : collated(value, order));
}

function plainKey(value: Value): ValueKey {
  if (typeof value === 'string') return `s${value}`;
  if (typeof value === 'number') return value;
  if (isNumber(value)) return numberKey(value) ?? encoded(value);
  if (value === null) return 'n';
  if (typeof value === 'boolean') return value ? 't' : 'f';
  if (value instanceof BsonSymbol) return `s${value.text}`;
  return encoded(value);
}

/** Numbers that a double holds exactly are their own key. */
function numberKey(value: NumberValue): number | undefined {
  if (typeof value === 'number') return value;
  if (value instanceof Double) return value.value;
  if (typeof value === 'bigint') return BigInt(Number(value)) === value ? Number(value) : undefined;
  if (value.isNaN) return Number.NaN;
  const nearest = Number(value.toString());
  return compareNumbers(value, new Double(nearest)) === 0 ? nearest : undefined;
}

function encoded(value: Value): string {
  const bytes = encodeKey([value], [1]);
  let text = 'k';
  for (let at = 0; at < bytes.length; at += 4096) text += String.fromCharCode(...bytes.subarray(at, at + 4096));
  return text;
}
