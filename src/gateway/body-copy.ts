// The body of a request on its way into storage: read no faster than storage takes it, counted against a limit, and known to be cut when it is.

import { HttpError } from '../base/errors.ts';
import { giveBack } from '../env/index.ts';
import type { Soon } from '../gridfs/index.ts';
import type { Exchange } from './exchange.ts';

/** Where the bytes go, which are copied there, and how many may. */
export interface BodyTarget {
  readonly write: (bytes: Uint8Array) => Soon<void>;
  readonly limit: number;
}

/** 413 for more bytes than a file, or what is left of one, may have. */
export const tooLarge = (max: number): HttpError => new HttpError(413, 'too_large', `at most ${max} bytes are taken here`, { members: { limit: max } });

const endedEarly = (cause: unknown): HttpError => new HttpError(400, 'bad_request', 'the body ended early', { cause });
const clientGone = (): HttpError => new HttpError(400, 'bad_request', 'the client is gone');

/** Moves all bytes of a part of the body; how many. HttpError 400 when the client ends before the body does. */
export async function copyPart(exchange: Exchange, body: AsyncIterable<Uint8Array>, { write, limit }: BodyTarget): Promise<number> {
  let received = 0;
  const pieces = body[Symbol.asyncIterator]();
  for (;;) {
    const next = await pieces.next().catch((error: unknown) => {
      throw error instanceof HttpError ? error : endedEarly(error);
    });
    if (next.done === true) return received;
    received += next.value.length;
    if (received > limit) throw tooLarge(limit);
    exchange.progress();
    await write(next.value);
    exchange.progress();
    if (exchange.isGone) throw clientGone();
  }
}

/** Moves all bytes of the body; as `copyPart`. Nothing waits between pieces that storage takes at once. */
export function copyBody(exchange: Exchange, { write, limit }: BodyTarget): Promise<number> {
  const { request } = exchange;
  let received = 0;
  let isWriting = false;
  let fault: Error | undefined;
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      request.off('data', take).off('end', end).off('error', cut).off('close', cut);
    };
    // Whoever is told forgets the upload, so what is being written must be there by then.
    const fail = (error: Error): void => {
      fault ??= error;
      request.pause();
      if (isWriting) return;
      leave();
      reject(fault);
    };
    const written = (error?: unknown): void => {
      isWriting = false;
      exchange.progress();
      const broken = error instanceof Error ? error : (fault ?? (exchange.isGone ? clientGone() : undefined));
      if (broken === undefined) request.resume();
      else fail(broken);
    };
    const take = (bytes: Uint8Array): void => {
      received += bytes.length;
      exchange.progress();
      try {
        if (received > limit) throw tooLarge(limit);
        const writing = write(bytes);
        if (writing === undefined) {
          giveBack(bytes);
          return;
        }
        isWriting = true;
        request.pause();
        writing.then(() => {
          giveBack(bytes);
          written();
        }, written);
      } catch (error) {
        fail(error instanceof Error ? error : endedEarly(error));
      }
    };
    const cut = (cause?: unknown): void => fail(endedEarly(cause));
    const end = (): void => {
      leave();
      resolve(received);
    };
    request.on('data', take).on('end', end).on('error', cut).on('close', cut);
    if (request.destroyed) cut();
  });
}

/** The length that the request says its body has; undefined when it does not say. HttpError 413 beyond `max`. */
export function declaredLength(exchange: Exchange, max: number): number | undefined {
  const text = exchange.headers['content-length'];
  if (text === undefined) return undefined;
  const length = Number(text);
  if (length > max) throw tooLarge(max);
  return length;
}
