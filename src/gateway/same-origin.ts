// What protects a gateway from pages of other sites in its users' browsers. Writes must come from the gateway's own page or from no page at all, and a foreign name that was made to point here
// (DNS rebinding) is not answered.

import type { IncomingHttpHeaders } from 'node:http';
import { HttpError } from '../base/errors.ts';

/** Whether an address or host name stands for this machine only. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '').toLowerCase();
  return name === 'localhost' || name.endsWith('.localhost') || name === '::1' || /^(?:::ffff:)?127(?:\.\d{1,3}){3}$/.test(name);
}

/** HttpError 421 where the request was meant for another host. */
export function requireOwnHost(headers: IncomingHttpHeaders): void {
  const { host } = headers;
  if (host === undefined) return;
  const name = /^(\[[^\]]*\]|[^:]*)(?::\d*)?$/.exec(host)?.[1];
  if (name === undefined || !isLoopback(name)) throw new HttpError(421, 'wrong_host', 'this gateway answers for this machine only');
}

/** HttpError 403 for a write that a page of another origin sent (CSRF). Programs send neither of the fields. */
export function requireSameOrigin(headers: IncomingHttpHeaders): void {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) {
    if (site === 'same-origin' || site === 'none') return;
    throw new HttpError(403, 'cross_origin', 'writes come from the page of this gateway, or from a program');
  }
  const { origin, host } = headers;
  if (origin === undefined || origin === `http://${host ?? ''}` || origin === `https://${host ?? ''}`) return;
  throw new HttpError(403, 'cross_origin', 'writes come from the page of this gateway, or from a program');
}
