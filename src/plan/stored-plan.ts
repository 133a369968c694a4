// A chosen plan: its stages, what is made of their rows, and the three ways to run it.

import { BsonArray, Document } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';
import type { OperationContext } from '../session/index.ts';
import { describeFilter } from './describe-filter.ts';
import { indexesOf, describeRun, describeStage, summarize, totalsOf } from './describe-plan.ts';
import { EntryCounter } from './estimate.ts';
import { IndexScan } from './index-scan.ts';
import { must } from '../base/assert.ts';
import { OutputSource } from './output.ts';
import type { Output } from './output.ts';
import { Execution } from './row.ts';
import type { Interruptible, PlanStage, Renewal } from './row.ts';
import { TotalRows } from './total-rows.ts';
import type { ExplainVerbosity, KeyedDocument, KeyedSource, OuterStage, Plan, PlannedQuery, PlanRun, QueryRequest, QueryTarget, ReleasableSource } from './types.ts';
import { planKeyHash, queryShape, shapeHash } from './shape-hash.ts';

/** So many documents each plan gives when several are tried. */
const trialDocuments = 101;

/** What a plan is made of. */
export interface PlanParts {
  readonly target: QueryTarget;
  readonly request: QueryRequest;
  readonly stage: PlanStage;
  readonly output: Output;
  readonly rejected: readonly PlanStage[];
}

/** A class, for each literal with a getter in it would have a shape of its own, which keeps all it reaches until the next full collection. */
class StageRun implements PlanRun {
  readonly indexes: readonly string[];
  readonly #parts: PlanParts;
  readonly #execution: Execution;

  constructor(parts: PlanParts, execution: Execution) {
    this.indexes = indexesOf(parts.stage);
    this.#parts = parts;
    this.#execution = execution;
  }

