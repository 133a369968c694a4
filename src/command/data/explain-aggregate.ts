// explain for pipelines: the plan of what the collection gives, and the stages behind it, in MongoDB's shape. A pipeline that a plan does
// all of is shown as that plan alone.

import { BsonArray, Document, type Value } from '../../bson/index.ts';
import type { ExplainVerbosity } from '../../plan/index.ts';
import { sourceOf, type BatchSource } from '../../session/index.ts';
import type { CommandContext } from '../command.ts';
import { queryOptions, targetCollation } from '../query-options.ts';
import { resolveTarget } from '../query-target.ts';
import { batchSizeOf } from '../schema/indexes.ts';
import { reading } from '../storage-scope.ts';
import { serverInfo } from './explain-reply.ts';
import { aggregateNamespace, type AggregateFields } from './aggregate-fields.ts';
import { planPipeline, type PlannedPipeline } from './pipeline-run.ts';

async function explainPlanned(context: CommandContext, planned: PlannedPipeline, verbosity: ExplainVerbosity): Promise<[string, Value][]> {
  const { pipeline, plan, from } = planned;
  const planFields = plan === undefined ? [] : [...(await plan.explain(context.operation, verbosity))];
  const rest = pipeline.stages.slice(from);
  if (plan !== undefined && rest.length === 0) return planFields.map(([name, value]) => [name, value]);
  const counts = verbosity === 'queryPlanner' || pipeline.output !== undefined ? undefined : await countsOf(context, planned);
  const stages = rest.map((stage, i) => Document.fromEntries([[stage.name, stage.specification], ...statistics(counts?.[i + 1])]));
  const shown = planFields.filter(([name]) => name !== 'explainVersion');
  if (plan !== undefined) stages.unshift(Document.fromEntries([['$cursor', Document.fromEntries(shown)], ...statistics(counts?.[0])]));
  return [
    ['explainVersion', '1'],
    ['stages', BsonArray.of(stages)],
  ];
}

/** What a stage gave, and how long it took with those before it. */
interface StageCount {
  readonly returned: number;
  readonly ms: number;
}

function statistics(count: StageCount | undefined): [string, Value][] {
  return count === undefined ? [] : [['nReturned', BigInt(count.returned)], ['executionTimeMillisEstimate', BigInt(Math.round(count.ms))]];
}

/** Runs a pipeline to its end; what its source gave, and each of its stages. */
async function countsOf(context: CommandContext, { pipeline, plan, from, provider }: PlannedPipeline): Promise<StageCount[]> {
  const { clock } = context.server.env;
  const counts: { returned: number; ms: number }[] = [];
  const counted = (source: BatchSource): BatchSource => {
    const count = { returned: 0, ms: 0 };
    counts.push(count);
    return {
      next: async (operation) => {
        const began = clock.monotonicMs();
        const batch = await source.next(operation);
        count.ms += clock.monotonicMs() - began;
        count.returned += batch?.length ?? 0;
        return batch;
      },
      close: () => {
        source.close();
      },
    };
  };
  const below = counted(plan?.open() ?? sourceOf([]));
  const top = pipeline.stages.slice(from).reduce((source, stage) => counted(stage.open(source, provider)), below);
  try {
    while ((await top.next(context.operation)) !== undefined) await context.operation.turn();
  } finally {
    top.close();
  }
  return counts;
}

/** The reply of explain for an aggregate. */
export function explainAggregate(context: CommandContext, fields: AggregateFields, verbosity: ExplainVerbosity): Promise<Document> {
  const { ns } = aggregateNamespace(context.db, fields);
  if (fields.cursor !== undefined) batchSizeOf('aggregate', fields.cursor);
  return reading(context, async (txn) => {
    const target = await resolveTarget(context, txn, ns);
    const options = queryOptions(context, fields.let, targetCollation(fields.collation, target));
    const scope = { txn, end: () => undefined };
    const planned = await planPipeline(context, fields.pipeline, { scope, target, options, hint: fields.hint });
    const explained = await explainPlanned(context, planned, verbosity);
    return Document.fromEntries([...explained, ...serverInfo(context)]);
  });
}
