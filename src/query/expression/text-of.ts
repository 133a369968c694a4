// Values as text: in the messages of refusals.

import { BsonArray, DateTime, Decimal128, Document, Double, ObjectId } from '../../bson/index.ts';
import type { Maybe } from './define.ts';

/** A short text of a value, as MongoDB's messages show it. */
export function textOf(value: Maybe): string {
  if (value === undefined) return 'MISSING';
  if (typeof value === 'string') return `"${value}"`;
  if (value === null || typeof value === 'boolean' || typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (value instanceof Double) return String(value.value);
  if (value instanceof Decimal128) return value.toString();
  if (value instanceof ObjectId) return `ObjectId('${value.toHexString()}')`;
  if (value instanceof DateTime) return Math.abs(value.ms) <= 8.64e15 ? new Date(value.ms).toISOString() : String(value.ms);
  if (value instanceof BsonArray) return `[${value.items().map(textOf).join(', ')}]`;
  if (value instanceof Document) return `{${value.fields.map(([name, field]) => `${name}: ${textOf(field)}`).join(', ')}}`;
  return '?';
}
