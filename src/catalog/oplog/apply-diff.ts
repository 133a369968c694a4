// Applies what an oplog says of an update (`$v: 2`, see update-diff.ts) to a document: fields go, get another value, or come behind the others; the
// same inside documents and arrays. What a difference names and the document does not have is left alone, so that it may be applied twice.

import { BsonArray, Document } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';

/** The document after the update. */
export function applyDiff(before: Document, diff: Document): Document {
  const fields = new Map<string, Value>(before.fields);
  for (const [key, value] of diff.fields) {
    if (!(value instanceof Document)) continue;
    if (key === 'd') for (const name of value.keys()) fields.delete(name);
    else if (key === 'u') for (const [name, field] of value.fields) fields.set(name, field);
    else if (key === 'i') for (const [name, field] of value.fields) append(fields, name, field);
    else applyInside(fields, key.slice(1), value);
  }
  return Document.fromEntries(fields);
}

function append(fields: Map<string, Value>, name: string, value: Value): void {
  fields.delete(name);
  fields.set(name, value);
}

function applyInside(fields: Map<string, Value>, name: string, diff: Document): void {
  const inner = fields.get(name);
  if (inner !== undefined) fields.set(name, inside(inner, diff));
}

function inside(value: Value, diff: Document): Value {
  if (value instanceof BsonArray && diff.get('a') === true) return applyToArray(value, diff);
  return value instanceof Document ? applyDiff(value, diff) : value;
}

function applyToArray(before: BsonArray, diff: Document): BsonArray {
  const items: Value[] = [...before.items()];
  for (const [key, value] of diff.fields) {
    if (key === 'l' && typeof value === 'number') items.length = Math.min(items.length, value);
    const index = Number(key.slice(1));
    if (key === 'a' || key === 'l' || !Number.isInteger(index)) continue;
    while (items.length <= index) items.push(null);
    const item = items[index] ?? null;
    items[index] = key.startsWith('s') && value instanceof Document ? inside(item, value) : value;
  }
  return BsonArray.of(items);
}
