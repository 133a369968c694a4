// Files as JSON: a page of a bucket, one file, the check of one, and deleting. Metadata goes through as Extended JSON text, so no number loses a digit.

import { HttpError } from '../base/errors.ts';
import type { FileBucket, FileQuery, FileSortField, StoredFile } from '../gridfs/index.ts';
import { sentType } from './content-type.ts';
import type { Exchange } from './exchange.ts';
import { findFile } from './file-answer.ts';
import { validatorsOf } from './file-headers.ts';
import type { GatewayParts } from './gateway-parts.ts';
import { evaluateConditions } from './precondition.ts';
import { basePath, filePath } from './route.ts';
import type { Route } from './route.ts';

const limitDefault = 50;
const limitMax = 1000;
const sortFields: ReadonlySet<string> = new Set<FileSortField>(['uploadDate', 'filename', 'length']);

/** Where the files of a route are, as links to them need it. */
export interface FilePlaceInPaths {
  readonly base: string;
  readonly bucket: string;
}

/** The links of a route's bucket. */
export function placeOf(parts: GatewayParts, route: Route): FilePlaceInPaths {
  return { base: basePath(route.db, parts.dbDefault), bucket: route.bucket };
}

/** One file as JSON text. */
export function fileJson(file: StoredFile, { base, bucket }: FilePlaceInPaths, more: Readonly<Record<string, number>> = {}): string {
  const { id, filename, length, chunkSize, uploadDateMs, contentType, sha256, version, metadata, fault } = file;
  const text = JSON.stringify({
    id: id.text,
    filename,
    length,
    chunkSize,
    uploadDate: uploadDateMs === undefined ? undefined : new Date(uploadDateMs).toISOString(),
    contentType: contentType ?? sentType(undefined, filename).type,
    sha256,
    etag: `"${version}"`,
    url: filePath(base, bucket, id.text),
    fault,
    ...more,
  });
  return metadata === undefined ? text : `${text.slice(0, -1)},"metadata":${metadata}}`;
}

/** What a query string asks of a list. HttpError 400 for what it cannot mean. */
export function fileQuery(query: URLSearchParams): FileQuery {
  const sort = query.get('sort') ?? '-uploadDate';
  const field = sort.replace(/^[+ -]/, '');
  if (!isSortField(field)) throw new HttpError(400, 'bad_request', 'sort is uploadDate, filename or length, with - before it for descending');
  const limit = query.get('limit') ?? String(limitDefault);
  if (!/^\d{1,6}$/.test(limit) || Number(limit) === 0) throw new HttpError(400, 'bad_request', `limit is a number from 1 to ${limitMax}`);
  const type = (query.get('type') ?? '').toLowerCase();
  return {
    prefix: query.get('prefix') ?? '',
    sort: { field, direction: sort.startsWith('-') ? -1 : 1 },
    limit: Math.min(Number(limit), limitMax),
    after: query.get('after') ?? undefined,
    accepts: (file) => type === '' || sentType(file.contentType, file.filename).type.startsWith(type),
  };
}

function isSortField(field: string): field is FileSortField {
  return sortFields.has(field);
}

/** GET of a list. */
export async function answerList(parts: GatewayParts, exchange: Exchange, route: Route): Promise<void> {
  const bucket = parts.store.bucket(route.db, route.bucket);
  const { files, next } = await bucket.list(fileQuery(route.query));
  const place = placeOf(parts, route);
  const revisions = await revisionsOf(bucket, files);
  const items = files.map((file) => fileJson(file, place, { revisions: revisions.get(file.filename) ?? 1 }));
  exchange.sendJson(200, {}, `{"files":[${items.join(',')}]${next === undefined ? '' : `,"next":${JSON.stringify(next)}`}}`);
}

/** How many files have each of the names. */
export async function revisionsOf(bucket: FileBucket, files: readonly StoredFile[]): Promise<ReadonlyMap<string | undefined, number>> {
  const counts = new Map<string | undefined, number>();
  for (const { filename } of files) {
    if (filename !== undefined && !counts.has(filename)) counts.set(filename, await bucket.revisions(filename));
  }
  return counts;
}

/** GET of one file's document. */
export async function answerDocument(parts: GatewayParts, exchange: Exchange, route: Route): Promise<void> {
  const bucket = parts.store.bucket(route.db, route.bucket);
  const file = await findFile(bucket, route);
  const revisions = await revisionsOf(bucket, [file]);
  exchange.sendJson(200, { ETag: `"${file.version}"` }, fileJson(file, placeOf(parts, route), { revisions: revisions.get(file.filename) ?? 1 }));
}

/** Walks the chunks of a file and tells what it found. */
export async function answerCheck(parts: GatewayParts, exchange: Exchange, route: Route): Promise<void> {
  const bucket = parts.store.bucket(route.db, route.bucket);
  const file = await findFile(bucket, route);
  exchange.sendJson(200, {}, JSON.stringify({ id: file.id.text, ...(await bucket.check(file)) }));
}

/** DELETE of a file: 204, or 404. */
export async function deleteFile(parts: GatewayParts, exchange: Exchange, route: Route): Promise<void> {
  const bucket = parts.store.bucket(route.db, route.bucket);
  const file = await findFile(bucket, route);
  const nowMs = parts.clock.nowMs();
  if (evaluateConditions(exchange.headers, validatorsOf(file, nowMs), { reads: false, nowMs }) === 'failed') {
    throw new HttpError(412, 'precondition_failed', 'the file is not the one the request names');
  }
  if (!(await bucket.remove(file.id))) throw new HttpError(404, 'not_found', 'there is no such file');
  exchange.sendEmpty(204, {});
}
