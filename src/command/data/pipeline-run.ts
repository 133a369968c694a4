// Runs a pipeline over a collection: what a plan can do in place of the first stages it does, the rest are stages over its documents.
// Other collections that stages ask for are read in the same transaction, so a pipeline sees one state of all of them.

import { CommandError } from '../../base/errors.ts';
import { BsonArray, Document, type Value } from '../../bson/index.ts';
import { namespaceOf, type CatalogTransaction, type Namespace } from '../../catalog/index.ts';
import { inSlices } from '../../env/index.ts';
import { compilePipeline, type CollectionRequest, type OutputRequest, type OutputSink, type Pipeline, type SourceProvider, type SystemStageRequest, type Workspace } from '../../exec/index.ts';
import { planQuery, type Plan, type QueryRequest } from '../../plan/index.ts';
import { compileFilter, compileSort, ordersByDistance, textNodeOf, type QueryOptions } from '../../query/index.ts';
import { sourceOf, type BatchSource } from '../../session/index.ts';
import { sameCollation } from '../../collation/index.ts';
import type { CommandContext } from '../command.ts';
import { watched } from '../plan-watch.ts';
import { viewCollation } from '../query-options.ts';
import { resolveTarget, type ResolvedTarget } from '../query-target.ts';
import type { ReadScope } from '../storage-scope.ts';
import { openOutput } from './pipeline-output.ts';
import { canRelease, ReadingState } from './reading-state.ts';
import { workspaceOf } from './scratch-file.ts';
import { isSystemStage, systemStageDocuments } from './system/system-stages.ts';

/** What a pipeline runs on. */
export interface PipelineSurroundings {
  readonly scope: ReadScope;
  readonly target: ResolvedTarget;
  readonly options: QueryOptions;
  readonly hint?: Value | undefined;
  /** Begins another state to go on in; absent: the command's own, where it may. */
  readonly renew?: (() => CatalogTransaction) | undefined;
  /** For `$out` and `$merge`: leaves validators out. */
  readonly bypassValidation?: boolean | undefined;
  /** Whether what does not fit in memory may go to disk; it may where nothing is said. */
  readonly allowDiskUse?: boolean | undefined;
}

/** Gives stages the other collections of one transaction. */
class TransactionProvider implements SourceProvider {
  readonly #context: CommandContext;
  readonly #state: ReadingState;
  readonly #options: QueryOptions;
  readonly #bypassValidation: boolean;
  readonly #allowDiskUse: boolean;

  constructor(context: CommandContext, state: ReadingState, surroundings: { options: QueryOptions; bypassValidation?: boolean | undefined; allowDiskUse?: boolean | undefined }) {
    this.#context = context;
    this.#state = state;
    this.#options = surroundings.options;
    this.#bypassValidation = surroundings.bypassValidation ?? false;
    this.#allowDiskUse = surroundings.allowDiskUse ?? true;
  }

