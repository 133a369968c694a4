// Pages of other origins (CORS, https://fetch.spec.whatwg.org/). None may read by itself; those that the operator lists may, without the credentials
// that a browser keeps: they send a token of their own, or use signed addresses.

import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';

const exposed = 'Content-Range, Accept-Ranges, Content-Length, Content-Location, ETag, Last-Modified, Location, Repr-Digest, Tus-Resumable, Tus-Version, Tus-Extension, Tus-Max-Size, Upload-Offset, Upload-Length, Upload-Expires, Upload-Metadata, X-Request-Id';
const requested = 'Authorization, Content-Type, Range, If-Range, If-Match, If-None-Match, If-Modified-Since, Repr-Digest, Tus-Resumable, Upload-Checksum, Upload-Defer-Length, Upload-Length, Upload-Metadata, Upload-Offset, X-Chunk-Size, X-HTTP-Method-Override';
const preflightSeconds = 600;

/** Whether the request comes from a page of a listed origin. */
export function isListedOrigin({ origin }: IncomingHttpHeaders, origins: readonly string[]): boolean {
  return origin !== undefined && origins.includes(origin);
}

/** Fields that every answer has where origins are listed. */
export function crossOriginFields(headers: IncomingHttpHeaders, origins: readonly string[]): OutgoingHttpHeaders {
  if (origins.length === 0) return {};
  const { origin } = headers;
  return { Vary: 'Origin', ...(origin !== undefined && origins.includes(origin) ? { 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': exposed } : {}) };
}

/** What is answered to the question that a browser asks before a request; undefined where it is none. */
export function preflightFields(headers: IncomingHttpHeaders, origins: readonly string[], methods: string): OutgoingHttpHeaders | undefined {
  if (headers['access-control-request-method'] === undefined || !isListedOrigin(headers, origins)) return undefined;
  return { 'Access-Control-Allow-Methods': methods, 'Access-Control-Allow-Headers': requested, 'Access-Control-Max-Age': preflightSeconds };
}
