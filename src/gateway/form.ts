// A form with files (multipart/form-data), read as a stream: one file at a time is stored, and while it is, nothing more of the body is read than
// the parser already has. The format itself is the parser's business (docs/decisions/0003-dependencies.md).

import type { IncomingMessage } from 'node:http';
import { Busboy } from '@fastify/busboy';
import type { BusboyInstance } from '@fastify/busboy';
import { HttpError } from '../base/errors.ts';

/** One file of a form. */
export interface FormFile {
  readonly filename: string;
  readonly contentType: string;
  /** The fields that came before it. */
  readonly fields: ReadonlyMap<string, string>;
  readonly bytes: AsyncIterable<Uint8Array>;
}

const limits = { fieldSize: 64 * 1024, fields: 100, files: 1000, headerSize: 16 * 1024 };

/** Calls `store` for each file in order, each when the one before is done. Rejects with what `store` does, or HttpError 400 for what is no form. */
export async function readForm(request: IncomingMessage, contentType: string, store: (file: FormFile) => Promise<void>): Promise<void> {
  const parser = parserOf(contentType);
  const fields = new Map<string, string>();
  let storing: Promise<void> = Promise.resolve();
  const failed = new Promise<never>((_resolve, reject) => {
    const fail = (error: unknown): void => reject(error instanceof HttpError ? error : malformed(error));
    parser.on('error', fail);
    parser.on('field', (name, value) => fields.set(name, value));
    parser.on('file', (...heard) => {
      const [, bytes, filename, , type] = heard;
      const file = { filename, contentType: type, fields: new Map(fields), bytes };
      // What becomes of the stream is seen by who reads it; a stream that is never read must not end the process.
      bytes.on('error', () => undefined);
      storing = storing.then(() => store(file));
      storing.catch(reject);
    });
  });
  failed.catch(() => undefined);
  const finished = new Promise<void>((resolve) => {
    parser.on('finish', resolve);
  });
  try {
    await Promise.race([feed(request, parser), failed]);
    await Promise.race([finished, failed]);
    await storing;
  } catch (error) {
    parser.destroy();
    await storing.catch(() => undefined);
    throw error;
  }
}

function parserOf(contentType: string): BusboyInstance {
  try {
    return new Busboy({ headers: { 'content-type': contentType }, preservePath: true, limits });
  } catch (error) {
    throw malformed(error);
  }
}

async function feed(request: IncomingMessage, parser: BusboyInstance): Promise<void> {
  const body: AsyncIterable<Uint8Array> = request.iterator({ destroyOnReturn: false });
  for await (const piece of body) {
    await new Promise<void>((resolve) => {
      parser.write(piece, () => resolve());
    });
  }
  parser.end();
}

const malformed = (error: unknown): HttpError => new HttpError(400, 'bad_request', 'the body is no whole form', { cause: error });
