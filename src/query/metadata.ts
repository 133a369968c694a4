// What is known of a document beside its fields: the score that a text search gave it, its distance from the point of a `$near`, its key in the
// index. `$meta` and sorts read it, stages carry it on to what they make of the document. Follows the manual's page "$meta".

import type { Document, Value } from '../bson/index.ts';

/** What only some queries know of their documents. */
export interface Metadata {
  readonly textScore?: number;
  /** In the units of the query. */
  readonly geoNearDistance?: number;
  /** The place whose distance it is. */
  readonly geoNearPoint?: Value;
  /** The key of the index that it was found by. */
  readonly indexKey?: Document;
}

/** Which of it the documents of a query have. */
export interface MetadataKinds {
  readonly text?: boolean;
  readonly near?: boolean;
}

const known = new WeakMap<Document, Metadata>();
let inUse = false;

/** Keeps what is known of a document, beside what was known before. */
export function noteMetadata(document: Document, metadata: Metadata): void {
  inUse = true;
  known.set(document, { ...known.get(document), ...metadata });
}

/** What is known of a document; undefined where nothing is. */
export function metadataOf(document: Document): Metadata | undefined {
  return inUse ? known.get(document) : undefined;
}

/** Of what was made of a document the same is known. */
export function carryMetadata(from: Document, to: Document): void {
  if (!inUse || from === to) return;
  const metadata = known.get(from);
  if (metadata !== undefined) known.set(to, metadata);
}
