// Uploads: PUT of raw bytes under a name, and POST of a form with files. Bytes go into chunks as they come; the socket is read no faster than the
// database takes them. What is wrong is said before the body is read where that can be known; a body that ends early, or a client that goes,
// leaves nothing (gateway.md, section 3).

import { HttpError } from '../base/errors.ts';
import { decodeBase64, encodeBase64 } from '../base/base64.ts';
import type { FileBucket, FileUpload, NewFile, StoredFile } from '../gridfs/index.ts';
import { copyBody, copyPart, declaredLength } from './body-copy.ts';
import type { Exchange } from './exchange.ts';
import { fileJson, placeOf } from './file-list.ts';
import { fromHex, validatorsOf } from './file-headers.ts';
import { readForm } from './form.ts';
import type { FormFile } from './form.ts';
import type { GatewayParts } from './gateway-parts.ts';
import { evaluateConditions } from './precondition.ts';
import { filePath } from './route.ts';
import type { Route } from './route.ts';

/** Types that say nothing of the content: programs send them when nobody chose one. */
const idleTypes: ReadonlySet<string> = new Set(['', 'application/octet-stream', 'application/x-www-form-urlencoded']);

/** PUT of a file by its name: a new revision. 201 with Location and ETag. */
export async function answerPut(parts: GatewayParts, exchange: Exchange, route: Route): Promise<void> {
  await parts.uploads.receive(exchange, () => receivePut(parts, exchange, route));
}

async function receivePut(parts: GatewayParts, exchange: Exchange, route: Route): Promise<void> {
  const { headers } = exchange;
  const declared = declaredLength(exchange, parts.limits.uploadBytesMax);
  if (headers['content-range'] !== undefined) throw new HttpError(400, 'bad_request', 'a part of a file cannot be put');
  const coding = headers['content-encoding'];
  if (coding !== undefined && coding !== 'identity') throw new HttpError(415, 'bad_request', 'the body must not be encoded');
  const sha256 = announcedDigest(headers['repr-digest'] ?? headers['content-digest']);
  const bucket = parts.store.bucket(route.db, route.bucket);
  await checkName(parts, exchange, bucket, route.name);
  const upload = await bucket.create({
    filename: route.name,
    contentType: typeIn(headers['content-type']),
    metadata: new Map(),
    chunkSize: chunkSizeIn(headers['x-chunk-size']),
    onlyIfAbsent: headers['if-none-match']?.trim() === '*',
  });
  exchange.acceptBody();
  const file = await receive(upload, async () => {
    const received = await copyBody(exchange, { write: (bytes) => upload.write(bytes), limit: parts.limits.uploadBytesMax });
    if (declared !== undefined && received !== declared) throw new HttpError(400, 'bad_request', `the body has ${received} bytes, not ${declared}`);
    return await upload.finish(sha256);
  });
  tellCreated(parts, exchange, route, file);
}

/** Runs the receiving part of an upload; whatever goes wrong, nothing of the file stays. */
async function receive(upload: FileUpload, work: () => Promise<StoredFile>): Promise<StoredFile> {
  try {
    return await work();
  } catch (error) {
    await upload.abort();
    throw error;
  }
}

function tellCreated(parts: GatewayParts, exchange: Exchange, route: Route, file: StoredFile): void {
  const place = placeOf(parts, route);
  const digest = file.sha256 === undefined ? {} : { 'Repr-Digest': `sha-256=:${encodeBase64(fromHex(file.sha256))}:` };
  exchange.sendJson(201, { Location: filePath(place.base, place.bucket, file.id.text), ETag: `"${file.version}"`, ...digest }, fileJson(file, place));
}

/** If-Match and the dates against the newest revision; `If-None-Match: *` is the upload's own, for it must hold until its end. */
async function checkName(parts: GatewayParts, exchange: Exchange, bucket: FileBucket, filename: string): Promise<void> {
  const { headers } = exchange;
  const conditions = { ...headers, 'if-none-match': headers['if-none-match']?.trim() === '*' ? undefined : headers['if-none-match'] };
  if (['if-match', 'if-none-match', 'if-unmodified-since'].every((name) => headers[name] === undefined)) return;
  const nowMs = parts.clock.nowMs();
  const newest = await bucket.byName(filename, -1);
  const current = newest === undefined ? undefined : validatorsOf(newest, nowMs);
  if (evaluateConditions(conditions, current, { reads: false, nowMs }) === 'failed') {
    throw new HttpError(412, 'precondition_failed', 'the newest file of this name is not the one the request names');
  }
}

function typeIn(header: string | undefined): string | undefined {
  const text = header?.trim() ?? '';
  return idleTypes.has(text.split(';', 1)[0]?.trim().toLowerCase() ?? '') ? undefined : text;
}

function chunkSizeIn(header: string | string[] | undefined): number | undefined {
  if (header === undefined) return undefined;
  if (typeof header !== 'string' || !/^\d{1,9}$/.test(header)) throw new HttpError(400, 'bad_request', 'X-Chunk-Size is a number of bytes');
  return Number(header);
}

/** The SHA-256 of a digest field (RFC 9530) in hex; other algorithms are not looked at. */
function announcedDigest(header: string | string[] | undefined): string | undefined {
  if (typeof header !== 'string') return undefined;
  const digest = /(?:^|,)\s*sha-256=:([A-Za-z0-9+/=]*):/.exec(header)?.[1];
  if (digest === undefined) return undefined;
  const bytes = decodeBase64(digest);
  if (bytes?.length !== 32) throw new HttpError(400, 'bad_request', 'the digest is not a SHA-256 in base64');
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** POST of a form: its files in order, each with the fields before it as metadata. Those before one that fails stay. */
export async function answerForm(parts: GatewayParts, exchange: Exchange, route: Route): Promise<void> {
  await parts.uploads.receive(exchange, () => receiveForm(parts, exchange, route));
}

async function receiveForm(parts: GatewayParts, exchange: Exchange, route: Route): Promise<void> {
  declaredLength(exchange, parts.limits.uploadBytesMax);
  const type = exchange.headers['content-type'];
  if (type === undefined || !/^multipart\/form-data\s*;/i.test(type)) throw new HttpError(415, 'bad_request', 'files are posted as multipart/form-data');
  const bucket = parts.store.bucket(route.db, route.bucket);
  exchange.acceptBody();
  const files: StoredFile[] = [];
  const store = async (posted: FormFile): Promise<void> => {
    files.push(await storePosted(parts, exchange, bucket, posted));
  };
  await readForm(exchange.request, type, store);
  if (files.length === 0) throw new HttpError(400, 'bad_request', 'the form has no file');
  const place = placeOf(parts, route);
  const [first] = files;
  const location = first === undefined || files.length > 1 ? {} : { Location: filePath(place.base, place.bucket, first.id.text) };
  exchange.sendJson(201, location, `{"files":[${files.map((file) => fileJson(file, place)).join(',')}]}`);
}

async function storePosted(parts: GatewayParts, exchange: Exchange, bucket: FileBucket, posted: FormFile): Promise<StoredFile> {
  const request: NewFile = {
    filename: posted.filename,
    contentType: typeIn(posted.contentType),
    metadata: posted.fields,
    chunkSize: chunkSizeIn(exchange.headers['x-chunk-size']),
    onlyIfAbsent: false,
  };
  const upload = await bucket.create(request);
  return await receive(upload, async () => {
    await copyPart(exchange, posted.bytes, { write: (bytes) => upload.write(bytes), limit: parts.limits.uploadBytesMax });
    return await upload.finish();
  });
}
