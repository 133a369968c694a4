// Read and write concerns as commands carry them, and what a write concern asks beyond what every acknowledged write has here (it is on
// disk): members that this one-member set does not have. Refusals are those of MongoDB's ReadConcernArgs and WriteConcernOptions.

import { CommandError } from '../base/errors.ts';
import { Document, isNumber, Timestamp, type NumberValue } from '../bson/index.ts';
import {
  anyField,
  boolField,
  objectField,
  parseFields,
  strictBoolField,
  typedField,
  typeText,
  wordField,
  type Field,
  type FieldTable,
} from './fields.ts';
import { isNan, toInt64Truncated } from './number-fields.ts';

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

const timestampField: Field<Timestamp> = typedField(['timestamp'], (value) => value instanceof Timestamp);

const provenanceField = wordField(['clientSupplied', 'implicitDefault', 'customDefault', 'getLastErrorDefaults', 'internalWriteDefault']);

const READ_CONCERN_TABLE = {
  level: wordField<ReadConcernLevel>(['local', 'majority', 'snapshot', 'available', 'linearizable']),
  atClusterTime: { ...timestampField, nullIsWrong: true },
  afterClusterTime: { ...timestampField, nullIsWrong: true },
  afterOpTime: objectField,
  provenance: provenanceField,
  allowTransactionTableSnapshot: strictBoolField,
  waitLastStableRecoveryTimestamp: strictBoolField,
} satisfies FieldTable;

const WRITE_CONCERN_TABLE = {
  w: anyField,
  j: boolField,
  wtimeout: anyField,
  wtimeoutMS: anyField,
  fsync: boolField,
  provenance: provenanceField,
  getLastError: anyField,
  wOpTime: anyField,
  wElectionId: anyField,
} satisfies FieldTable;

function failedToParse(text: string): CommandError {
  return new CommandError(9, 'FailedToParse', text);
}

function invalidOptions(text: string): CommandError {
  return new CommandError(72, 'InvalidOptions', text);
}

/** Reads a read concern. */
export function parseReadConcern(value: Document): ReadConcern {
  const fields = parseFields('readConcern', value, READ_CONCERN_TABLE);
  const { level, atClusterTime, afterClusterTime } = fields;
  if (atClusterTime !== undefined && level !== 'snapshot') {
    throw invalidOptions('atClusterTime can only be used with readConcern level snapshot');
  }
  if (atClusterTime !== undefined && afterClusterTime !== undefined) {
    throw invalidOptions('Can not specify both afterClusterTime and atClusterTime');
  }
  for (const [name, time] of [['atClusterTime', atClusterTime], ['afterClusterTime', afterClusterTime]] as const) {
    if (time?.seconds === 0) throw invalidOptions(`${name} cannot be a null timestamp`);
  }
  return { level, atClusterTime, afterClusterTime };
}

/** Reads a write concern. */
export function parseWriteConcern(value: Document): WriteConcern {
  const { w, wtimeout } = parseFields('writeConcern', value, WRITE_CONCERN_TABLE);
  if (wtimeout !== undefined && isNumber(wtimeout)) checkTimeout(wtimeout);
  if (w === undefined || w === null) return { w: 1 };
  if (typeof w === 'string') return { w };
  if (isNumber(w)) return { w: memberCount(w) };
  if (w instanceof Document) {
    checkTags(w);
    return { w: 1 };
  }
  throw failedToParse(`w has to be a number, string, or object; found: ${typeText(w)}`);
}

function checkTimeout(wtimeout: NumberValue): void {
  const milliseconds = toInt64Truncated(wtimeout);
  if (milliseconds > 0x7fffffffn) throw failedToParse('wtimeout must be a 32-bit integer');
}

function memberCount(w: NumberValue): number {
  const number = toInt64Truncated(w);
  if (!isNan(w) && number >= 0n && number <= 50n) return Number(number);
  throw failedToParse(`w has to be a non-negative number and not greater than 50; found: ${String(number)}`);
}

function checkTags(tags: Document): void {
  if (tags.isEmpty) throw failedToParse('tagged write concern requires tags');
  for (const [, count] of tags.fields) if (!isNumber(count)) throw failedToParse('tags must be a single level document with only number values');
}

/** The `writeConcernError` of a reply; undefined when the write concern is met. */
export function writeConcernError(concern: WriteConcern | undefined): Document | undefined {
  if (concern === undefined) return undefined;
  const { w } = concern;
  if (typeof w === 'number') {
    if (w <= 1) return undefined;
    return failure(100, 'UnsatisfiableWriteConcern', 'Not enough data-bearing nodes', concern);
  }
  if (w === 'majority') return undefined;
  return failure(79, 'UnknownReplWriteConcern', `No write concern mode named '${w}' found in replica set configuration`, concern);
}

function failure(code: number, codeName: string, errmsg: string, concern: WriteConcern): Document {
  const writeConcern = Document.of({ w: concern.w, wtimeout: 0, provenance: 'clientSupplied' });
  return Document.of({ code, codeName, errmsg, errInfo: Document.of({ writeConcern }) });
}
