// Which errors a change stream gets over: a driver opens it anew where the error bears this label (drivers' specification "Change Streams").

import { CommandError } from '../../base/errors.ts';
import { translateError } from '../translate-error.ts';

const LABEL = 'ResumableChangeStreamError';

const CODES: ReadonlySet<number> = new Set([6, 7, 63, 89, 91, 133, 150, 189, 234, 262, 9001, 10107, 11600, 11602, 13388, 13435, 13436]);

/** Those after which no stream can go on from its token. */
const FATAL: ReadonlySet<number> = new Set([280, 286]);

/** The error, with the label if it deserves it. */
export function resumable(error: unknown): unknown {
  const told = translateError(error);
  const label = CODES.has(told.code) ? LABEL : FATAL.has(told.code) ? 'NonResumableChangeStreamError' : undefined;
  if (label === undefined) return error;
  return new CommandError(told.code, told.codeName, told.message, { cause: error, labels: [...told.labels, label], details: told.details });
}
