// explain: how a command would be answered, and, from executionStats on, what answering it took. Writes are explained, not done.

import { CommandError } from '../../base/errors.ts';
import { BsonArray, Document, type Value } from '../../bson/index.ts';
import { namespaceOf } from '../../catalog/index.ts';
import { distinctQuery, planQuery, type ExplainVerbosity, type QueryRequest } from '../../plan/index.ts';
import { compileFilter } from '../../query/index.ts';
import { defineCommand, type Command, type CommandContext } from '../command.ts';
import { hasRule } from '../users/command-rules.ts';
import { watched } from '../plan-watch.ts';
import { objectField, parseFields, required, typeText, wordField } from '../fields.ts';
import { explainSettings } from '../query-settings/apply.ts';
import { queryOptions, targetCollation } from '../query-options.ts';
import { resolveTarget, type ResolvedTarget } from '../query-target.ts';
import { reading } from '../storage-scope.ts';
import { AGGREGATE_FIELDS } from './aggregate-fields.ts';
import { COUNT_FIELDS, countRequest, DISTINCT_FIELDS } from './count.ts';
import { explainAggregate } from './explain-aggregate.ts';
import { serverInfo, withShapeHash } from './explain-reply.ts';
import { explainDelete, explainFindAndModify, explainUpdate } from './explain-write.ts';
import { FIND_FIELDS } from './find-fields.ts';
import { findAsStages, findRequest } from './find.ts';

/** How a command is explained. */
type Explainer = (context: CommandContext, body: Document, verbosity: ExplainVerbosity) => Promise<Document>;

async function explainQuery(
  context: CommandContext,
  { name, request }: { name: Value | undefined; request: (target: ResolvedTarget) => QueryRequest },
  verbosity: ExplainVerbosity,
): Promise<Document> {
  const ns = namespaceOf(context.db, typeof name === 'string' ? name : '');
  return reading(context, async (txn) => {
    const target = await resolveTarget(context, txn, ns);
    const plan = await planQuery({ txn, ns: target.ns, collection: target.collection, watch: watched(context, target.ns.text) }, request(target), context.operation);
    const explained = await plan.explain(context.operation, verbosity);
    return Document.fromEntries([...explained, ...serverInfo(context)]);
  });
}

async function isView(context: CommandContext, name: string): Promise<boolean> {
  return reading(context, async (txn) => (await resolveTarget(context, txn, namespaceOf(context.db, name))).isView);
}

const explainFind: Explainer = async (context, body, verbosity) => {
  const fields = parseFields('find', body, FIND_FIELDS, 'generic');
  if (await isView(context, fields.find)) {
    const asPipeline = Document.of({ aggregate: fields.find, pipeline: BsonArray.of(findAsStages(fields)) });
    return explainAggregate(context, parseFields('aggregate', asPipeline, AGGREGATE_FIELDS), verbosity);
  }
  const request = (target: ResolvedTarget): QueryRequest => findRequest(fields, queryOptions(context, fields.let, targetCollation(fields.collation, target)));
  return explainQuery(context, { name: fields.find, request }, verbosity);
};

const explainCount: Explainer = (context, body, verbosity) => {
  const fields = parseFields('count', body, COUNT_FIELDS, 'generic');
  return explainQuery(context, { name: fields.count, request: (target) => countRequest(context, fields, target) }, verbosity);
};

const explainDistinct: Explainer = (context, body, verbosity) => {
  const fields = parseFields('distinct', body, DISTINCT_FIELDS, 'generic');
  const given = { filter: fields.query ?? Document.empty };
  const request = (target: ResolvedTarget): QueryRequest => {
    const collation = targetCollation(fields.collation, target);
    const filter = compileFilter(given.filter, queryOptions(context, undefined, collation));
    return { ...distinctQuery({ field: fields.key, filter, collation, hint: fields.hint }), given };
  };
  return explainQuery(context, { name: fields.distinct, request }, verbosity);
};

const EXPLAINERS: ReadonlyMap<string, Explainer> = new Map<string, Explainer>([
  ['find', explainFind],
  [
    'aggregate',
    (context, body, verbosity) => explainAggregate(context, parseFields('aggregate', body, AGGREGATE_FIELDS, 'generic'), verbosity),
  ],
  ['count', explainCount],
  ['distinct', explainDistinct],
  ['update', explainUpdate],
  ['delete', explainDelete],
  ['findAndModify', explainFindAndModify],
  ['findandmodify', explainFindAndModify],
]);

export const explain: Command = defineCommand({
  name: 'explain',
  access: 'read',
  about: 'how a command would be answered',
  fields: { explain: required(objectField), verbosity: wordField(['queryPlanner', 'executionStats', 'allPlansExecution']) },
  run: async (context, { explain: body, verbosity }) => {
    const name = body.first?.[0] ?? '';
    const explainer = EXPLAINERS.get(name);
    if (explainer === undefined && hasRule(name)) throw new CommandError(20, 'IllegalOperation', `Cannot explain cmd: ${name}`);
    if (explainer === undefined) throw new CommandError(59, 'CommandNotFound', `Explain failed due to unknown command: ${name}`);
    const db = body.get('$db');
    if (db !== undefined && db !== context.db) {
      throw new CommandError(73, 'InvalidNamespace', `Mismatched $db in explain command. Expected ${context.db} but got ${typeof db === 'string' ? db : typeText(db)}`);
    }
    const hash = explainSettings(context, body);
    return withShapeHash(await explainer(context, body, verbosity ?? 'allPlansExecution'), hash);
  },
});