  get summary(): string {
    return summarize(this.#parts.stage);
  }

  examined(): { readonly keys: number; readonly documents: number } {
    return totalsOf(this.#parts.stage, this.#execution);
  }

  get namespace(): string {
    return this.#parts.target.ns.text;
  }

  get hadChoice(): boolean {
    return this.#parts.rejected.length > 0;
  }

  shape(): string {
    return queryShape(this.#parts.request);
  }

  executed(): { readonly stages: Document; readonly sorts: boolean; readonly shapeHash: string; readonly keyHash: string } {
    const { target, request, stage } = this.#parts;
    const stages = describeRun(stage, this.#execution, this.#execution.countersOf(stage).advanced);
    return { stages, sorts: hasSort(stage), shapeHash: shapeHash(request), keyHash: planKeyOf(target, request) };
  }

  account(): PlannedQuery {
    const { target, request, stage } = this.#parts;
    const { given, collation } = request;
    return {
      shapeHash: shapeHash(request),
      keyHash: planKeyOf(target, request),
      from: { query: given?.filter, sort: given?.sort, projection: given?.projection, collation: collation?.spec },
      plan: describeStage(stage, []),
      filtered: hasIndexFilter(target, request),
    };
  }
}

const hasSort = (stage: PlanStage): boolean => stage.name === 'SORT' || stage.inputs.some(hasSort);

/** Plans of one key may use the same indexes. */
function planKeyOf({ collection }: QueryTarget, request: QueryRequest): string {
  return planKeyHash(request, collection?.indexes.map((index) => index.name) ?? []);
}

function hasIndexFilter({ watch }: QueryTarget, request: QueryRequest): boolean {
  return watch?.indexFilters?.(queryShape(request)) !== undefined;
}

/** The one implementation of Plan. */
export class StoredPlan implements Plan {
  readonly #parts: PlanParts;

  constructor(parts: PlanParts) {
    this.#parts = parts;
  }

  get summary(): string {
    return summarize(this.#parts.stage);
  }

  open(renewal?: Renewal): ReleasableSource {
    return this.#openIn(this.#begin(renewal));
  }

  /** A run that whoever watches is told of. */
  #begin(renewal?: Renewal): Execution {
    const { target } = this.#parts;
    const execution = new Execution(target.txn, renewal);
    target.watch?.ran(new StageRun(this.#parts, execution));
    return execution;
  }

  #openIn(execution: Execution): ReleasableSource {
    const { stage, output } = this.#parts;
    return new OutputSource(stage.open(execution), output, execution, execution.countersOf(stage));
  }

  openKeyed(): KeyedSource {
    const rows = this.#parts.stage.open(this.#begin());
    return {
      next: async (context: Interruptible): Promise<readonly KeyedDocument[] | undefined> => {
        const batch = await rows.next(context);
        return batch?.map((row) => ({ key: row.key, document: must(row.document, 'a keyed plan fetches') }));
      },
      close: () => {
        rows.close();
      },
    };
  }

  async count(context: Interruptible): Promise<number> {
    return this.#countIn(this.#begin(), context);
  }

  async #countIn(execution: Execution, context: Interruptible): Promise<number> {
    const { stage } = this.#parts;
    if (stage instanceof TotalRows) return stage.count(execution);
    if (stage instanceof IndexScan && stage.isPlain) return this.#countEntries(stage, execution, context);
    const rows = stage.open(execution);
    let count = 0;
    try {
      for (;;) {
        const batch = await rows.next(context);
        if (batch === undefined) return count;
        count += batch.length;
      }
    } finally {
      rows.close();
    }
  }

  /** A range of an index that says all: its entries are counted without being looked at. */
  async #countEntries(stage: IndexScan, execution: Execution, context: Interruptible): Promise<number> {
    const counter = new EntryCounter(stage.parts.bounds);
    for (let cap = 4096; !counter.isComplete; cap += 4096) {
      await context.turn();
      await counter.countTo(execution.txn, cap);
    }
    const counters = execution.countersOf(stage);
    counters.keysExamined = counter.count;
    counters.advanced = counter.count;
    counters.works = counter.count;
    return counter.count;
  }

  async explain(context: OperationContext, verbosity: ExplainVerbosity, outer?: OuterStage): Promise<readonly (readonly [string, Value])[]> {
    const around = this.#outerStages(outer);
    const { target, request, rejected } = this.#parts;
    const winningPlan = describeStage(this.#shown(around), around);
    const queryPlanner = Document.of({
      namespace: target.ns.text,
      parsedQuery: describeFilter(request.filter.shape),
      indexFilterSet: hasIndexFilter(target, request),
      querySettings: target.watch?.settings,
      queryHash: shapeHash(request),
      planCacheShapeHash: shapeHash(request),
      planCacheKey: planKeyOf(target, request),
      optimizationTimeMillis: 0,
      maxIndexedOrSolutionsReached: false,
      maxIndexedAndSolutionsReached: false,
      maxScansToExplodeReached: false,
      winningPlan,
      rejectedPlans: BsonArray.of(rejected.map((each) => describeStage(each, around))),
    });
    const fields: [string, Value][] = [['explainVersion', '1'], ['queryPlanner', queryPlanner]];
    if (verbosity !== 'queryPlanner') fields.push(['executionStats', await this.#run(context, verbosity, around)]);
    return fields;
  }

  /** The tree that is shown: that a write stops at its first document is no stage of its own. */
  #shown(around: readonly OuterStage[]): PlanStage {
    const { stage } = this.#parts;
    const [below] = stage.inputs;
    return around[0]?.counts !== undefined && stage.name === 'LIMIT' && below !== undefined ? below : stage;
  }

  #outerStages(outer: OuterStage | undefined): readonly OuterStage[] {
    const { output, request } = this.#parts;
    const around: OuterStage[] = outer === undefined ? [] : [outer];
    if (request.purpose === 'count') around.push({ name: 'COUNT', details: [], returned: 0, counts: (rows) => [['nCounted', BigInt(rows)], ['nSkipped', BigInt(request.skip ?? 0)]] });
    const name = request.purpose === undefined || request.purpose === 'documents' ? output.stageName : undefined;
    const transformBy = request.given?.projection;
    if (name !== undefined) around.push({ name, details: transformBy === undefined ? [] : [['transformBy', transformBy]] });
    return around;
  }

  async #run(context: OperationContext, verbosity: ExplainVerbosity, around: readonly OuterStage[]): Promise<Document> {
    const { stage, request, target } = this.#parts;
    const execution = new Execution(target.txn);
    const started = context.clock.monotonicMs();
    const isCount = request.purpose === 'count';
    const returned = isCount ? await this.#countIn(execution, context) : await this.#drain(execution, context);
    const { keys, documents } = totalsOf(stage, execution);
    return Document.of({
      executionSuccess: true,
      nReturned: isCount ? 0 : (around[0]?.returned ?? returned),
      executionTimeMillis: Math.round(context.clock.monotonicMs() - started),
      totalKeysExamined: keys,
      totalDocsExamined: documents,
      executionStages: describeRun(this.#shown(around), execution, returned, around),
      ...(verbosity === 'allPlansExecution' ? { allPlansExecution: BsonArray.of(await this.#tryAll(context, around)) } : {}),
    });
  }

  /** The first documents by each plan that there was to choose from; none where there was one only. */
  async #tryAll(context: OperationContext, around: readonly OuterStage[]): Promise<Document[]> {
    const { stage, rejected, target } = this.#parts;
    if (rejected.length === 0) return [];
    const tried: Document[] = [];
    for (const each of [stage, ...rejected]) {
      const execution = new Execution(target.txn);
      const rows = each.open(execution);
      const started = context.clock.monotonicMs();
      let returned = 0;
      try {
        for (let batch = await rows.next(context); batch !== undefined && returned < trialDocuments; batch = await rows.next(context)) returned += batch.length;
      } finally {
        rows.close();
      }
      const { keys, documents } = totalsOf(each, execution);
      tried.push(Document.of({
        nReturned: returned,
        executionTimeMillisEstimate: Math.round(context.clock.monotonicMs() - started),
        totalKeysExamined: keys,
        totalDocsExamined: documents,
        executionStages: describeRun(each, execution, returned, around),
      }));
    }
    return tried;
  }

  async #drain(execution: Execution, context: OperationContext): Promise<number> {
    const source = this.#openIn(execution);
    let returned = 0;
    try {
      for (;;) {
        const batch = await source.next(context);
        if (batch === undefined) return returned;
        returned += batch.length;
      }
    } finally {
      source.close();
    }
  }
}
