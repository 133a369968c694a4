// Errors, once: the only place where what the engine says becomes a MongoDB code, where labels are put on, and where an error becomes a
// reply. Codes and labels are those of MongoDB's manual ("Error Codes") and of the drivers' transactions and retryable writes texts.

import { CommandError, EngineError, type EngineErrorCode } from '../base/errors.ts';
import { BsonArray, Document, Double, type Value } from '../bson/index.ts';

/** Where an error came up; labels depend on it. */
export interface ErrorPlace {
  /** In a multi-statement transaction. */
  readonly inTransaction: boolean;
  /** The command is commitTransaction or abortTransaction. */
  readonly endsTransaction: boolean;
  /** A write with a transaction number of its own. */
  readonly retryableWrite: boolean;
}

export const NOWHERE: ErrorPlace = { inTransaction: false, endsTransaction: false, retryableWrite: false };

const CONFLICT_TEXT =
  'Caused by :: Write conflict during plan execution and yielding is disabled. :: Please retry your operation or multi-document transaction.';

const ENGINE_CODES: Readonly<Record<EngineErrorCode, readonly [number, string]>> = {
  corruption: [301, 'DataCorruptionDetected'],
  io: [8, 'UnknownError'],
  poisoned: [91, 'ShutdownInProgress'],
  'no-space': [14031, 'OutOfDiskSpace'],
  locked: [24, 'LockTimeout'],
  'write-conflict': [112, 'WriteConflict'],
  deadlock: [112, 'WriteConflict'],
  closed: [91, 'ShutdownInProgress'],
  duplicate: [11000, 'DuplicateKey'],
  'too-large': [388, 'TransactionTooLargeForCache'],
  format: [12, 'UnsupportedFormat'],
  'unknown-dictionary': [175, 'QueryPlanKilled'],
};

/** Codes for which a transaction as a whole may be tried again. */
const TRANSIENT_CODES: ReadonlySet<number> = new Set([24, 112, 246, 251, 267]);

/** Codes for which a write, or a commit, may be tried again: the server was not able to, and it may be elsewhere or later. */
const RETRYABLE_CODES: ReadonlySet<number> = new Set([6, 7, 89, 91, 134, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436]);

/** The error as a client is told it. A bug of this program is an InternalError (1); the caller reports it. */
export function translateError(error: unknown): CommandError {
  if (error instanceof CommandError) return error;
  if (error instanceof EngineError) {
    const [code, name] = ENGINE_CODES[error.code];
    const text = code === 112 ? CONFLICT_TEXT : error.message;
    return new CommandError(code, name, text, { cause: error });
  }
  const text = error instanceof Error ? error.message : 'unknown error';
  return new CommandError(1, 'InternalError', `internal error: ${text}`, { cause: error });
}

/** Labels of an error at a place. */
export function labelsOf(error: Pick<CommandError, 'code' | 'labels'>, place: ErrorPlace): readonly string[] {
  const labels = new Set(error.labels);
  const retryable = RETRYABLE_CODES.has(error.code);
  if (place.inTransaction && !place.endsTransaction && (retryable || TRANSIENT_CODES.has(error.code))) {
    labels.add('TransientTransactionError');
  }
  if (place.endsTransaction && TRANSIENT_CODES.has(error.code)) labels.add('TransientTransactionError');
  if (retryable && (place.retryableWrite || place.endsTransaction)) labels.add('RetryableWriteError');
  return [...labels];
}

/** The fields of an error reply. */
export function errorFields(error: CommandError, place: ErrorPlace): [string, Value][] {
  const fields: [string, Value][] = [
    ['ok', new Double(0)],
    ['errmsg', error.message],
    ['code', error.code],
    ['codeName', error.codeName],
    ...detailFields(error),
  ];
  const labels = labelsOf(error, place);
  if (labels.length > 0) fields.push(['errorLabels', BsonArray.of([...labels])]);
  return fields;
}

/** Further fields of an error. What is not a value of BSON is a bug of whoever made the error. */
export function detailFields(error: CommandError): [string, Value][] {
  // eslint-disable-next-line frond/no-unsafe-assertion -- base knows no BSON: its contract says the values are what replies take
  return [...error.details].map(([name, value]) => [name, value as Value]);
}

/** One element of `writeErrors`. */
export function writeErrorDocument(index: number, error: CommandError): Document {
  return Document.fromEntries([['index', index], ['code', error.code], ['errmsg', error.message], ...detailFields(error)]);
}
