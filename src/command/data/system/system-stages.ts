// Stages that tell of the server itself, by name: what each must be given, and what it tells. They stand here and not among the stages of
// `exec` because what they tell is known to commands only.

import { CommandError } from '../../../base/errors.ts';
import { DateTime, Document, type Value } from '../../../bson/index.ts';
import { namespaceOf, type CatalogTransaction } from '../../../catalog/index.ts';
import type { SystemStageRequest } from '../../../exec/index.ts';
import { refuse } from '../../../query/index.ts';
import { describeOperation, visibleOperations } from '../../administration/operations.ts';
import { idleRows } from '../../administration/idle.ts';
import type { CommandContext } from '../../command.ts';
import { parseFields, strictBoolField, type FieldTable } from '../../fields.ts';
import { queryShapeOf, shapedCommand } from '../../query-settings/query-shape.ts';
import { searchNotEnabled } from '../../schema/search-indexes.ts';
import { listClusterCatalog } from './cluster-catalog.ts';
import { collStats } from './coll-stats.ts';
import { listLocalSessions, listSessions } from './sessions.ts';
import { hostText, refuseTarget, targetOf, type SystemStage } from './system-stage.ts';

const indexStats: SystemStage = (input) => {
  const { entry, ns } = targetOf(input, '$indexStats');
  if (!input.specification.isEmpty) throw refuse(28803, 'The $indexStats stage specification must be an empty object');
  const since = new DateTime(input.context.server.startedMs);
  const indexes = entry?.kind === 'collection' ? entry.indexes : [];
  return indexes.map((index) =>
    Document.of({
      name: index.name,
      key: index.key,
      host: hostText(input.context),
      accesses: Document.of({ ops: BigInt(input.context.server.monitor.usesOf(ns.text, index.name)), since }),
      spec: index.spec,
    }),
  );
};

const CURRENT_OP_OPTIONS: ReadonlySet<string> = new Set('allUsers idleConnections idleCursors idleSessions localOps truncateOps backtrace targetAllNodes'.split(' '));

const currentOp: SystemStage = async (input) => {
  for (const [name, value] of input.specification) {
    if (!CURRENT_OP_OPTIONS.has(name)) throw refuse(40415, `BSON field '$currentOp.${name}' is an unknown field.`);
    if (typeof value !== 'boolean') throw refuse(14, `The '${name}' parameter of the $currentOp stage must be a boolean value`);
  }
  if (input.database !== 'admin') throw refuse(73, '$currentOp must be run against the admin database with {aggregate: 1}');
  refuseTarget(input, '$currentOp');
  if (input.specification.get('targetAllNodes') === true) throw refuse(9, `The 'targetAllNodes' parameter of the $currentOp stage is only for sharded clusters`);
  const { context } = input;
  const asks = (name: string): boolean => input.specification.get(name) === true;
  const ownOnly = !asks('allUsers');
  const running = (await visibleOperations(context, ownOnly)).map((operation) => describeOperation(context.server, operation, asks('truncateOps')));
  const sessions = input.specification.get('idleSessions') !== false;
  return [...running, ...(await idleRows(context, { connections: asks('idleConnections'), sessions, cursors: asks('idleCursors'), ownOnly }))];
};

const planCacheStats: SystemStage = (input) => {
  for (const [name, value] of input.specification) {
    if (name !== 'allHosts') throw refuse(9, `$planCacheStats parameters object may contain only 'allHosts' field. Found: ${name}`);
    if (typeof value !== 'boolean') throw refuse(13111, `wrong type for field (allHosts), expected a bool`);
  }
  if (input.specification.fields.length > 1) throw refuse(9, `$planCacheStats parameters object may contain only 'allHosts' field.`);
  if (input.specification.get('allHosts') === true) throw refuse(4503200, '$planCacheStats stage supports allHosts parameter only for sharded clusters');
  const { ns, entry } = targetOf(input, '$planCacheStats');
  if (entry === undefined) throw refuse(50933, `$planCacheStats cannot be used on a collection that does not exist: ${ns.text}`);
  return entry.kind === 'view' ? [] : input.context.server.monitor.plans.list(ns.text).map((row) => Document.fromEntries([...row.fields, ['host', hostText(input.context)]]));
};

