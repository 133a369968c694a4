// A pipeline: stages compiled in order, what of them a plan can take over, and the source they make when opened.
// Follows the manual's pages "Aggregation Pipeline" and "Aggregation Pipeline Optimization".

import { BsonArray, Document } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';
import { Dependencies, refuse } from '../query/index.ts';
import type { BatchSource } from '../session/index.ts';
import { stageRules } from './stage-table.ts';
import type { PipelineOptions, SourceProvider, Stage, StageContext } from './stage.ts';

const STAGES_MAX = 1000;
const DEPTH_MAX = 20;

/** The front of a pipeline as one query: what a plan does instead of stages. */
export interface PipelineHead {
  readonly filter: Document | undefined;
  readonly sort: Document | undefined;
  readonly skip: number | undefined;
  readonly limit: number | undefined;
  /** How many stages these stand for: open the pipeline from there. */
  readonly stages: number;
}

/** A compiled pipeline. It belongs to one operation: its variables are cells that its stages share. */
export class Pipeline {
  readonly stages: readonly Stage[];
  /** True if it begins with a stage that makes documents itself, so that no collection is read. */
  readonly makesDocuments: boolean;

  constructor(stages: readonly Stage[]) {
    this.stages = stages;
    this.makesDocuments = stages[0]?.makesDocuments === true;
  }

  /** What a plan can take over: leading `$match` stages, then a `$sort`, then `$skip` and `$limit`, in this order. */
  get head(): PipelineHead {
    const filters: Document[] = [];
    let sort: Document | undefined;
    let skip: number | undefined;
    let limit: number | undefined;
    let stages = 0;
    for (const { takeover } of this.stages) {
      if (takeover === undefined) break;
      const late = skip !== undefined || limit !== undefined;
      if (takeover.kind === 'match' && sort === undefined && !late) filters.push(takeover.filter);
      else if (takeover.kind === 'sort' && sort === undefined && !late) {
        sort = takeover.sort;
        limit = takeover.limit;
      } else if (takeover.kind === 'skip' && !late) skip = takeover.count;
      else if (takeover.kind === 'limit' && limit === undefined) limit = takeover.count;
      else break;
      stages += 1;
    }
    return { filter: joined(filters), sort, skip, limit, stages };
  }

  /** The fields of the collection's documents that the stages from `from` on read; undefined: whole documents. */
  fieldsNeeded(from: number): string[] | undefined {
    const dependencies = new Dependencies();
    for (const stage of this.stages.slice(from)) {
      if (stage.needs(dependencies) === 'all-of-it') return dependencies.fields();
    }
    return undefined;
  }

  /** Opens the stages from `from` on over a source. */
  open(source: BatchSource, provider: SourceProvider, from = 0): BatchSource {
    return this.stages.slice(from).reduce((below, stage) => stage.open(below, provider), source);
  }
}

function joined(filters: readonly Document[]): Document | undefined {
  if (filters.length < 2) return filters[0];
  return Document.fromEntries([['$and', BsonArray.of(filters)]]);
}

/** Compiles a pipeline. Throws CommandError for what MongoDB refuses. */
export function compilePipeline(stages: BsonArray, options: PipelineOptions): Pipeline {
  return new Pipeline(compileStages(stages.items(), { options, depth: 0, compilePipeline: compileNested }));
}

function compileNested(stages: readonly Value[], outer: StageContext): { readonly stages: readonly Stage[] } {
  if (outer.depth >= DEPTH_MAX) throw refuse(232, `Maximum number of nested sub-pipelines exceeded. Limit is ${DEPTH_MAX}`);
  return { stages: compileStages(stages, { ...outer, depth: outer.depth + 1 }) };
}

function compileStages(items: readonly Value[], context: StageContext): Stage[] {
  if (items.length > STAGES_MAX) throw refuse(7749501, `Pipeline length must be no longer than ${STAGES_MAX} stages`);
  const stages = items.flatMap((item) => compileStage(item, context));
  stages.forEach((stage, index) => {
    if (stage.makesDocuments === true && index > 0) throw refuse(40602, `${stage.name} is only valid as the first stage in a pipeline`);
  });
  return coalesced(stages);
}

function compileStage(item: Value, context: StageContext): readonly Stage[] {
  if (!(item instanceof Document)) throw refuse(14, `Each element of the 'pipeline' array must be an object`);
  const [first, second] = item.fields;
  if (first === undefined || second !== undefined) {
    throw refuse(40323, 'A pipeline stage specification object must contain exactly one field.');
  }
  const rule = stageRules.get(first[0]);
  if (rule === undefined) throw refuse(40324, `Unrecognized pipeline stage name: '${first[0]}'`);
  const stages = rule.parse(first[1], context);
  return isList(stages) ? stages : [stages];
}

function isList(stages: Stage | readonly Stage[]): stages is readonly Stage[] {
  return Array.isArray(stages);
}

/** Neighbours that are one together: a `$sort` and the `$limit` behind it keep no more than the first documents. */
function coalesced(stages: readonly Stage[]): Stage[] {
  const made: Stage[] = [];
  for (const stage of stages) {
    const before = made.at(-1);
    const together = before?.joinedWith?.(stage);
    if (together === undefined) made.push(stage);
    else made[made.length - 1] = together;
  }
  return made;
}
