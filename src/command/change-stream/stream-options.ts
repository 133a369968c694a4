// The stage `$changeStream` as it is written (manual: "$changeStream", "Change Streams"): what is watched, from where on, and what events carry.

import { CommandError } from '../../base/errors.ts';
import { Document, Timestamp, type Value } from '../../bson/index.ts';
import type { Namespace } from '../../catalog/index.ts';
import type { CommandContext } from '../command.ts';
import { objectField, parseFields, strictBoolField, typedField, wordField, type FieldTable } from '../fields.ts';
import { positionOf, type StreamPosition } from './resume-token.ts';

/** `null` is no boolean here. */
const boolField = { ...strictBoolField, nullIsWrong: true };

const FIELDS = {
  fullDocument: wordField(['default', 'updateLookup', 'whenAvailable', 'required']),
  fullDocumentBeforeChange: wordField(['off', 'whenAvailable', 'required']),
  resumeAfter: objectField,
  startAfter: objectField,
  startAtOperationTime: typedField(['timestamp'], (value): value is Timestamp => value instanceof Timestamp),
  allChangesForCluster: boolField,
  showExpandedEvents: boolField,
  showMigrationEvents: boolField,
  showSystemEvents: boolField,
  showRawUpdateDescription: boolField,
  allowToRunOnConfigDB: boolField,
  matchCollectionUUIDForUpdateLookup: boolField,
} satisfies FieldTable;

/** What is watched: one collection, a database, or everything. */
export type Watched = { readonly kind: 'collection'; readonly ns: string } | { readonly kind: 'database'; readonly db: string } | { readonly kind: 'cluster' };

/** A stream that is to be opened. */
export interface StreamOptions {
  readonly watched: Watched;
  readonly fullDocument: 'default' | 'updateLookup' | 'whenAvailable' | 'required';
  readonly before: 'off' | 'whenAvailable' | 'required';
  readonly expanded: boolean;
  /** Undefined: from now on. */
  readonly from: StreamPosition | undefined;
}

const INTERNAL: ReadonlySet<string> = new Set(['admin', 'config', 'local']);

function watchedBy(ns: Namespace, free: boolean, all: boolean): Watched {
  if (all) {
    if (free && ns.db === 'admin') return { kind: 'cluster' };
    const found = free ? ns.db : ns.text;
    const text = `A $changeStream with 'allChangesForCluster:true' may only be opened on the 'admin' database, and with no collection name; found ${found}`;
    throw new CommandError(72, 'InvalidOptions', text);
  }
  if (INTERNAL.has(ns.db)) throw new CommandError(73, 'InvalidNamespace', `$changeStream may not be opened on the internal ${ns.db} database`);
  if (free) return { kind: 'database', db: ns.db };
  if (ns.isSystem) throw new CommandError(73, 'InvalidNamespace', `$changeStream may not be opened on the internal ${ns.text} collection`);
  return { kind: 'collection', ns: ns.text };
}

interface Starts {
  readonly resumeAfter?: Document | undefined;
  readonly startAfter?: Document | undefined;
  readonly startAtOperationTime?: Timestamp | undefined;
}

function startOf({ resumeAfter, startAfter, startAtOperationTime }: Starts): StreamPosition | undefined {
  if (resumeAfter !== undefined && startAfter !== undefined) {
    throw new CommandError(50865, 'Location50865', "Do not specify both 'resumeAfter' and 'startAfter' in a $changeStream stage");
  }
  const token = resumeAfter ?? startAfter;
  if (token === undefined) return startAtOperationTime === undefined ? undefined : { time: startAtOperationTime, kind: 'time', index: 0, mark: 'passed' };
  if (startAtOperationTime !== undefined) {
    throw new CommandError(40674, 'Location40674', 'Only one type of resume option is allowed, but multiple were found.');
  }
  const position = positionOf(token);
  if (resumeAfter !== undefined && position.mark === 'invalidated') {
    const text = "Attempting to resume a change stream using 'resumeAfter' is not allowed from an invalidate notification.";
    throw new CommandError(260, 'InvalidResumeToken', text);
  }
  return position;
}

/** Refuses a stream where there can be none. */
function checkPlace({ server, transaction, generic }: CommandContext): void {
  if (transaction !== undefined) {
    const text = 'Operation not permitted in transaction :: caused by :: Aggregation stage $changeStream cannot run within a multi-document transaction.';
    throw new CommandError(263, 'OperationNotSupportedInTransaction', text);
  }
  if (server.options.standalone || !server.catalog.oplog.isOn) {
    throw new CommandError(40573, 'Location40573', 'The $changeStream stage is only supported on replica sets');
  }
  const level = generic.readConcern?.level;
  if (level === undefined || level === 'majority') return;
  const text = `$changeStream cannot run with a readConcern other than 'majority'. Current readConcern: { level: "${level}" }`;
  throw new CommandError(72, 'InvalidOptions', text);
}

/** Reads the stage. */
export function parseStream(context: CommandContext, specification: Value, { ns, free }: { readonly ns: Namespace; readonly free: boolean }): StreamOptions {
  if (!(specification instanceof Document)) {
    throw new CommandError(6188500, 'Location6188500', '$changeStream must take a nested object but found: $changeStream');
  }
  const fields = parseFields('$changeStream', specification, FIELDS);
  checkPlace(context);
  if (context.generic.apiStrict && fields.showExpandedEvents !== undefined) {
    throw new CommandError(323, 'APIStrictError', "BSON field 'showExpandedEvents' is not allowed with apiStrict:true.");
  }
  return {
    watched: watchedBy(ns, free, fields.allChangesForCluster === true),
    fullDocument: fields.fullDocument ?? 'default',
    before: fields.fullDocumentBeforeChange ?? 'off',
    expanded: fields.showExpandedEvents === true,
    from: startOf(fields),
  };
}
