// GET and HEAD of a stored file. The file document is looked up once; conditions, then ranges, then the first chunks, and only then the head, so
// that what is not there is never announced. How bytes go out is file-source.ts.

import { HttpError } from '../base/errors.ts';
import { FileError, FileId } from '../gridfs/index.ts';
import type { FileBucket, FileReader, Soon, StoredFile } from '../gridfs/index.ts';
import { readRange } from './byte-range.ts';
import type { ByteRange, RangeAnswer } from './byte-range.ts';
import { sentType } from './content-type.ts';
import type { Exchange } from './exchange.ts';
import { FileSource } from './file-source.ts';
import { fileFields, validatorFields, validatorsOf } from './file-headers.ts';
import type { GatewayParts } from './gateway-parts.ts';
import { randomToken } from './gateway-parts.ts';
import { evaluateConditions, rangeApplies } from './precondition.ts';
import type { Validators } from './precondition.ts';
import { rangedBody, wholeBody } from './response-body.ts';
import type { BodyPlan } from './response-body.ts';
import type { Route } from './route.ts';

const immutable = 'private, max-age=31536000, immutable';
const always = 'private, no-cache';

/** The file that a route names. HttpError 404 where there is none. */
export async function findFile(bucket: FileBucket, route: Route): Promise<StoredFile> {
  const found = route.kind === 'named-file' ? bucket.byName(route.name, revisionOf(route.query)) : byIdText(bucket, route.name);
  const file = found instanceof Promise ? await found : found;
  if (file === undefined) throw new HttpError(404, 'not_found', 'there is no such file');
  return file;
}

function byIdText(bucket: FileBucket, text: string): Soon<StoredFile | undefined> {
  const id = FileId.parse(text);
  if (id === undefined) throw new HttpError(400, 'bad_name', 'that is not an id: 24 hex digits, or s:, i:, u: or j: and a value');
  return bucket.byId(id);
}

function revisionOf(query: URLSearchParams): number {
  const text = query.get('revision') ?? '-1';
  if (!/^-?\d{1,9}$/.test(text)) throw new HttpError(400, 'bad_request', 'revision is a whole number: 0 the oldest, -1 the newest');
  return Number(text);
}

/** Answers with the file, a part of it, or why not. */
export async function answerFile(parts: GatewayParts, exchange: Exchange, route: Route): Promise<void> {
  const bucket = parts.store.bucket(route.db, route.bucket);
  const file = await findFile(bucket, route);
  if (file.fault !== undefined) throw new FileError('corrupt', file.fault, { place: { id: file.id.text } });
  const nowMs = parts.clock.nowMs();
  const validators = validatorsOf(file, nowMs);
  const cacheControl = route.kind === 'file' ? immutable : always;
  const verdict = evaluateConditions(exchange.headers, validators, { reads: true, nowMs });
  if (verdict === 'not-modified') {
    exchange.sendEmpty(304, validatorFields(validators, cacheControl));
    return;
  }
  if (verdict === 'failed') throw new HttpError(412, 'precondition_failed', 'the file is not the one the request names');
  const answer = rangesOf(exchange, { bucket, file, validators, nowMs });
  const ranges = answer instanceof Promise ? await answer : answer;
  if (ranges.kind === 'none') {
    const error = new HttpError(416, 'range_not_satisfiable', `the file has ${file.length} bytes`, { members: { length: file.length } });
    exchange.sendError(error, { 'Content-Range': `bytes */${file.length}`, 'Accept-Ranges': 'bytes' });
    return;
  }
  const whole = { length: file.length, contentType: sentType(file.contentType, file.filename).type };
  const plan = ranges.kind === 'whole' ? wholeBody(whole) : rangedBody(whole, ranges.ranges, () => randomToken(parts.random, 12));
  await sendPlan(parts, exchange, { plan, reader: bucket.open(file), fields: fileFields(file, { validators, cacheControl, query: route.query, hasQuery: route.hasQuery, isShownElsewhere: parts.origins.length > 0 }) });
}

interface Chosen {
  readonly bucket: FileBucket;
  readonly file: StoredFile;
  readonly validators: Validators;
  readonly nowMs: number;
}

function rangesOf(exchange: Exchange, chosen: Chosen): Soon<RangeAnswer> {
  const { range, 'if-range': ifRange } = exchange.headers;
  if (exchange.method !== 'GET' || range === undefined) return { kind: 'whole' };
  return ifRange === undefined ? readRange(range, chosen.file.length) : conditionalRanges(range, ifRange, chosen);
}

async function conditionalRanges(range: string, ifRange: string | string[], { bucket, file, validators, nowMs }: Chosen): Promise<RangeAnswer> {
  const condition = typeof ifRange === 'string' ? ifRange : undefined;
  const isDate = condition !== undefined && !condition.includes('"');
  const dateIsStrong = !isDate || (await isAloneInItsSecond(bucket, file));
  if (!rangeApplies(condition, validators, { nowMs, dateIsStrong })) return { kind: 'whole' };
  return readRange(range, file.length);
}

/** Whether a date, to the second, tells this file from all others of its name. */
async function isAloneInItsSecond(bucket: FileBucket, file: StoredFile): Promise<boolean> {
  if (file.filename === undefined || file.uploadDateMs === undefined) return true;
  const second = Math.floor(file.uploadDateMs / 1000);
  for (const revision of [-1, -2]) {
    const other = await bucket.byName(file.filename, revision);
    if (other !== undefined && other.id.text !== file.id.text && Math.floor((other.uploadDateMs ?? 0) / 1000) === second) return false;
  }
  return true;
}

interface Sending {
  readonly plan: BodyPlan;
  readonly reader: FileReader;
  /** Of the head, names and values in turn. */
  readonly fields: readonly string[];
}

async function sendPlan(parts: GatewayParts, exchange: Exchange, { plan, reader, fields }: Sending): Promise<void> {
  const source = new FileSource(parts, reader);
  const begin = beginOf(plan);
  const isHead = exchange.method === 'HEAD';
  const preparing = begin === undefined ? undefined : source.prepare(isHead ? { first: 0, last: 0 } : begin);
  if (preparing !== undefined) await preparing;
  if (exchange.isGone) {
    source.close();
    return;
  }
  const head = ['Content-Type', plan.contentType, 'Content-Length', String(plan.length), ...fields];
  if (plan.contentRange !== undefined) head.push('Content-Range', plan.contentRange);
  exchange.headInTurn(plan.status, head);
  if (isHead) {
    source.close();
    exchange.end();
    return;
  }
  parts.streams.add(source);
  try {
    for (const [i, piece] of plan.pieces.entries()) {
      const ends = i === plan.pieces.length - 1;
      const going = piece.kind === 'text' ? exchange.write(piece.bytes) : source.send(exchange, piece.range, ends);
      if (!(await going)) return;
      if (ends && piece.kind === 'file') return;
    }
    exchange.end();
  } finally {
    parts.streams.delete(source);
    source.close();
  }
}

/** The stretch of the file with which a body begins. */
function beginOf({ pieces }: BodyPlan): ByteRange | undefined {
  const first = pieces.find((piece) => piece.kind === 'file');
  return first?.range;
}
