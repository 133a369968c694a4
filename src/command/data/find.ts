// find: documents of one collection, or of a view, which becomes a pipeline.

import { CommandError } from '../../base/errors.ts';
import { BsonArray, Document, equalValues, isNumber, type Value } from '../../bson/index.ts';
import { namespaceOf, type Namespace } from '../../catalog/index.ts';
import type { Workspace } from '../../exec/index.ts';
import { inSlices } from '../../env/index.ts';
import { planQuery, type QueryRequest } from '../../plan/index.ts';
import { compileFilter, compileProjection, compileSort, ordersByDistance, textNodeOf, type QueryOptions } from '../../query/index.ts';
import { sourceOf, type BatchSource } from '../../session/index.ts';
import { defineCommand, type Command, type CommandContext, type Reply } from '../command.ts';
import { watched } from '../plan-watch.ts';
import { replyWithCursor, scopedSource } from '../cursor-reply.ts';
import { applySettings } from '../query-settings/apply.ts';
import { checkCollation, queryOptions, targetCollation } from '../query-options.ts';
import { resolveTarget, type ResolvedTarget } from '../query-target.ts';
import { findById } from './find-by-id.ts';
import { FIND_FIELDS, type FindFields } from './find-fields.ts';
import { canRelease } from './reading-state.ts';
import { beginRead, type ReadScope } from '../storage-scope.ts';
import { openPipeline } from './pipeline-run.ts';
import { workspaceOf } from './scratch-file.ts';
import { TailSource } from './tailable.ts';

/** Refuses what does not go together. */
function checkFind(fields: FindFields): void {
  if (fields.awaitData === true && fields.tailable !== true) {
    throw new CommandError(9, 'FailedToParse', "Cannot set 'awaitData' without also setting 'tailable'");
  }
  if (fields.tailable === true) {
    const natural = fields.sort?.get('$natural');
    if (fields.sort?.isEmpty === false && !(natural !== undefined && isNumber(natural) && equalValues(natural, 1))) {
      throw new CommandError(2, 'BadValue', 'cannot use tailable option with a sort other than {$natural: 1}');
    }
    if (fields.singleBatch === true) throw new CommandError(2, 'BadValue', "cannot use tailable option with the 'singleBatch' option");
  }
  checkCollation(fields.collation);
}

/** The sort of a find without `$natural`, which is a hint. */
function sortOf(fields: FindFields): { sort: Document | undefined; natural: Value | undefined } {
  const { sort } = fields;
  if (sort?.has('$natural') !== true) return { sort: sort?.isEmpty === true ? undefined : sort, natural: undefined };
  if (sort.fields.length > 1) throw new CommandError(2, 'BadValue', '$natural sort cannot be set to a value other than -1 or 1.');
  return { sort: undefined, natural: sort };
}

/** A find as the planner takes it. */
export function findRequest(fields: FindFields, options: QueryOptions, workspace?: Workspace): QueryRequest {
  const filter = compileFilter(fields.filter ?? Document.empty, options);
  const metadata = { text: textNodeOf(filter.shape) !== undefined, near: ordersByDistance(filter.shape) };
  const { sort, natural } = sortOf(fields);
  if (metadata.text && natural !== undefined) throw new CommandError(2, 'BadValue', 'text expression not allowed with $natural sort order');
  const { projection: given } = fields;
  const projection = given === undefined || given.isEmpty ? undefined : compileProjection(given, { ...options, metadata, filter });
  return {
    filter,
    collation: options.collation,
    given: { filter: fields.filter ?? Document.empty, sort, projection: given },
    sort: sort === undefined ? undefined : compileSort(sort, options.collation, metadata),
    projection,
    carriesKey: projection?.readsIndexKey,
    skip: fields.skip,
    limit: fields.limit === 0 ? undefined : fields.limit,
    hint: fields.hint ?? natural,
    min: fields.min,
    max: fields.max,
    returnKey: fields.returnKey,
    showRecordId: fields.showRecordId,
    workspace,
  };
}

/** The stages that do on a view what find does on a collection. */
export function findAsStages(fields: FindFields): Document[] {
  const stages: Document[] = [];
  const add = (name: string, value: Value): void => {
    stages.push(Document.fromEntries([[name, value]]));
  };
  if (fields.filter?.isEmpty === false) add('$match', fields.filter);
  if (fields.sort?.isEmpty === false) add('$sort', fields.sort);
  if (fields.skip !== undefined && fields.skip > 0) add('$skip', BigInt(fields.skip));
  if (fields.limit !== undefined && fields.limit > 0) add('$limit', BigInt(fields.limit));
  if (fields.projection?.isEmpty === false) add('$project', fields.projection);
  return stages;
}