  get workspace(): Workspace {
    return workspaceOf(this.#context.server, this.#allowDiskUse);
  }

  openOutput(request: OutputRequest): Promise<OutputSink> {
    return openOutput(request, { context: this.#context, options: this.#options, bypassValidation: this.#bypassValidation });
  }

  systemStage(request: SystemStageRequest): Promise<readonly Document[]> {
    return systemStageDocuments(request, this.#context, this.#state.txn);
  }

  async collection(request: CollectionRequest): Promise<BatchSource> {
    const ns = namespaceOf(request.database, request.collection);
    const { txn } = this.#state;
    const target = await resolveTarget(this.#context, txn, ns);
    const options = { ...this.#options, ...(request.variables === undefined ? {} : { variables: request.variables }) };
    if (target.isView && !sameCollation(options.collation, target.collation)) throw viewCollation();
    if (target.isView) return this.#view(request, target, options);
    const compiling = inSlices(this.#context.operation, () => requestOf(request, options));
    const query = { ...(compiling instanceof Promise ? await compiling : compiling), workspace: this.workspace };
    const plan = await planQuery({ txn, ns: target.ns, collection: target.collection, watch: watched(this.#context, target.ns.text) }, query, this.#context.operation);
    return this.#state.open(plan);
  }

  async geoPaths(database: string, name: string): Promise<{ readonly flat: readonly string[]; readonly sphere: readonly string[] } | undefined> {
    const { collection } = await resolveTarget(this.#context, this.#state.txn, namespaceOf(database, name));
    if (collection === undefined) return undefined;
    const paths = (kind: string): string[] =>
      collection.indexes.filter((index) => index.kind === kind).flatMap(({ key }) => key.fields.filter(([, value]) => value === kind).map(([path]) => path));
    return { flat: paths('2d'), sphere: paths('2dsphere') };
  }

  async #view(request: CollectionRequest, target: ResolvedTarget, options: QueryOptions): Promise<BatchSource> {
    const stages: Document[] = [];
    if (request.filter !== undefined) stages.push(Document.fromEntries([['$match', request.filter]]));
    if (request.sort !== undefined) stages.push(Document.fromEntries([['$sort', request.sort]]));
    if (request.skip !== undefined) stages.push(Document.fromEntries([['$skip', BigInt(request.skip)]]));
    if (request.limit !== undefined) stages.push(Document.fromEntries([['$limit', BigInt(request.limit)]]));
    const scope: ReadScope = { txn: this.#state.txn, end: () => undefined };
    return this.#state.track(await openPipeline(this.#context, BsonArray.of(stages), { scope, target, options, renew: this.#state.shared }));
  }
}

interface QueryParts {
  readonly filter?: Document | undefined;
  readonly sort?: Document | undefined;
  readonly skip?: number | undefined;
  readonly limit?: number | undefined;
  readonly fields?: readonly string[] | undefined;
  readonly hint?: Value | undefined;
}

function requestOf(parts: QueryParts, options: QueryOptions): QueryRequest {
  const filter = compileFilter(parts.filter ?? Document.empty, options);
  return {
    filter,
    collation: options.collation,
    given: { filter: parts.filter ?? Document.empty, sort: parts.sort },
    sort: parts.sort === undefined ? undefined : compileSort(parts.sort, options.collation, { text: textNodeOf(filter.shape) !== undefined, near: ordersByDistance(filter.shape) }),
    skip: parts.skip,
    limit: parts.limit,
    hint: parts.hint,
    fieldsNeeded: parts.fields,
  };
}

/** A pipeline with the plan under it. */
export interface PlannedPipeline {
  readonly state: ReadingState;
  readonly pipeline: Pipeline;
  /** Undefined where the first stage makes documents itself. */
  readonly plan: Plan | undefined;
  /** Stages that the plan stands for. */
  readonly from: number;
  readonly provider: SourceProvider;
}

/** The state of a pipeline: a command's own may be given up for a newer one where nothing was promised of it. */
function stateOf(context: CommandContext, scope: ReadScope, renew: (() => CatalogTransaction) | undefined): ReadingState {
  const own = canRelease(context) ? (): CatalogTransaction => context.server.catalog.begin('read') : undefined;
  return new ReadingState(context, scope.txn, renew ?? own);
}

/** A pipeline that writes has no place in a transaction, nor has `$unionWith`; nor one that writes under a read concern that promises the newest. */
function checkOutput(context: CommandContext, pipeline: Pipeline): void {
  const { output } = pipeline;
  const hasUnion = context.generic.inTransaction && pipeline.stages.some((stage) => stage.name === '$unionWith');
  if (output === undefined && !hasUnion) return;
  const name = hasUnion ? '$unionWith' : (pipeline.stages.at(-1)?.name ?? '');
  if (context.transaction !== undefined) {
    const text = `Operation not permitted in transaction :: caused by :: Aggregation stage ${name} cannot run within a multi-document transaction.`;
    throw new CommandError(263, 'OperationNotSupportedInTransaction', text);
  }
  const level = context.generic.readConcern?.level;
  if (level !== 'linearizable' && level !== 'snapshot') return;
  const text = `Aggregation stage ${name} cannot run with a readConcern other than 'majority', 'local', or 'available'. Current readConcern: { level: "${level}" }`;
  throw new CommandError(72, 'InvalidOptions', text);
}

/** Compiles a pipeline and plans what it begins with. */
export async function planPipeline(context: CommandContext, stages: BsonArray, surroundings: PipelineSurroundings): Promise<PlannedPipeline> {
  const { scope, target, options, hint } = surroundings;
  const isSystem = isSystemStage(stages.at(0));
  const all = target.viewStages.length === 0 || isSystem ? stages : BsonArray.of([...target.viewStages, ...stages.items()]);
  const { db, collection: name } = isSystem ? target.asked : target.ns;
  const pipeline = await inSlices(context.operation, () => compilePipeline(all, { ...options, database: db, collection: target.makesDocuments === true ? '' : name }));
  checkOutput(context, pipeline);
  const state = stateOf(context, scope, surroundings.renew);
  const provider = new TransactionProvider(context, state, surroundings);
  if (pipeline.makesDocuments) return { pipeline, plan: undefined, from: 0, provider, state };
  const { head } = pipeline;
  const { workspace } = provider;
  const compiled = await inSlices(context.operation, () => requestOf({ ...head, hint, fields: pipeline.fieldsNeeded(head.stages) }, options));
  const request = { ...compiled, carriesKey: pipeline.readsIndexKey(head.stages), workspace };
  const plan = await planQuery({ txn: scope.txn, ns: target.ns, collection: target.collection, watch: watched(context, target.ns.text) }, request, context.operation);
  return { pipeline, plan, from: head.stages, provider, state };
}

/** Opens a pipeline over a collection or view. */
export async function openPipeline(context: CommandContext, stages: BsonArray, surroundings: PipelineSurroundings): Promise<BatchSource> {
  const { pipeline, plan, from, provider, state } = await planPipeline(context, stages, surroundings);
  return state.result(pipeline.open(plan === undefined ? sourceOf([]) : state.open(plan), provider, from));
}

/** Opens a pipeline over no collection (`aggregate: 1`): its first stage makes the documents. */
export async function openFreePipeline(
  context: CommandContext,
  stages: BsonArray,
  { scope, ns, options }: { scope: ReadScope; ns: Namespace; options: QueryOptions },
): Promise<BatchSource> {
  const pipeline = await inSlices(context.operation, () => compilePipeline(stages, { ...options, database: ns.db }));
  if (!pipeline.makesDocuments) {
    const text = "{aggregate: 1} is not valid for an empty pipeline or one whose first stage reads a collection.";
    throw new CommandError(73, 'InvalidNamespace', text);
  }
  const state = stateOf(context, scope, undefined);
  return state.result(pipeline.open(sourceOf([]), new TransactionProvider(context, state, { options })));
}
