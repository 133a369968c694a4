// From the array that a client sends to a compiled pipeline. Nested pipelines (`$lookup`, ...) come back here through their context.
// Follows the manual's page "Aggregation Pipeline Limits".

import { Document } from '../bson/index.ts';
import type { BsonArray, Value } from '../bson/index.ts';
import { refuse } from '../query/index.ts';
import type { MetadataKinds } from '../query/index.ts';
import { searchesText } from './filters.ts';
import { hoisted } from './hoist.ts';
import { Pipeline } from './pipeline.ts';
import { OUTSIDE_FACETS } from './stage/facet.ts';
import { firstStages } from './stage/system.ts';
import { stageRules } from './stage-table.ts';
import type { PipelineOptions, Stage, StageContext } from './stage.ts';

const STAGES_MAX = 1000;
const DEPTH_MAX = 20;

/** Compiles a pipeline. Throws CommandError for what MongoDB refuses. */
export function compilePipeline(stages: BsonArray, options: PipelineOptions): Pipeline {
  return new Pipeline(compileStages(stages.items(), { options, depth: 0, compilePipeline: compileNested }));
}

function compileNested(stages: readonly Value[], outer: StageContext): { readonly stages: readonly Stage[] } {
  if (outer.depth >= DEPTH_MAX) throw refuse(232, `Maximum number of nested sub-pipelines exceeded. Limit is ${DEPTH_MAX}`);
  return { stages: compileStages(stages, { ...outer, depth: outer.depth + 1 }) };
}

function compileStages(given: readonly Value[], around: StageContext): Stage[] {
  const items = withoutEmptyMatches(given);
  if (items.length > STAGES_MAX) throw refuse(7749501, `Pipeline length must be no longer than ${STAGES_MAX} stages`);
  const metadata = { ...metadataOf(items[0]), ...(around.withinFacet === true ? around.options.metadata : undefined) };
  const context = { ...around, options: { ...around.options, metadata } };
  const stages = items.flatMap((item, index) => compileStage(item, context, index));
  stages.forEach((stage, index) => {
    if (stage.output !== undefined && index < stages.length - 1) throw refuse(40601, `${stage.name} can only be the final stage in the pipeline`);
    if (stage.makesDocuments === true && index > 0) throw refuse(40602, `${stage.name} is only valid as the first stage in a pipeline`);
  });
  return coalesced(hoisted(stages));
}

/** Without conditions that let everything through, where a `$geoNear` stands behind them: it then comes first. */
function withoutEmptyMatches(items: readonly Value[]): readonly Value[] {
  const first = items.findIndex((item) => {
    const filter = matchOf(item);
    return !(filter instanceof Document && filter.isEmpty);
  });
  const stage = items[first];
  return first > 0 && stage instanceof Document && stage.has('$geoNear') ? items.slice(first) : items;
}

/** What documents have beside their fields where a pipeline begins so. */
function metadataOf(first: Value | undefined): MetadataKinds {
  return { text: searchesText(matchOf(first)), near: first instanceof Document && first.has('$geoNear') };
}

/** The filter of a stage that is a `$match`. */
function matchOf(stage: Value | undefined): Value | undefined {
  return stage instanceof Document ? stage.get('$match') : undefined;
}

function compileStage(item: Value, context: StageContext, index: number): readonly Stage[] {
  if (!(item instanceof Document)) throw refuse(14, `Each element of the 'pipeline' array must be an object`);
  const [first, second] = item.fields;
  if (first === undefined || second !== undefined) {
    throw refuse(40323, 'A pipeline stage specification object must contain exactly one field.');
  }
  const [name] = first;
  if (context.withinFacet === true && OUTSIDE_FACETS.has(name)) throw refuse(40600, `${name} is not allowed to be used within a $facet stage`);
  if (index > 0 && firstStages.has(name)) throw refuse(name === '$geoNear' ? 40603 : 40602, `${name} is only valid as the first stage in a pipeline`);
  if (index > 0 && name === '$match' && searchesText(first[1])) throw refuse(17313, '$match with $text is only allowed as the first pipeline stage');
  const rule = stageRules.get(name);
  if (rule === undefined) throw refuse(40324, `Unrecognized pipeline stage name: '${name}'`);
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
    if (together !== undefined) {
      made[made.length - 1] = together;
      continue;
    }
    made.push(stage);
    limitSort(made);
  }
  return made;
}

/** A `$sort` before a `$skip` and a `$limit` need not keep more than both let through. */
function limitSort(made: Stage[]): void {
  const [sort, skip, limit] = made.slice(-3);
  if (skip?.takeover?.kind !== 'skip' || limit?.takeover?.kind !== 'limit') return;
  const most = { ...limit, takeover: { kind: 'limit', count: skip.takeover.count + limit.takeover.count } as const };
  const limited = sort?.joinedWith?.(most);
  if (limited !== undefined) made[made.length - 3] = limited;
}
