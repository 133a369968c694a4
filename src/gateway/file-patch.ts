// PATCH of a file's document: another name, other metadata. The body is a JSON object merged into the document (RFC 7396): `filename`, and
// `metadata` whose values are Extended JSON. Conditions are those of any write; the bytes and their ETag stay.

import { HttpError } from '../base/errors.ts';
import { concatBytes } from '../base/bytes.ts';
import { decodeUtf8 } from '../base/text.ts';
import type { FileChange } from '../gridfs/index.ts';
import type { Exchange } from './exchange.ts';
import { findFile } from './file-answer.ts';
import { validatorsOf } from './file-headers.ts';
import { fileJson, placeOf } from './file-list.ts';
import type { GatewayParts } from './gateway-parts.ts';
import { evaluateConditions } from './precondition.ts';
import type { Route } from './route.ts';

const bodyBytesMax = 1 << 20;

/** PATCH of one file's document: 200 with what it is then. */
export async function patchFile(parts: GatewayParts, exchange: Exchange, route: Route): Promise<void> {
  const type = (exchange.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase();
  if (type !== 'application/json' && type !== 'application/merge-patch+json') {
    throw new HttpError(415, 'bad_request', 'a change is application/merge-patch+json', { members: { accept: 'application/merge-patch+json' } });
  }
  const bucket = parts.store.bucket(route.db, route.bucket);
  const file = await findFile(bucket, route);
  const nowMs = parts.clock.nowMs();
  if (evaluateConditions(exchange.headers, validatorsOf(file, nowMs), { reads: false, nowMs }) === 'failed') {
    throw new HttpError(412, 'precondition_failed', 'the file is not the one the request names');
  }
  exchange.acceptBody();
  const changed = await bucket.change(file.id, changeIn(await readBody(exchange)));
  if (changed === undefined) throw new HttpError(404, 'not_found', 'there is no such file');
  exchange.sendJson(200, { ETag: `"${changed.version}"` }, fileJson(changed, placeOf(parts, route)));
}

async function readBody(exchange: Exchange): Promise<string> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  const body: AsyncIterable<Uint8Array> = exchange.request.iterator({ destroyOnReturn: false });
  for await (const piece of body) {
    length += piece.length;
    if (length > bodyBytesMax) throw new HttpError(413, 'too_large', `a change has at most ${bodyBytesMax} bytes`);
    pieces.push(piece);
  }
  return decodeUtf8(concatBytes(pieces), 0, length);
}

function changeIn(text: string): FileChange {
  const body = objectIn(parseJson(text));
  for (const name of Object.keys(body)) {
    if (name !== 'filename' && name !== 'metadata') throw new HttpError(400, 'bad_request', `${name} of a file cannot be changed`);
  }
  const { filename, metadata } = body;
  if (filename !== undefined && typeof filename !== 'string') throw new HttpError(400, 'bad_request', 'a file name is text');
  const fields = metadata === undefined ? [] : Object.entries(objectIn(metadata));
  return { filename, metadata: new Map(fields.map(([name, value]) => [name, JSON.stringify(value)])) };
}

function objectIn(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new HttpError(400, 'bad_request', 'a change is a JSON object');
  return { ...value };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new HttpError(400, 'bad_request', 'the body is not JSON', { cause: error });
  }
}
