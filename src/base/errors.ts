// The four kinds of error of the whole product. A class exists because somebody catches it differently; everything else is a code.
// AssertionError: a bug, never caught, ends the process. EngineError: what the storage engine says. CommandError: what a MongoDB client
// is told. HttpError: what an HTTP client is told. Engine codes become MongoDB codes in command/translate-error.ts and nowhere else.

/** What an engine operation can say went wrong; `docs/errors.md` lists each. */
export type EngineErrorCode =
  | 'corruption' // bytes on disk are not what was written
  | 'io' // a read failed
  | 'poisoned' // a write or sync failed: nothing more is acknowledged until the environment is opened again
  | 'no-space' // space could not be had; nothing was logged
  | 'locked' // another process has the directory open, or a lock was not granted in time
  | 'write-conflict' // somebody else wrote the key after the snapshot
  | 'deadlock' // waiting would never end
  | 'closed' // the object was closed before
  | 'duplicate' // two rows of a load have one key; `fromKey` is the key, `value` the value of one of them
  | 'too-large' // a key, value or transaction is beyond its limit
  | 'format' // a file of a version or kind that this program does not know
  | 'unknown-dictionary'; // no dictionary of this id, or it was dropped

/** Where an engine error happened; every field is optional because not every error has a place. */
export interface EngineErrorPlace {
  readonly file?: string;
  readonly offset?: number;
  readonly dictionary?: number;
  /** Number of the block in the data file. */
  readonly block?: number;
  readonly fromKey?: Uint8Array;
  readonly toKey?: Uint8Array;
  readonly value?: Uint8Array;
  readonly pid?: number;
}

/** A broken invariant: a bug of this program. Never caught. */
export class AssertionError extends Error {
  override readonly name: string = 'AssertionError';
}

/** An error of the storage engine. */
export class EngineError extends Error {
  override readonly name: string = 'EngineError';
  readonly code: EngineErrorCode;
  readonly place: EngineErrorPlace;

  constructor(code: EngineErrorCode, message: string, options: { cause?: unknown; place?: EngineErrorPlace } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.place = options.place ?? {};
  }
}

/** Further fields of an error reply, beside `code`, `codeName` and `errmsg`. Values are what the reply encoder takes. */
export type ErrorDetails = ReadonlyMap<string, unknown>;

/** An error as a MongoDB client is told it: code, name of the code, message, labels and further fields of the reply. */
export class CommandError extends Error {
  override readonly name: string = 'CommandError';
  readonly code: number;
  readonly codeName: string;
  readonly labels: readonly string[];
  readonly details: ErrorDetails;

  constructor(
    code: number,
    codeName: string,
    message: string,
    options: { cause?: unknown; labels?: readonly string[]; details?: ErrorDetails } = {},
  ) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.codeName = codeName;
    this.labels = options.labels ?? [];
    this.details = options.details ?? new Map();
  }
}

/** An error as an HTTP client is told it: status, problem code, and further members of the problem document. */
export class HttpError extends Error {
  override readonly name: string = 'HttpError';
  readonly status: number;
  readonly code: string;
  readonly members: Readonly<Record<string, string | number>>;

  constructor(
    status: number,
    code: string,
    message: string,
    options: { cause?: unknown; members?: Readonly<Record<string, string | number>> } = {},
  ) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.status = status;
    this.code = code;
    this.members = options.members ?? {};
  }
}
