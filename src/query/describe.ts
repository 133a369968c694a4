// Values as MongoDB's error messages show them: `{ a: 1, b: "x" }`, doubles with a point, dates and ids by their constructors.

import { BsonArray, DateTime, Decimal128, Document, Double, ObjectId, Regex, Timestamp, typeNameOf, typeOf } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';

/** A value as error messages show it. */
export function describeValue(value: Value): string {
  if (typeof value === 'string') return `"${value}"`;
  if (value === null || typeof value !== 'object') return String(value);
  if (value instanceof Double) return describeDouble(value.value);
  if (value instanceof Document) return describeDocument(value);
  if (value instanceof BsonArray) return value.isEmpty ? '[]' : `[ ${value.items().map(describeValue).join(', ')} ]`;
  if (value instanceof ObjectId) return `ObjectId('${value.toHexString()}')`;
  if (value instanceof DateTime) return `new Date(${String(value.msBig)})`;
  if (value instanceof Decimal128) return value.toString();
  if (value instanceof Regex) return `/${value.pattern}/${value.flags}`;
  if (value instanceof Timestamp) return `Timestamp(${String(value.seconds)}, ${String(value.increment)})`;
  return typeNameOf(typeOf(value)) ?? 'unknown';
}

/** A field as error messages show it: `a: 1`. */
export function describeField(name: string, value: Value): string {
  return `${name}: ${describeValue(value)}`;
}

function describeDocument(document: Document): string {
  if (document.isEmpty) return '{}';
  return `{ ${document.fields.map(([name, value]) => describeField(name, value)).join(', ')} }`;
}

function describeDouble(value: number): string {
  if (Number.isNaN(value)) return 'nan.0';
  if (!Number.isFinite(value)) return value < 0 ? '-inf' : 'inf';
  const text = String(value);
  return Number.isInteger(value) && !text.includes('e') ? `${Object.is(value, -0) ? '-' : ''}${text}.0` : text;
}
