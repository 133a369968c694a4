// Resumable uploads: the protocol tus 1.0.0 (https://tus.io/protocols/resumable-upload) with its extensions creation, creation-with-upload,
// creation-defer-length, expiration, checksum and termination. What came of a file is durable and stays when the connection is cut; the client asks
// how far it is and goes on. The file is listed when its last byte is there. The upload bears the id of the file that it becomes.

import { createHash } from 'node:crypto';
import type { Hash } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import { decodeBase64, encodeBase64 } from '../base/base64.ts';
import { HttpError } from '../base/errors.ts';
import { decodeUtf8, encodeUtf8, isUtf8Range } from '../base/text.ts';
import { FileId } from '../gridfs/index.ts';
import type { FileBucket, ResumableState, ResumedUpload, Soon, StoredFile } from '../gridfs/index.ts';
import { copyBody, declaredLength, tooLarge } from './body-copy.ts';
import type { Exchange } from './exchange.ts';
import type { GatewayParts } from './gateway-parts.ts';
import { formatHttpDate } from './http-date.ts';
import { basePath, filePath, uploadPath } from './route.ts';
import type { Route } from './route.ts';

const version = '1.0.0';
const checksums: ReadonlyMap<string, string> = new Map([['sha1', 'sha1'], ['sha256', 'sha256'], ['md5', 'md5']]);
const offsetType = 'application/offset+octet-stream';

/** What OPTIONS tells of uploads. */
export function tusAbilities({ limits }: GatewayParts): OutgoingHttpHeaders {
  return {
    'Tus-Resumable': version,
    'Tus-Version': version,
    'Tus-Extension': 'creation,creation-with-upload,creation-defer-length,expiration,checksum,termination',
    'Tus-Max-Size': limits.uploadBytesMax,
    'Tus-Checksum-Algorithm': [...checksums.keys()].join(','),
  };
}

function requireTus(exchange: Exchange): void {
  exchange.addFields({ 'Tus-Resumable': version, 'Cache-Control': 'no-store' });
  if (exchange.headers['tus-resumable'] === version) return;
  exchange.addFields({ 'Tus-Version': version });
  throw new HttpError(412, 'precondition_failed', `Tus-Resumable: ${version} is spoken here`);
}

interface Place {
  readonly parts: GatewayParts;
  readonly exchange: Exchange;
  readonly route: Route;
  readonly bucket: FileBucket;
}

function placeAt(parts: GatewayParts, exchange: Exchange, route: Route): Place {
  requireTus(exchange);
  return { parts, exchange, route, bucket: parts.store.bucket(route.db, route.bucket) };
}

const expiry = ({ clock, limits }: GatewayParts): number => clock.nowMs() + limits.resumableMs;

/** POST: begins an upload, perhaps with its first bytes. */
export async function createUpload(parts: GatewayParts, exchange: Exchange, route: Route): Promise<void> {
  const place = placeAt(parts, exchange, route);
  const { headers } = exchange;
  // A part would be listed as a file of its own.
  if (headers['upload-concat'] !== undefined) throw new HttpError(400, 'bad_request', 'uploads are not put together here');
  const { filename, contentType, metadata } = metadataIn(textOf(headers['upload-metadata']));
  const length = lengthIn(place, { isNew: true });
  const chunkSize = wholeIn(headers['x-chunk-size'], 'X-Chunk-Size');
  const state = await place.bucket.createResumable(
    { filename, contentType, metadata, chunkSize, onlyIfAbsent: headers['if-none-match']?.trim() === '*' },
    { length, expiresMs: expiry(parts) },
  );
  const location = { Location: uploadPath(basePath(route.db, parts.dbDefault), route.bucket, state.id.text) };
  const brings = headers['content-type'] === offsetType;
  if (brings || length === 0) exchange.addFields(location);
  if (brings || length === 0) await receiveAt(place, state, { status: 201, brings });
  else exchange.sendEmpty(201, { ...location, ...expires(state), 'Content-Length': 0 });
}

const expires = ({ expiresMs }: ResumableState): OutgoingHttpHeaders => ({ 'Upload-Expires': formatHttpDate(expiresMs) });

function idIn(route: Route): FileId {
  const id = FileId.parse(route.name);
  if (id === undefined) throw new HttpError(404, 'not_found', 'there is no such upload');
  return id;
}

const keyOf = ({ db, bucket, name }: Route): string => JSON.stringify([db, bucket, name]);

