// How pages and their files are sent: nothing from elsewhere, nothing in line, never in a frame (gateway.md, section 7).

import { HttpError } from '../../base/errors.ts';
import type { Exchange } from '../exchange.ts';
import type { GatewayParts } from '../gateway-parts.ts';
import { evaluateConditions } from '../precondition.ts';
import type { Route } from '../route.ts';

/** Headers of a page. */
export const pageFields: Readonly<Record<string, string>> = {
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; media-src 'self' blob:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
};

/** GET of a script, a style or the icon: it, or 304. */
export function answerAsset(parts: GatewayParts, exchange: Exchange, route: Route): void {
  const file = parts.page.get(route.name === '' ? 'icon.svg' : route.name);
  if (file === undefined) throw new HttpError(404, 'not_found', 'there is nothing at this path');
  const fields = { ETag: file.etag, 'Cache-Control': 'no-cache' };
  const nowMs = parts.clock.nowMs();
  const verdict = evaluateConditions(exchange.headers, { etag: file.etag, lastModifiedMs: undefined }, { reads: true, nowMs });
  if (verdict === 'failed') throw new HttpError(412, 'precondition_failed', 'the file is not the one the request names');
  if (verdict === 'not-modified') exchange.sendEmpty(304, fields);
  else exchange.send(200, { ...fields, 'Content-Type': file.type, 'Content-Security-Policy': "default-src 'none'" }, file.bytes);
}
