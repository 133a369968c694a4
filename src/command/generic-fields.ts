// What any command may say beside its own fields: database, session and transaction, time limit, read and write concern, API version.
// The rules between them are those of MongoDB's OperationSessionInfo and its concerns; each refusal has the server's code and text.

import { userDigest } from '../auth/index.ts';
import { CommandError } from '../base/errors.ts';
import { Binary, describeField, Document, isNumber, Timestamp, type Value } from '../bson/index.ts';
import type { CommandRequest } from '../session/index.ts';
import { parseReadConcern, parseWriteConcern, type ReadConcern, type WriteConcern } from './concerns.ts';
import {
  arrayField,
  boundedField,
  longField,
  objectField,
  parseFields,
  required,
  strictBoolField,
  stringField,
  anyField,
  strictLongField,
  uuidField,
  type FieldTable,
  type Parsed,
} from './fields.ts';
import { isInt64, isIntegral } from './number-fields.ts';

/** A session as a request names it: the key by which it is kept, and its id. */
export interface SessionName {
  readonly key: string;
  readonly id: Document;
}

/** The generic fields of one request. */
export interface GenericFields {
  readonly db: string;
  readonly lsid: SessionName | undefined;
  readonly txnNumber: bigint | undefined;
  /** `autocommit: false` was given: part of a multi-statement transaction. */
  readonly inTransaction: boolean;
  readonly startTransaction: boolean;
  readonly maxTimeMs: number;
  /** Whether maxTimeMS was given at all. */
  readonly maxTimeGiven: boolean;
  readonly readConcern: ReadConcern | undefined;
  readonly writeConcern: WriteConcern | undefined;
  readonly clusterTime: Timestamp | undefined;
  readonly comment: Value | undefined;
  /** Only what is in the Stable API. */
  readonly apiStrict: boolean;
  /** First statement number, or the number of each. */
  readonly statementIds: number | readonly number[];
}

const anyNumber = boundedField(0);

const TABLE = {
  $db: stringField,
  lsid: objectField,
  txnNumber: strictLongField,
  autocommit: strictBoolField,
  startTransaction: strictBoolField,
  maxTimeMS: anyField,
  readConcern: objectField,
  writeConcern: objectField,
  $clusterTime: objectField,
  comment: anyField,
  stmtId: anyNumber,
  stmtIds: arrayField,
  apiVersion: stringField,
  apiStrict: strictBoolField,
  apiDeprecationErrors: strictBoolField,
} satisfies FieldTable;

const LSID_TABLE = { id: required(uuidField), uid: anyField, txnNumber: longField, txnUUID: uuidField } satisfies FieldTable;


/** Commands of the Stable API, version 1. */
const STABLE_COMMANDS: ReadonlySet<string> = new Set([
  'abortTransaction',
  'aggregate',
  'authenticate',
  'bulkWrite',
  'collMod',
  'commitTransaction',
  'count',
  'create',
  'createIndexes',
  'delete',
  'drop',
  'dropDatabase',
  'dropIndexes',
  'endSessions',
  'explain',
  'find',
  'findAndModify',
  'getMore',
  'hello',
  'insert',
  'killCursors',
  'listCollections',
  'listDatabases',
  'listIndexes',
  'ping',
  'refreshSessions',
  'saslContinue',
  'saslStart',
  'update',
]);

/** Whether a command is one of the Stable API. */
export function isStable(command: string): boolean {
  return STABLE_COMMANDS.has(command);
}

function invalidOptions(text: string): CommandError {
  return new CommandError(72, 'InvalidOptions', text);
}

/** A session as it is named; most that are named are known, and need no document. */
class SessionId implements SessionName {
  readonly key: string;
  readonly #uuid: Binary;
  #id: Document | undefined;

  constructor(uuid: Binary) {
    this.key = uuidKey(uuid.bytes);
    this.#uuid = uuid;
  }

