// explain for pipelines: the plan of what the collection gives, and the stages behind it, in MongoDB's shape. A pipeline that a plan does
// all of is shown as that plan alone.

import { BsonArray, Document, type Value } from '../../bson/index.ts';
import type { ExplainVerbosity } from '../../plan/index.ts';
import type { CommandContext, Reply } from '../command.ts';
import { queryOptions, targetCollation } from '../query-options.ts';
import { resolveTarget } from '../query-target.ts';
import { reading } from '../storage-scope.ts';
import { serverInfo } from './explain-reply.ts';
import { aggregateNamespace, type AggregateFields } from './aggregate-fields.ts';
import { planPipeline, type PlannedPipeline } from './pipeline-run.ts';

async function explainPlanned(context: CommandContext, planned: PlannedPipeline, verbosity: ExplainVerbosity): Promise<[string, Value][]> {
  const { pipeline, plan, from } = planned;
  const planFields = plan === undefined ? [] : [...(await plan.explain(context.operation, verbosity))];
  const rest = pipeline.stages.slice(from);
  if (plan !== undefined && rest.length === 0) return planFields.map(([name, value]) => [name, value]);
  const stages = rest.map((stage) => Document.fromEntries([[stage.name, stage.specification]]));
  const shown = planFields.filter(([name]) => name !== 'explainVersion');
  if (plan !== undefined) stages.unshift(Document.fromEntries([['$cursor', Document.fromEntries(shown)]]));
  return [
    ['explainVersion', '1'],
    ['stages', BsonArray.of(stages)],
  ];
}

/** The reply of explain for an aggregate. */
export function explainAggregate(context: CommandContext, fields: AggregateFields, verbosity: ExplainVerbosity): Promise<Reply | Document> {
  const { ns } = aggregateNamespace(context.db, fields);
  return reading(context, async (txn) => {
    const target = await resolveTarget(context, txn, ns);
    const options = queryOptions(context, fields.let, targetCollation(fields.collation, target));
    const scope = { txn, end: () => undefined };
    const planned = await planPipeline(context, fields.pipeline, { scope, target, options, hint: fields.hint });
    const explained = await explainPlanned(context, planned, verbosity);
    return Document.fromEntries([...explained, ...serverInfo(context)]);
  });
}
