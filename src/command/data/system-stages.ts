// Stages that tell of the server itself: they come first in a pipeline and make the documents that the rest works on. They stand here and
// not among the stages of `exec` because what they tell is known to commands only.

import { CommandError } from '../../base/errors.ts';
import { DateTime, Document, type Value } from '../../bson/index.ts';
import type { CatalogTransaction, Collection, Namespace } from '../../catalog/index.ts';
import { describeOperation } from '../administration/operations.ts';
import type { CommandContext } from '../command.ts';
import { anyField, boolField, numberField, objectField, parseFields, type FieldTable } from '../fields.ts';
import { searchNotEnabled } from '../schema/search-indexes.ts';
import { collectionFigures } from '../schema/statistics.ts';

/** Where such a stage stands. */
export interface SystemStageInput {
  readonly context: CommandContext;
  readonly txn: CatalogTransaction;
  /** Undefined for `aggregate: 1`. */
  readonly target: { readonly ns: Namespace; readonly collection: Collection | undefined } | undefined;
  readonly specification: Document;
}

type SystemStage = (input: SystemStageInput) => readonly Document[];

const SCALE_FIELDS = { scale: numberField } satisfies FieldTable;

const COLL_STATS_FIELDS = {
  latencyStats: objectField,
  storageStats: objectField,
  count: objectField,
  queryExecStats: objectField,
  operationStats: objectField,
} satisfies FieldTable;

function missing(ns: string): CommandError {
  return new CommandError(26, 'NamespaceNotFound', `Collection [${ns}] not found.`);
}

function latencyStats(): Document {
  const none = Document.of({ latency: 0n, ops: 0n, queryableEncryptionLatencyMicros: 0n });
  return Document.of({ reads: none, writes: none, commands: none, transactions: none });
}

function needTarget(input: SystemStageInput, name: string): { ns: Namespace; collection: Collection | undefined } {
  if (input.target !== undefined) return input.target;
  throw new CommandError(73, 'InvalidNamespace', `${name} is only valid on a collection.`);
}

const collStats: SystemStage = (input) => {
  const { ns, collection } = needTarget(input, '$collStats');
  const asked = parseFields('$collStats', input.specification, COLL_STATS_FIELDS);
  const { server } = input.context;
  const totals = collection?.totals(input.txn) ?? { rows: 0, bytes: 0 };
  const fields: [string, Value][] = [
    ['ns', ns.text],
    ['host', `${server.env.host.hostname}:${String(server.options.port)}`],
    ['localTime', new DateTime(server.env.clock.nowMs())],
  ];
  if (asked.latencyStats !== undefined) fields.push(['latencyStats', latencyStats()]);
  if (asked.storageStats !== undefined) {
    const { scale } = parseFields('$collStats.storageStats', asked.storageStats, SCALE_FIELDS);
    const figures = collectionFigures(ns.text, collection, totals, scale ?? 1);
    fields.push(['storageStats', Document.of({ ...figures, ns: undefined })]);
  }
  if (asked.count !== undefined) {
    if (collection === undefined) throw missing(ns.text);
    fields.push(['count', totals.rows]);
  }
  if (asked.queryExecStats !== undefined) {
    const scans = Document.of({ total: 0n, nonTailable: 0n });
    fields.push(['queryExecStats', Document.of({ collectionScans: scans })]);
  }
  return [Document.fromEntries(fields)];
};

const indexStats: SystemStage = (input) => {
  const { collection } = needTarget(input, '$indexStats');
  const { server } = input.context;
  const since = new DateTime(server.startedMs);
  return (collection?.indexes ?? []).map((index) =>
    Document.of({
      name: index.name,
      key: index.key,
      host: `${server.env.host.hostname}:${String(server.options.port)}`,
      accesses: Document.of({ ops: 0n, since }),
      spec: index.spec,
    }),
  );
};

const CURRENT_OP_FIELDS = {
  allUsers: boolField,
  idleConnections: boolField,
  idleCursors: boolField,
  idleSessions: boolField,
  localOps: boolField,
  truncateOps: boolField,
  backtrace: boolField,
  targetAllNodes: boolField,
} satisfies FieldTable;

const currentOp: SystemStage = (input) => {
  if (input.context.db !== 'admin') {
    throw new CommandError(73, 'InvalidNamespace', '$currentOp must be run against the admin database with {aggregate: 1}');
  }
  parseFields('$currentOp', input.specification, CURRENT_OP_FIELDS);
  return [...input.context.server.operations.values()].map(describeOperation);
};

const LIST_SESSIONS_FIELDS = { allUsers: boolField, users: anyField } satisfies FieldTable;

const listSessions: SystemStage = (input) => {
  parseFields('$listSessions', input.specification, LIST_SESSIONS_FIELDS);
  const { sessions, env } = input.context.server;
  const idleSince = env.clock.nowMs() - env.clock.monotonicMs();
  return sessions.all().map((session) => Document.of({ _id: session.id, lastUse: new DateTime(Math.floor(idleSince + session.lastUsedMs)) }));
};

const STAGES: ReadonlyMap<string, SystemStage> = new Map([
  ['$collStats', collStats],
  ['$indexStats', indexStats],
  ['$currentOp', currentOp],
  ['$listLocalSessions', listSessions],
  ['$listSessions', listSessions],
  ['$planCacheStats', () => []],
  [
    '$listSearchIndexes',
    () => {
      throw searchNotEnabled();
    },
  ],
]);

/** The documents that a pipeline's first stage makes, if it is one of these. */
export function systemStageDocuments(first: Value | undefined, input: Omit<SystemStageInput, 'specification'>): readonly Document[] | undefined {
  if (!(first instanceof Document) || first.fields.length !== 1) return undefined;
  const [name, specification] = first.first ?? ['', null];
  const stage = STAGES.get(name);
  if (stage === undefined) return undefined;
  if (input.context.generic.apiStrict && name !== '$collStats') {
    throw new CommandError(323, 'APIStrictError', `stage ${name} is not allowed with 'apiStrict: true' in API Version 1`);
  }
  if (input.context.transaction !== undefined) {
    const text = `Operation not permitted in transaction :: caused by :: Aggregation stage ${name} cannot run within a multi-document transaction.`;
    throw new CommandError(263, 'OperationNotSupportedInTransaction', text);
  }
  if (!(specification instanceof Document)) {
    throw new CommandError(9, 'FailedToParse', `${name} must take a nested object but found: a value of another type`);
  }
  return stage({ ...input, specification });
}