async function openFind(
  context: CommandContext,
  fields: FindFields,
  { scope, target }: { scope: ReadScope; target: ResolvedTarget },
): Promise<BatchSource> {
  const options = queryOptions(context, fields.let, targetCollation(fields.collation, target));
  const { allowDiskUse } = fields;
  if (target.isView) return openPipeline(context, BsonArray.of(findAsStages(fields)), { scope, target, options, allowDiskUse });
  const workspace = workspaceOf(context.server, allowDiskUse !== false);
  const compiling = inSlices(context.operation, () => findRequest(fields, options, workspace));
  const request = compiling instanceof Promise ? await compiling : compiling;
  const plan = await planQuery({ txn: scope.txn, ns: target.ns, collection: target.collection, watch: watched(context, target.ns.text) }, request, context.operation);
  return canRelease(context) ? plan.open(() => context.server.catalog.begin('read')) : withoutRelease(plan.open());
}

function withoutRelease(source: BatchSource): BatchSource {
  return {
    next: (operation) => source.next(operation),
    close: () => {
      source.close();
    },
  };
}

const notTailable = ({ asked }: ResolvedTarget): CommandError =>
  new CommandError(168, 'InvalidPipelineOperator', `tailable cursors are not supported on views: ${asked.text}`);

/** The cursor on the end of a capped collection; undefined where there is nothing whose end could be waited at. */
function openTail(context: CommandContext, fields: FindFields, { scope, target }: { scope: ReadScope; target: ResolvedTarget }): TailSource | undefined {
  const { collection } = target;
  if (target.isView) throw notTailable(target);
  if (collection === undefined) return undefined;
  if (collection.options.timeSeries !== undefined) throw notTailable(target);
  if (collection.options.capped === undefined) {
    throw new CommandError(2, 'BadValue', `error processing query: ns=${target.asked.text}: tailable cursor requested on non capped collection`);
  }
  if (collection.totals(scope.txn).rows === 0) return undefined;
  const options = queryOptions(context, fields.let, targetCollation(fields.collation, target));
  const { filter, projection } = findRequest(fields, options);
  const limit = fields.limit === undefined || fields.limit === 0 ? Number.POSITIVE_INFINITY : fields.limit;
  return new TailSource(context, { collection, filter, projection, skip: fields.skip ?? 0, limit, waits: fields.awaitData === true });
}

async function runTailable(context: CommandContext, fields: FindFields, ns: Namespace): Promise<Reply> {
  const scope = beginRead(context);
  try {
    const target = await resolveTarget(context, scope.txn, ns);
    const tail = openTail(context, fields, { scope, target });
    return await replyWithCursor(context, tail ?? sourceOf([]), {
      namespace: ns.text,
      batchSize: fields.batchSize ?? fields.ntoreturn,
      noTimeout: fields.noCursorTimeout,
      // Nothing will come where there is nothing to wait at.
      singleBatch: tail === undefined,
      tail,
    });
  } finally {
    scope.end();
  }
}

async function runFind(context: CommandContext, fields: FindFields, ns: Namespace): Promise<Reply> {
  const scope = beginRead(context);
  let source: BatchSource;
  try {
    const target = await resolveTarget(context, scope.txn, ns);
    source = scopedSource(await openFind(context, fields, { scope, target }), scope);
  } catch (error) {
    scope.end();
    throw error;
  }
  return replyWithCursor(context, source, {
    namespace: ns.text,
    batchSize: fields.batchSize ?? fields.ntoreturn,
    limit: fields.limit === 0 ? undefined : fields.limit,
    singleBatch: fields.singleBatch,
    noTimeout: fields.noCursorTimeout,
    atClusterTime: scope.atClusterTime,
  });
}

export const find: Command = defineCommand({
  name: 'find',
  access: 'read',
  readConcern: 'all',
  inTransaction: 'yes',
  about: 'documents that match a filter',
  fields: FIND_FIELDS,
  run: (context, fields) => {
    context.server.counters.operations.query += 1;
    checkFind(fields);
    applySettings(context);
    if (fields.find.startsWith('$')) throw new CommandError(73, 'InvalidNamespace', `Invalid namespace specified '${context.db}.${fields.find}'`);
    const ns = namespaceOf(context.db, fields.find);
    if (fields.tailable === true) return runTailable(context, fields, ns);
    return findById(context, fields, ns) ?? runFind(context, fields, ns);
  },
});