  get id(): Document {
    return (this.#id ??= Document.fromEntries([['id', this.#uuid]]));
  }
}

/** Reads the generic fields of a request. */
export function parseGenericFields(command: string, request: CommandRequest): GenericFields {
  const fields = parseFields(command, request.body, TABLE, 'skip');
  const db = fields.$db ?? request.database;
  if (db === undefined) throw new CommandError(40414, 'Location40414', `BSON field '${command}.$db' is missing but a required field`);
  checkApiVersion(command, fields);
  checkTransactionFields(fields);
  return {
    db: checkDatabase(db),
    lsid: fields.lsid === undefined ? undefined : parseSessionId(fields.lsid),
    txnNumber: fields.txnNumber,
    inTransaction: fields.autocommit === false,
    startTransaction: fields.startTransaction === true,
    maxTimeMs: parseMaxTime(fields.maxTimeMS),
    maxTimeGiven: fields.maxTimeMS !== undefined && fields.maxTimeMS !== null,
    readConcern: fields.readConcern === undefined ? undefined : parseReadConcern(fields.readConcern),
    writeConcern: fields.writeConcern === undefined ? undefined : parseWriteConcern(fields.writeConcern),
    clusterTime: clusterTimeOf(fields.$clusterTime),
    comment: fields.comment,
    apiStrict: fields.apiStrict === true,
    statementIds: fields.stmtIds?.items().map((item) => (typeof item === 'number' ? item : 0)) ?? fields.stmtId ?? 0,
  };
}

function checkDatabase(db: string): string {
  if (db.length === 0 || db.length > 63 || /[/\\. "$\0]/.test(db)) {
    if (db === '$external') return db;
    throw new CommandError(73, 'InvalidNamespace', `Invalid database name: '${db}'`);
  }
  return db;
}

function checkApiVersion(command: string, fields: Parsed<typeof TABLE>): void {
  if (fields.apiVersion === undefined) {
    if (fields.apiStrict === undefined && fields.apiDeprecationErrors === undefined) return;
    throw new CommandError(4886600, 'Location4886600', 'Provided apiStrict and/or apiDeprecationErrors without passing apiVersion');
  }
  if (fields.apiVersion !== '1') throw new CommandError(322, 'APIVersionError', 'API version must be "1"');
  if (fields.apiStrict === true && !isStable(command)) {
    throw new CommandError(323, 'APIStrictError', `Provided apiStrict:true, but the command ${command} is not in API Version 1. Information on supported commands and migrations in API Version 1 can be found at https://www.mongodb.com/docs/manual/reference/stable-api/`);
  }
}

function checkTransactionFields(fields: Parsed<typeof TABLE>): void {
  const { txnNumber, autocommit, startTransaction, lsid } = fields;
  if (txnNumber !== undefined) {
    if (lsid === undefined) throw invalidOptions('Transaction number requires a session ID to also be specified');
    if (txnNumber < 0n) throw invalidOptions('Transaction number cannot be negative');
  } else if (autocommit !== undefined) {
    throw invalidOptions("'autocommit' field requires a transaction number to also be specified");
  }
  if (startTransaction !== undefined && autocommit === undefined) {
    throw invalidOptions("'startTransaction' field requires 'autocommit' field to also be specified");
  }
  if (autocommit === true) throw invalidOptions('Specifying autocommit=true is not allowed.');
  if (startTransaction === false) throw invalidOptions('Specifying startTransaction=false is not allowed.');
}

/** A session's id, and the key by which it is kept. */
export function parseSessionId(lsid: Document): SessionName {
  const [first] = lsid.fields;
  const plain = first?.[0] === 'id' && lsid.fields.length === 1 ? first[1] : undefined;
  const isUuid = plain instanceof Binary && plain.subtype === 4 && plain.bytes.length === 16;
  return new SessionId(isUuid ? plain : parseFields('OperationSessionInfo.lsid', lsid, LSID_TABLE).id);
}

/** The session of a user: the same id of two users is two sessions. `user` is empty where nobody is logged in. */
export function sessionOfUser(named: SessionName, user: string): SessionName {
  if (user === '') return named;
  const { key, id } = named;
  return { key: `${key}${user}`, id: Document.fromEntries([...id.fields, ['uid', new Binary(userDigest(user), 0)]]) };
}

/** Sixteen bytes as eight characters: a short flat string, cheap to make and to look up. */
function uuidKey(bytes: Uint8Array): string {
  const unit = (at: number): number => ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
  return String.fromCharCode(unit(0), unit(2), unit(4), unit(6), unit(8), unit(10), unit(12), unit(14));
}

function parseMaxTime(value: Value | undefined): number {
  if (value === undefined || value === null) return 0;
  const at = 'maxTimeMS';
  const number = Number(longField.read(value, at));
  if (!isNumber(value) || !isIntegral(value) || !isInt64(value)) throw new CommandError(9, 'FailedToParse', `Expected an integer: ${describeField(at, value)}`);
  if (number < 0 || number > 0x7fffffff) {
    throw new CommandError(2, 'BadValue', `${String(number)} value for maxTimeMS is out of range [0, 2147483647]`);
  }
  return number;
}

function clusterTimeOf(value: Document | undefined): Timestamp | undefined {
  const time = value?.get('clusterTime');
  return time instanceof Timestamp ? time : undefined;
}
