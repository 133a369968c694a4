// The body of a request on its way into storage: read no faster than storage takes it, counted against a limit, and known to be cut when it is.

import { HttpError } from '../base/errors.ts';
import type { Exchange } from './exchange.ts';

/** Where the bytes go, and how many may. */
export interface BodyTarget {
  readonly write: (bytes: Uint8Array) => Promise<void>;
  readonly limit: number;
}

/** 413 for more bytes than a file, or what is left of one, may have. */
export const tooLarge = (max: number): HttpError => new HttpError(413, 'too_large', `at most ${max} bytes are taken here`, { members: { limit: max } });

/** Moves all bytes; how many. HttpError 400 when the client ends before the body does. */
export async function copyBody(exchange: Exchange, body: AsyncIterable<Uint8Array>, { write, limit }: BodyTarget): Promise<number> {
  let received = 0;
  const pieces = body[Symbol.asyncIterator]();
  for (;;) {
    const next = await pieces.next().catch((error: unknown) => {
      throw error instanceof HttpError ? error : new HttpError(400, 'bad_request', 'the body ended early', { cause: error });
    });
    if (next.done === true) return received;
    received += next.value.length;
    if (received > limit) throw tooLarge(limit);
    exchange.progress();
    await write(next.value);
    exchange.progress();
    if (exchange.isGone) throw new HttpError(400, 'bad_request', 'the client is gone');
  }
}

/** The request's own body. */
export function bodyOf(exchange: Exchange): AsyncIterable<Uint8Array> {
  return exchange.request.iterator({ destroyOnReturn: false });
}

/** The length that the request says its body has; undefined when it does not say. HttpError 413 beyond `max`. */
export function declaredLength(exchange: Exchange, max: number): number | undefined {
  const text = exchange.headers['content-length'];
  if (text === undefined) return undefined;
  const length = Number(text);
  if (length > max) throw tooLarge(max);
  return length;
}
