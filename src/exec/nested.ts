// A pipeline inside a stage, over a collection of its own: compiled once with the outer one, opened as often as the stage needs. The head
// of it (leading `$match`, `$sort`, `$limit`) goes to the provider with the values that variables have at that moment.

import type { Document, Value } from '../bson/index.ts';
import { Variable } from '../query/index.ts';
import { sourceOf } from '../session/index.ts';
import type { BatchSource, OperationContext } from '../session/index.ts';
import { drain } from './batches.ts';
import { MEMORY_BYTES_MAX, outOfMemory } from './memory.ts';
import { joinedFilters } from './filters.ts';
import { Pipeline } from './pipeline.ts';
import { matchStage } from './stage/match.ts';
import type { PipelineOptions, SourceProvider, StageContext } from './stage.ts';

/** Where a nested pipeline reads. */
export interface NestedTarget {
  readonly database: string;
  readonly collection: string;
}

/** A compiled pipeline of its own collection. */
export class NestedPipeline {
  readonly pipeline: Pipeline;
  readonly #target: NestedTarget;
  readonly #options: PipelineOptions;
  readonly #variables: ReadonlyMap<string, Variable>;

  constructor(target: NestedTarget, stages: readonly Value[], context: StageContext) {
    this.#target = target;
    this.#options = context.options;
    this.#variables = context.options.variables ?? new Map();
    this.pipeline = new Pipeline(context.compilePipeline(stages, context).stages);
  }

  /** True if every run gives the same: no variable of it changes from one document to the next. */
  get isConstant(): boolean {
    return [...this.#variables.values()].every((variable) => variable.fixed);
  }

  /** Opens it; `filter` is tested before its own stages. */
  async open(provider: SourceProvider, context: OperationContext, filter?: Document): Promise<BatchSource> {
    if (this.pipeline.makesDocuments) return this.#openMade(provider, filter);
    const { head } = this.pipeline;
    const fields = this.pipeline.fieldsNeeded(head.stages);
    const filters = [filter, head.filter].filter((one) => one !== undefined);
    const joined = joinedFilters(filters);
    const request = {
      ...this.#target,
      ...(joined === undefined ? {} : { filter: joined, variables: this.#fixedVariables() }),
      ...(head.sort === undefined ? {} : { sort: head.sort }),
      ...(head.skip === undefined ? {} : { skip: head.skip }),
      ...(head.limit === undefined ? {} : { limit: head.limit }),
      ...(fields === undefined ? {} : { fields }),
    };
    const source = await provider.collection(request, context);
    return this.pipeline.open(source, provider, head.stages);
  }

  /** All it gives; refused beyond the memory that `stage` may have. */
  async collect(provider: SourceProvider, context: OperationContext, run: { stage: string; filter?: Document }): Promise<Document[]> {
    const source = await this.open(provider, context, run.filter);
    try {
      return await collect(source, context, run.stage);
    } finally {
      source.close();
    }
  }

  /** A pipeline that makes its documents reads nothing: the filter is tested on what its first stage makes. */
  #openMade(provider: SourceProvider, filter: Document | undefined): BatchSource {
    const [first, ...rest] = this.pipeline.stages;
    const filters = filter === undefined ? [] : [matchStage(filter, this.#options)];
    return new Pipeline([...(first === undefined ? [] : [first]), ...filters, ...rest]).open(sourceOf([]), provider);
  }

  #fixedVariables(): ReadonlyMap<string, Variable> {
    return new Map([...this.#variables].map(([name, { value }]) => [name, new Variable(value, true)]));
  }
}

/** All documents of a source; refused beyond the memory that `stage` may have. */
export async function collect(
  source: BatchSource,
  context: OperationContext,
  stage: string,
): Promise<Document[]> {
  const found: Document[] = [];
  let bytes = 0;
  await drain(source, context, (batch) => {
    for (const document of batch) {
      found.push(document);
      bytes += document.byteLength;
    }
    if (bytes > MEMORY_BYTES_MAX) throw outOfMemory(stage);
  });
  return found;
}
