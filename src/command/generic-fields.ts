// What any command may say beside its own fields: database, session and transaction, time limit, read and write concern, API version.
// The rules between them are those of MongoDB's OperationSessionInfo and its concerns; each refusal has the server's code and text.

import { CommandError } from '../base/errors.ts';
import { Binary, Document, isNumber, Timestamp, type Value } from '../bson/index.ts';
import type { CommandRequest } from '../session/index.ts';
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
  mappedField,
  typedField,
  typeText,
  wordField,
  type Field,
  type FieldTable,
  type Parsed,
} from './fields.ts';

export type ReadConcernLevel = 'local' | 'majority' | 'snapshot' | 'available' | 'linearizable';

export interface ReadConcern {
  readonly level: ReadConcernLevel | undefined;
  readonly atClusterTime: Timestamp | undefined;
  readonly afterClusterTime: Timestamp | undefined;
}

export interface WriteConcern {
  /** Members that must have the write, or the name of a rule. */
  readonly w: number | string;
}

/** The generic fields of one request. */
export interface GenericFields {
  readonly db: string;
  readonly lsid: { readonly key: string; readonly id: Document } | undefined;
  readonly txnNumber: bigint | undefined;
  /** `autocommit: false` was given: part of a multi-statement transaction. */
  readonly inTransaction: boolean;
  readonly startTransaction: boolean;
  readonly maxTimeMs: number;
  readonly readConcern: ReadConcern | undefined;
  readonly writeConcern: WriteConcern | undefined;
  readonly clusterTime: Timestamp | undefined;
  readonly comment: Value | undefined;
  /** First statement number, or the number of each. */
  readonly statementIds: number | readonly number[];
}

const anyNumber = boundedField(0);

const timestampField: Field<Timestamp> = typedField(['timestamp'], (value) => value instanceof Timestamp);

const uuidField: Field<Binary> = mappedField(
  typedField(['binData'], (value) => value instanceof Binary),
  (binary, at) => {
    if (binary.subtype === 4 && binary.bytes.length === 16) return binary;
    throw new CommandError(14, 'TypeMismatch', `BSON field '${at}' is the wrong binData type, expected type 'UUID'`);
  },
);

const TABLE = {
  $db: required(stringField),
  lsid: objectField,
  txnNumber: longField,
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

const READ_CONCERN_TABLE = {
  level: wordField<ReadConcernLevel>(['local', 'majority', 'snapshot', 'available', 'linearizable']),
  atClusterTime: timestampField,
  afterClusterTime: timestampField,
  afterOpTime: objectField,
  provenance: stringField,
  allowTransactionTableSnapshot: strictBoolField,
  waitLastStableRecoveryTimestamp: strictBoolField,
} satisfies FieldTable;

const LSID_TABLE = { id: required(uuidField), uid: anyField, txnNumber: longField, txnUUID: uuidField } satisfies FieldTable;


function invalidOptions(text: string): CommandError {
  return new CommandError(72, 'InvalidOptions', text);
}

/** Only the fields of the body that any command may carry. */
function genericPart(request: CommandRequest): Document {
  const fields = request.body.fields.filter(([name]) => Object.hasOwn(TABLE, name));
  if (request.database !== undefined && !fields.some(([name]) => name === '$db')) fields.push(['$db', request.database]);
  return Document.fromEntries(fields);
}

/** Reads the generic fields of a request. */
export function parseGenericFields(command: string, request: CommandRequest): GenericFields {
  const fields = parseFields(command, genericPart(request), TABLE);
  checkApiVersion(fields);
  checkTransactionFields(fields);
  return {
    db: checkDatabase(fields.$db),
    lsid: fields.lsid === undefined ? undefined : parseSessionId(fields.lsid),
    txnNumber: fields.txnNumber,
    inTransaction: fields.autocommit === false,
    startTransaction: fields.startTransaction === true,
    maxTimeMs: parseMaxTime(fields.maxTimeMS),
    readConcern: fields.readConcern === undefined ? undefined : parseReadConcern(fields.readConcern),
    writeConcern: fields.writeConcern === undefined ? undefined : parseWriteConcern(fields.writeConcern),
    clusterTime: clusterTimeOf(fields.$clusterTime),
    comment: fields.comment,
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

function checkApiVersion(fields: Parsed<typeof TABLE>): void {
  if (fields.apiVersion === undefined) {
    for (const name of ['apiStrict', 'apiDeprecationErrors'] as const) {
      if (fields[name] === undefined) continue;
      throw new CommandError(322, 'APIVersionError', `Provided apiStrict and/or apiDeprecationErrors without passing apiVersion`);
    }
    return;
  }
  if (fields.apiVersion !== '1') throw new CommandError(322, 'APIVersionError', `API version must be "1"`);
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

/** The key by which a session is kept: the hex digits of its UUID. */
export function parseSessionId(lsid: Document): { key: string; id: Document } {
  const fields = parseFields('OperationSessionInfo.lsid', lsid, LSID_TABLE);
  let key = '';
  for (const byte of fields.id.bytes) key += byte.toString(16).padStart(2, '0');
  return { key, id: Document.of({ id: fields.id }) };
}

function parseMaxTime(value: Value | undefined): number {
  if (value === undefined || value === null) return 0;
  const number = Number(longField.read(value, 'maxTimeMS'));
  if (number < 0 || number > 0x7fffffff) {
    throw new CommandError(2, 'BadValue', `${String(number)} value for maxTimeMS is out of range [0, 2147483647]`);
  }
  return number;
}

function parseReadConcern(value: Document): ReadConcern {
  const fields = parseFields('readConcern', value, READ_CONCERN_TABLE);
  const { level, atClusterTime, afterClusterTime } = fields;
  if (atClusterTime !== undefined && level !== 'snapshot') {
    throw invalidOptions('atClusterTime can only be used with readConcern level snapshot');
  }
  if (atClusterTime !== undefined && afterClusterTime !== undefined) {
    throw invalidOptions('Can not specify both afterClusterTime and atClusterTime');
  }
  return { level, atClusterTime, afterClusterTime };
}

const WRITE_CONCERN_TABLE = {
  w: anyField,
  j: anyField,
  wtimeout: anyField,
  wtimeoutMS: anyField,
  fsync: anyField,
  provenance: stringField,
  getLastError: anyField,
  wOpTime: anyField,
  wElectionId: anyField,
} satisfies FieldTable;

function parseWriteConcern(value: Document): WriteConcern {
  const { w } = parseFields('writeConcern', value, WRITE_CONCERN_TABLE);
  if (w === undefined || w === null) return { w: 1 };
  if (typeof w === 'string') return { w };
  if (isNumber(w)) {
    const number = Number(longField.read(w, 'w'));
    if (number >= 0 && number <= 50) return { w: number };
    const text = `w has to be a non-negative number and not greater than 50; found: ${String(number)}`;
    throw new CommandError(9, 'FailedToParse', text);
  }
  if (w instanceof Document) return { w: 1 };
  throw new CommandError(9, 'FailedToParse', `w has to be a number, string, or object; found: ${typeText(w)}`);
}

function clusterTimeOf(value: Document | undefined): Timestamp | undefined {
  const time = value?.get('clusterTime');
  return time instanceof Timestamp ? time : undefined;
}