const QUERY_SETTINGS_FIELDS = { showDebugQueryShape: { ...strictBoolField, nullIsWrong: true } } satisfies FieldTable;

function debugShape(query: Document): Document | undefined {
  const [command, db] = [shapedCommand(query), query.get('$db')];
  return command === undefined || typeof db !== 'string' ? undefined : queryShapeOf(command, db, query).document;
}

const querySettings: SystemStage = (input) => {
  const { showDebugQueryShape } = parseFields('$querySettings', input.specification, QUERY_SETTINGS_FIELDS);
  refuseTarget(input, '$querySettings');
  return input.context.server.querySettings.list().map(({ hash, settings, query }) =>
    Document.of({
      queryShapeHash: hash,
      settings: settings.document,
      representativeQuery: query,
      debugQueryShape: showDebugQueryShape === true && query !== undefined ? debugShape(query) : undefined,
    }),
  );
};

/** A stage, and the code for an argument that is no document. */
interface SystemStageRow {
  readonly notDocument: number;
  readonly stage: SystemStage;
  /** Whether it reads under a read concern beyond `local`. */
  readonly onlyLocal?: boolean;
}

const STAGES: ReadonlyMap<string, SystemStageRow> = new Map<string, SystemStageRow>([
  ['$collStats', { notDocument: 5447000, stage: collStats }],
  ['$indexStats', { notDocument: 28803, stage: indexStats }],
  ['$currentOp', { notDocument: 14, stage: currentOp, onlyLocal: true }],
  ['$listLocalSessions', { notDocument: 14, stage: listLocalSessions, onlyLocal: true }],
  ['$listSessions', { notDocument: 14, stage: listSessions }],
  ['$listClusterCatalog', { notDocument: 9621302, stage: listClusterCatalog, onlyLocal: true }],
  ['$planCacheStats', { notDocument: 9, stage: planCacheStats, onlyLocal: true }],
  ['$querySettings', { notDocument: 7746800, stage: querySettings }],
  [
    '$listSearchIndexes',
    {
      notDocument: 9,
      stage: () => {
        throw searchNotEnabled();
      },
    },
  ],
]);

/** Whether a pipeline's first stage is one of these. */
export function isSystemStage(first: Value | undefined): boolean {
  return first instanceof Document && STAGES.has(first.first?.[0] ?? '');
}

function checkSurroundings(context: CommandContext, name: string, row: SystemStageRow): void {
  if (context.generic.apiStrict && name !== '$collStats') {
    throw new CommandError(323, 'APIStrictError', `stage ${name} is not allowed with 'apiStrict: true' in API Version 1`);
  }
  if (context.transaction !== undefined) {
    const text = `Operation not permitted in transaction :: caused by :: Aggregation stage ${name} cannot run within a multi-document transaction.`;
    throw new CommandError(263, 'OperationNotSupportedInTransaction', text);
  }
  const level = context.generic.readConcern?.level;
  if (row.onlyLocal !== true || level === undefined || level === 'local') return;
  throw new CommandError(72, 'InvalidOptions', `Aggregation stage ${name} requires read concern local but found ${level}`);
}

/** The documents that a pipeline's first stage makes. */
export async function systemStageDocuments(request: SystemStageRequest, context: CommandContext, txn: CatalogTransaction): Promise<readonly Document[]> {
  const { name, specification, database, collection, isNested } = request;
  const row = STAGES.get(name);
  if (row === undefined) throw refuse(40324, `Unrecognized pipeline stage name: '${name}'`);
  checkSurroundings(context, name, row);
  if (!(specification instanceof Document)) throw refuse(row.notDocument, `${name} must take a nested object but found: a value of another type`);
  const ns = collection === undefined ? undefined : namespaceOf(database, collection);
  const target = ns === undefined ? undefined : { ns, entry: await context.server.catalog.lookup(txn, ns) };
  return row.stage({ context, txn, database, target, isNested, specification });
}
