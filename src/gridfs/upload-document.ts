// The document of a resumable upload that is under way: where it goes, how far it is, when it is given up. Both stores keep the same.

import { DateTime, Document, isNumber, toDouble } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';
import { FileId } from './file-id.ts';
import type { NewFile, ResumableState, ResumeRequest } from './file-store.ts';
import { chunkSizeDefault } from './file-store.ts';

/** Fields of a new one; `where` says whose it is. */
export function uploadDocument(id: Value, request: NewFile, { length, expiresMs }: ResumeRequest, where: Readonly<Record<string, Value>>): Document {
  return Document.of({
    _id: id,
    ...where,
    filename: request.filename,
    contentType: request.contentType ?? null,
    metadata: Document.fromEntries([...request.metadata]),
    chunkSize: request.chunkSize ?? chunkSizeDefault,
    onlyIfAbsent: request.onlyIfAbsent,
    length: length === undefined ? null : BigInt(length),
    offset: 0n,
    expires: new DateTime(expiresMs),
  });
}

/** What such a document says. */
export function readUploadDocument(document: Document): ResumableState {
  const [filename, contentType, metadata, expires] = ['filename', 'contentType', 'metadata', 'expires'].map((name) => document.get(name));
  return {
    id: FileId.of(document.get('_id') ?? null),
    filename: typeof filename === 'string' ? filename : '',
    contentType: typeof contentType === 'string' ? contentType : undefined,
    metadata: new Map(metadata instanceof Document ? metadata.fields.map(([name, value]) => [name, typeof value === 'string' ? value : '']) : []),
    chunkSize: numberIn(document, 'chunkSize') ?? chunkSizeDefault,
    length: numberIn(document, 'length'),
    offset: numberIn(document, 'offset') ?? 0,
    expiresMs: expires instanceof DateTime ? expires.ms : 0,
  };
}

function numberIn(document: Document, name: string): number | undefined {
  const value = document.get(name);
  return isNumber(value) ? toDouble(value) : undefined;
}

/** The document with the upload further on, or with its length known. */
export function movedOn(document: Document, { offset, length, expiresMs }: { readonly offset?: number; readonly length?: number | undefined; readonly expiresMs?: number }): Document {
  const fields = new Map<string, Value>(document.fields);
  if (offset !== undefined) fields.set('offset', BigInt(offset));
  if (length !== undefined) fields.set('length', BigInt(length));
  if (expiresMs !== undefined) fields.set('expires', new DateTime(expiresMs));
  return Document.fromEntries([...fields]);
}
