// Whole documents as updates: a replacement, and what a pipeline made. The `_id` stays, in front; a field `$...` at the top is refused;
// an empty timestamp at the top becomes the time. Follows the manual's pages "db.collection.replaceOne()" and "Updates with Aggregation
// Pipeline".

import { equalBytes } from '../../base/bytes.ts';
import { BsonArray, bsonUndefined, BsonWriter, bsonType, decodeName, describeField, elementEnd, elementValue, equalValues, findElement, readInt32, Regex, typeNameOf, typeOf } from '../../bson/index.ts';
import type { Value , Document} from '../../bson/index.ts';
import { refuse } from '../refuse.ts';
import type { UpdateContext } from './operation.ts';

/** Refuses a replacement that no collection can hold. */
export function validateReplacement(replacement: Document): void {
  for (const name of replacement.keys()) {
    if (!name.startsWith('$') || name === '$id' || name === '$ref' || name === '$db') continue;
    throw refuse(
      52,
      `The dollar ($) prefixed field '${name}' in '${name}' is not allowed in the context of an update's replacement document. ` +
        'Consider using an aggregation pipeline with $replaceWith.',
    );
  }
}

/** Refuses an `_id` of a type that none can have. */
export function validateId(id: Value): void {
  if (!(id instanceof BsonArray) && !(id instanceof Regex) && id !== bsonUndefined) return;
  throw refuse(53, `The '_id' value cannot be of type ${typeNameOf(typeOf(id)) ?? 'unknown'}`);
}

/** The new document with the `_id` of the old one in front; the old one itself if nothing changed. */
export function replaceDocument(before: Document, after: Document, context: UpdateContext): Document {
  const made = withId(before, after, context);
  return sameBytes(before, made) ? before : made;
}

function withId(before: Document, after: Document, context: UpdateContext): Document {
  const oldId = before.get('_id');
  const newId = after.get('_id');
  if (oldId !== undefined && newId !== undefined && !equalValues(oldId, newId)) {
    throw refuse(
      66,
      `After applying the update, the (immutable) field '_id' was found to have been altered to ${describeField('_id', newId)}`,
    );
  }
  if (oldId === undefined && newId !== undefined) validateId(newId);
  const { bytes, start } = after;
  const idAt = findElement(bytes, start, '_id');
  const hasEmptyTimestamp = topTimestamps(after);
  if (!hasEmptyTimestamp && (idAt === start + 4 || (idAt < 0 && oldId === undefined))) return after;
  const writer = new BsonWriter(after.byteLength + 32);
  if (idAt >= 0) writer.copyElements(bytes, idAt, elementEnd(bytes, idAt));
  else if (oldId !== undefined) writer.writeElement('_id', oldId);
  for (let at = start + 4; bytes[at] !== 0; at = elementEnd(bytes, at)) {
    if (at === idAt) continue;
    if (isEmptyTimestamp(bytes, at)) writer.writeElement(decodeName(bytes, at + 1, elementValue(bytes, at) - 1), context.timestamp);
    else writer.copyElements(bytes, at, elementEnd(bytes, at));
  }
  return writer.finishDocument();
}

function isEmptyTimestamp(bytes: Uint8Array, at: number): boolean {
  if (bytes[at] !== bsonType.timestamp) return false;
  const value = elementValue(bytes, at);
  return readInt32(bytes, value) === 0 && readInt32(bytes, value + 4) === 0;
}

function topTimestamps(doc: Document): boolean {
  const { bytes } = doc;
  for (let at = doc.start + 4; bytes[at] !== 0; at = elementEnd(bytes, at)) if (isEmptyTimestamp(bytes, at)) return true;
  return false;
}

function sameBytes(a: Document, b: Document): boolean {
  if (a === b) return true;
  return equalBytes(a.toBytes(), b.toBytes());
}