/** HEAD and GET: how far it is. */
export async function tellUpload(parts: GatewayParts, exchange: Exchange, route: Route): Promise<void> {
  const place = placeAt(parts, exchange, route);
  await parts.uploads.holding(keyOf(route), exchange, async () => {
    const id = idIn(route);
    const state = await place.bucket.resumable(id);
    if (state !== undefined) {
      const length: OutgoingHttpHeaders = state.length === undefined ? { 'Upload-Defer-Length': 1 } : { 'Upload-Length': state.length };
      exchange.sendEmpty(200, { 'Upload-Offset': state.offset, ...length, ...expires(state), 'Upload-Metadata': metadataText(state), 'Content-Length': 0 });
      return;
    }
    const file = await finished(place, id);
    exchange.sendEmpty(200, { 'Upload-Offset': file.length, 'Upload-Length': file.length, 'Content-Location': fileUrl(place, file.id), 'Content-Length': 0 });
  });
}

/** The file that an upload became. HttpError 404 where there is none. */
async function finished({ bucket }: Place, id: FileId): Promise<StoredFile> {
  const file = await bucket.byId(id);
  if (file === undefined) throw new HttpError(404, 'not_found', 'there is no such upload, or its time is over');
  return file;
}

function fileUrl({ parts, route }: Place, id: FileId): string {
  return filePath(basePath(route.db, parts.dbDefault), route.bucket, id.text);
}

/** PATCH: goes on. */
export async function continueUpload(parts: GatewayParts, exchange: Exchange, route: Route): Promise<void> {
  const place = placeAt(parts, exchange, route);
  const { headers } = exchange;
  if (headers['content-type'] !== offsetType) throw new HttpError(415, 'bad_request', `a part of an upload is ${offsetType}`);
  const offset = wholeIn(headers['upload-offset'], 'Upload-Offset');
  if (offset === undefined) throw new HttpError(400, 'bad_request', 'Upload-Offset says where the body begins');
  await parts.uploads.holding(keyOf(route), exchange, async () => {
    const id = idIn(route);
    const state = await place.bucket.resumable(id);
    const current = state?.offset ?? (await finished(place, id)).length;
    if (offset !== current) {
      exchange.addFields({ 'Upload-Offset': current });
      throw new HttpError(409, 'upload_offset_conflict', `the upload is at ${current}, not at ${offset}`, { members: { offset: current } });
    }
    if (state === undefined) await tellFinished(place, id, current);
    else await receiveAt(place, { ...state, length: state.length ?? lengthIn(place, { isNew: false }) }, { status: 204, brings: true });
  });
}

/** Of a file that is whole nothing more is taken, and a client whose last answer was lost brings nothing more. */
async function tellFinished(place: Place, id: FileId, length: number): Promise<void> {
  const { exchange } = place;
  declaredLength(exchange, 0);
  if (exchange.headers['transfer-encoding'] !== undefined) {
    exchange.acceptBody();
    await copyBody(exchange, { write: () => undefined, limit: 0 });
  }
  exchange.sendEmpty(204, { 'Upload-Offset': length, 'Content-Location': fileUrl(place, id) });
}

/** DELETE: gives up. */
export async function deleteUpload(parts: GatewayParts, exchange: Exchange, route: Route): Promise<void> {
  const { bucket } = placeAt(parts, exchange, route);
  await parts.uploads.holding(keyOf(route), exchange, async () => {
    if (!(await bucket.removeResumable(idIn(route)))) throw new HttpError(404, 'not_found', 'there is no such upload');
    exchange.sendEmpty(204, {});
  });
}

/** Receives the body into an upload, finishes the file when that was the last of it, and answers. */
async function receiveAt(place: Place, state: ResumableState, { status, brings }: { readonly status: number; readonly brings: boolean }): Promise<void> {
  const { parts, exchange, bucket } = place;
  const limit = (state.length ?? parts.limits.uploadBytesMax) - state.offset;
  if (brings && (declaredLength(exchange, Number.MAX_SAFE_INTEGER) ?? 0) > limit) throw tooLarge(limit);
  const checksum = checksumIn(textOf(exchange.headers['upload-checksum']));
  const expiresMs = expiry(parts);
  await parts.uploads.receive(exchange, async () => {
    const upload = await bucket.resume(state.id, { length: state.length, expiresMs });
    if (upload === undefined) throw new HttpError(404, 'not_found', 'there is no such upload');
    const received = brings ? await receiveBody(exchange, upload, { limit, checksum }) : 0;
    const offset = state.offset + received;
    if (offset === state.length) {
      const { id } = await finish(upload);
      exchange.sendEmpty(status, { 'Upload-Offset': offset, 'Content-Location': fileUrl(place, id), ...(status === 201 ? { 'Content-Length': 0 } : {}) });
      return;
    }
    await upload.suspend();
    exchange.sendEmpty(status, { 'Upload-Offset': offset, ...expires({ ...state, expiresMs }), ...(status === 201 ? { 'Content-Length': 0 } : {}) });
  });
}

