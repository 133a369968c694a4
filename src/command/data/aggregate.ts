// aggregate: a pipeline over a collection, a view, or documents it makes itself.

import { CommandError } from '../../base/errors.ts';
import { Document, type BsonArray } from '../../bson/index.ts';
import type { Namespace } from '../../catalog/index.ts';
import type { BatchSource } from '../../session/index.ts';
import { isStream, openStream } from '../change-stream/open-stream.ts';
import { defineCommand, type Command, type CommandContext, type Reply } from '../command.ts';
import { replyWithCursor, scopedSource } from '../cursor-reply.ts';
import { applySettings, explainSettings } from '../query-settings/apply.ts';
import { checkCollation, collationFor, queryOptions, targetCollation } from '../query-options.ts';
import { resolveTarget } from '../query-target.ts';
import { batchSizeOf } from '../schema/indexes.ts';
import { beginRead, type ReadScope } from '../storage-scope.ts';
import { AGGREGATE_FIELDS, aggregateNamespace, type AggregateFields } from './aggregate-fields.ts';
import { explainAggregate } from './explain-aggregate.ts';
import { withShapeHash } from './explain-reply.ts';
import { openFreePipeline, openPipeline } from './pipeline-run.ts';

async function openAggregate(
  context: CommandContext,
  fields: AggregateFields,
  { scope, ns, free }: { scope: ReadScope; ns: Namespace; free: boolean },
): Promise<BatchSource> {
  if (free) {
    const options = queryOptions(context, fields.let, collationFor(fields.collation, undefined));
    return openFreePipeline(context, fields.pipeline, { scope, ns, options });
  }
  const target = await resolveTarget(context, scope.txn, ns);
  const options = queryOptions(context, fields.let, targetCollation(fields.collation, target));
  const { hint, allowDiskUse, bypassDocumentValidation: bypassValidation } = fields;
  return openPipeline(context, fields.pipeline, { scope, target, options, hint, bypassValidation, allowDiskUse });
}

function writes(pipeline: BsonArray): boolean {
  const last = pipeline.at(pipeline.length - 1);
  return last instanceof Document && (last.has('$out') || last.has('$merge'));
}

async function runAggregate(context: CommandContext, fields: AggregateFields, cursor: Document): Promise<Reply> {
  const { ns, free } = aggregateNamespace(context.db, fields);
  // A pipeline that writes does so now, whatever the size of the first batch.
  const batchSize = writes(fields.pipeline) ? undefined : batchSizeOf('aggregate', cursor);
  if (isStream(fields.pipeline)) return openStream(context, { ns, free, pipeline: fields.pipeline, letFields: fields.let, batchSize });
  const scope = beginRead(context);
  let source: BatchSource;
  try {
    source = scopedSource(await openAggregate(context, fields, { scope, ns, free }), scope);
  } catch (error) {
    scope.end();
    throw error;
  }
  return replyWithCursor(context, source, { namespace: ns.text, batchSize, atClusterTime: scope.atClusterTime });
}

async function explained(context: CommandContext, fields: AggregateFields): Promise<Document> {
  const hash = explainSettings(context, context.request.body);
  return withShapeHash(await explainAggregate(context, fields, 'queryPlanner'), hash);
}

export const aggregate: Command = defineCommand({
  name: 'aggregate',
  access: 'read',
  readConcern: 'all',
  writeConcern: true,
  inTransaction: 'yes',
  about: 'documents made by a pipeline of stages',
  fields: AGGREGATE_FIELDS,
  run: (context, fields) => {
    context.server.counters.operations.command += 1;
    checkCollation(fields.collation);
    if (fields.explain === true && context.generic.writeConcern !== undefined) {
      throw new CommandError(9, 'FailedToParse', "Aggregation explain does not support the 'writeConcern' option");
    }
    if (fields.explain === true) return explained(context, fields);
    if (fields.cursor === undefined) {
      throw new CommandError(9, 'FailedToParse', "The 'cursor' option is required, except for aggregate with the explain argument");
    }
    applySettings(context);
    return runAggregate(context, fields, fields.cursor);
  },
});

