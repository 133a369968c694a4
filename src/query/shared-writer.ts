// One writer for all documents that updates and projections make, because fresh memory for each costs more than writing it. Making a
// document runs to completion and nothing in it makes another one with this writer.

import { BsonWriter } from '../bson/index.ts';

const KEPT_BYTES_MAX = 64 * 1024;

let shared = new BsonWriter(4096);

/** A writer, empty, for one document that takes about this many bytes; it is the caller's until the document is finished. */
export function borrowWriter(bytes: number): BsonWriter {
  if (bytes > KEPT_BYTES_MAX) return new BsonWriter(bytes);
  if (shared.byteLength > KEPT_BYTES_MAX) shared = new BsonWriter(4096);
  return shared.reset();
}
