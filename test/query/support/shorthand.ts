// Values for tests of the query layer, written as plain objects: whole numbers are int32, others doubles, arrays and objects are BSON's.

import { BsonArray, Document, Double } from '../../../src/bson/index.ts';
import type { Value } from '../../../src/bson/index.ts';

/** A plain object's field, an array's element, or a BSON value as it is. */
export type Plain = Value | readonly Plain[] | { readonly [name: string]: Plain };

function isPlainObject(value: Plain): value is { readonly [name: string]: Plain } {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** The BSON value that a plain one stands for. */
export function bson(value: Plain): Value {
  if (typeof value === 'number') return Number.isInteger(value) && !Object.is(value, -0) ? value : new Double(value);
  if (Array.isArray(value)) return BsonArray.of((value as readonly Plain[]).map(bson));
  if (isPlainObject(value)) return doc(value);
  return value as Value;
}

/** A document from a plain object, encoded and read again, so that a test sees what a server would. */
export function doc(object: { readonly [name: string]: Plain }): Document {
  const fields = Object.entries(object).map(([name, value]): readonly [string, Value] => [name, bson(value)]);
  return Document.fromBytes(Document.fromEntries(fields).toBytes());
}

/** As doc, for objects whose type says less, such as generated ones. */
export function docOf(object: object): Document {
  const plain: { readonly [name: string]: Plain } = Object.fromEntries(Object.entries(object) as [string, Plain][]);
  return doc(plain);
}