/** What cannot be finished now, for the name is taken or the storage refuses, is left and can be finished later. */
async function finish(upload: ResumedUpload): Promise<StoredFile> {
  try {
    return await upload.finish();
  } catch (error) {
    await upload.suspend().catch(() => undefined);
    throw error;
  }
}

interface Checksum {
  readonly hash: Hash;
  readonly expected: string;
}

/** Bytes received. What came of a body that is cut stays, unless it was to be checked as a whole. */
async function receiveBody(exchange: Exchange, upload: ResumedUpload, { limit, checksum }: { readonly limit: number; readonly checksum: Checksum | undefined }): Promise<number> {
  exchange.acceptBody();
  const write = (bytes: Uint8Array): Soon<void> => {
    checksum?.hash.update(bytes);
    return upload.write(bytes);
  };
  let received: number;
  try {
    received = await copyBody(exchange, { write, limit });
  } catch (error) {
    const isWhole = checksum === undefined && !(error instanceof HttpError && error.status === 413);
    await (isWhole ? upload.suspend() : upload.rewind()).catch(() => undefined);
    throw error;
  }
  if (checksum === undefined || checksum.hash.digest('base64') === checksum.expected) return received;
  await upload.rewind();
  throw new HttpError(460, 'checksum_mismatch', 'the body is not what its checksum says');
}

/** `ALGORITHM BASE64`. */
function checksumIn(text: string | undefined): Checksum | undefined {
  if (text === undefined) return undefined;
  const [name = '', expected = ''] = text.trim().split(/ +/);
  const algorithm = checksums.get(name.toLowerCase());
  if (algorithm === undefined || expected === '') throw new HttpError(400, 'bad_request', `a checksum is one of ${[...checksums.keys()].join(', ')} and base64`);
  return { hash: createHash(algorithm), expected };
}

/** The length of the whole file. Undefined where it is to be told later. */
function lengthIn({ exchange, parts }: Place, { isNew }: { readonly isNew: boolean }): number | undefined {
  const { headers } = exchange;
  const length = wholeIn(headers['upload-length'], 'Upload-Length');
  const deferred = headers['upload-defer-length'];
  if (length !== undefined && deferred !== undefined) throw new HttpError(400, 'bad_request', 'Upload-Length and Upload-Defer-Length exclude each other');
  if (isNew && length === undefined && deferred !== '1') throw new HttpError(400, 'bad_request', 'Upload-Length says how long the file is, or Upload-Defer-Length: 1 that it will be said');
  if (length !== undefined && length > parts.limits.uploadBytesMax) throw tooLarge(parts.limits.uploadBytesMax);
  return length;
}

const textOf = (header: string | string[] | undefined): string | undefined => (Array.isArray(header) ? header.join(',') : header);

function wholeIn(header: string | string[] | undefined, name: string): number | undefined {
  if (header === undefined) return undefined;
  const value = typeof header === 'string' && /^\d{1,16}$/.test(header) ? Number(header) : Number.NaN;
  if (!Number.isSafeInteger(value)) throw new HttpError(400, 'bad_request', `${name} is a number of bytes`);
  return value;
}

interface UploadMetadata {
  readonly filename: string;
  readonly contentType: string | undefined;
  readonly metadata: ReadonlyMap<string, string>;
}

/** `name base64, name base64, …`. Clients differ in what they call the name and the type of a file. */
function metadataIn(header: string | undefined): UploadMetadata {
  const values = new Map<string, string>();
  for (const pair of (header ?? '').split(',')) {
    const [name = '', value = '', ...rest] = pair.trim().split(' ');
    if (name === '' && value === '') continue;
    const bytes = decodeBase64(value);
    if (bytes === undefined || rest.length > 0 || !isUtf8Range(bytes, 0, bytes.length)) throw new HttpError(400, 'bad_request', `the metadata ${name} is not base64 of text`);
    if (values.has(name)) throw new HttpError(400, 'bad_request', `the metadata ${name} is there twice`);
    values.set(name, decodeUtf8(bytes, 0, bytes.length));
  }
  const take = (...names: readonly string[]): string | undefined => {
    const found = names.map((name) => values.get(name)).find((value) => value !== undefined);
    for (const name of names) values.delete(name);
    return found;
  };
  const filename = take('filename', 'name') ?? '';
  const contentType = take('filetype', 'contentType', 'type');
  return { filename, contentType: contentType === '' ? undefined : contentType, metadata: values };
}

function metadataText({ filename, contentType, metadata }: ResumableState): string {
  const pairs: [string, string][] = [['filename', filename], ...(contentType === undefined ? [] : [['filetype', contentType] satisfies [string, string]]), ...metadata];
  return pairs.map(([name, value]) => `${name} ${encodeBase64(encodeUtf8(value))}`.trim()).join(',');
}
