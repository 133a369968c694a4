// Errors as HTTP clients are told them: application/problem+json (RFC 9457), text where a person asks. Storage's own words, paths and stacks stay
// inside; what happened is in the status, the code and a sentence.

import { CommandError, EngineError, HttpError } from '../base/errors.ts';
import { FileError } from '../gridfs/index.ts';
import type { FileErrorCode } from '../gridfs/index.ts';

const titles: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  411: 'Length Required',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  416: 'Range Not Satisfiable',
  417: 'Expectation Failed',
  421: 'Misdirected Request',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  460: 'Checksum Mismatch',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  503: 'Service Unavailable',
  505: 'HTTP Version Not Supported',
  507: 'Insufficient Storage',
};

/** The words that go with a status. */
export function statusTitle(status: number): string {
  return titles[status] ?? 'Error';
}

const fileErrors: Readonly<Record<FileErrorCode, readonly [number, string]>> = {
  corrupt: [500, 'corrupt_file'],
  unavailable: [503, 'database_unavailable'],
  gone: [404, 'not_found'],
  'bad-name': [400, 'bad_name'],
  'bad-metadata': [400, 'bad_request'],
  'bad-chunk-size': [400, 'bad_request'],
  'digest-mismatch': [400, 'digest_mismatch'],
  exists: [412, 'precondition_failed'],
  ended: [409, 'conflict'],
};

/** What a client is told of any error: undefined for a bug of this program, which is told as such and is not described. */
export function asHttpError(error: unknown): HttpError | undefined {
  if (error instanceof HttpError) return error;
  if (error instanceof FileError) {
    const [status, code] = fileErrors[error.code];
    const { id, n } = error.place;
    return new HttpError(status, code, error.message, { cause: error, members: { ...(id === undefined ? {} : { id }), ...(n === undefined ? {} : { n }) } });
  }
  if (error instanceof EngineError) return storageError(error);
  if (error instanceof CommandError) return commandError(error);
  return undefined;
}

function storageError(error: EngineError): HttpError {
  if (error.code === 'no-space') return new HttpError(507, 'no_space', 'the database has no room', { cause: error });
  if (error.code === 'too-large') return new HttpError(413, 'too_large', 'that is more than the database takes in one piece', { cause: error });
  if (error.code === 'corruption') return new HttpError(500, 'database_corrupt', 'the database found damage in its files', { cause: error });
  return new HttpError(503, 'database_unavailable', 'the database cannot answer now', { cause: error });
}

function commandError(error: CommandError): HttpError {
  if (error.code === 13) return new HttpError(403, 'forbidden', 'you may not do that here', { cause: error });
  if (error.code === 18) return new HttpError(401, 'unauthorized', 'the user or the password is wrong', { cause: error });
  // 73 InvalidNamespace, 166 CommandNotSupportedOnView.
  if (error.code === 73) return new HttpError(400, 'bad_name', error.message, { cause: error });
  if (error.code === 166) return new HttpError(400, 'bad_name', 'the bucket is a view', { cause: error });
  return new HttpError(500, 'database_error', `the database refused: ${error.message}`, { cause: error });
}

/** The body of an error. `accept`: the header of the request. */
export function problemBody(error: HttpError, requestId: string, accept: string | undefined): { readonly type: string; readonly text: string } {
  const title = statusTitle(error.status);
  if (wantsText(accept)) return { type: 'text/plain; charset=utf-8', text: `${error.status} ${title}: ${error.message}\n` };
  const { status, code, message, members } = error;
  return { type: 'application/problem+json', text: `${JSON.stringify({ type: 'about:blank', title, status, code, detail: message, ...members, request_id: requestId })}\n` };
}

/** Whether text is asked for, and JSON is not. */
function wantsText(accept: string | undefined): boolean {
  return accept !== undefined && /\btext\/(\*|plain|html)/i.test(accept) && !/json/i.test(accept);
}
