// Plans as MongoDB's `explain` shows them: `queryPlanner` with the winning plan and those it was chosen over, `executionStats` with what each
// stage counted (manual: "Explain Results"). mongosh and Compass draw trees of `stage`, `inputStage` and `inputStages`.

import { BsonArray, Document } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';
import type { Execution, PlanStage } from './row.ts';
import type { OuterStage } from './types.ts';

type Fields = (readonly [string, Value])[];


/** The tree of a plan. */
export function describeStage(stage: PlanStage, outer: readonly OuterStage[] = []): Document {
  const [first, ...rest] = outer;
  if (first !== undefined) return Document.fromEntries([['stage', first.name], ...first.details, ['inputStage', describeStage(stage, rest)]]);
  return Document.fromEntries([['stage', stage.name], ...stage.details(), ...inputsOf(stage, (input) => describeStage(input))]);
}

function inputsOf(stage: PlanStage, describe: (input: PlanStage) => Document): Fields {
  const [only] = stage.inputs;
  if (only === undefined) return [];
  return stage.inputs.length === 1 ? [['inputStage', describe(only)]] : [['inputStages', BsonArray.of(stage.inputs.map(describe))]];
}

/** The tree of a plan that has run, with its counts. */
export function describeRun(stage: PlanStage, execution: Execution, returned: number, outer: readonly OuterStage[] = []): Document {
  const [first, ...rest] = outer;
  if (first !== undefined) {
    const common = commonCounts(first.returned ?? returned, returned);
    const { counts = [] } = first;
    const own = typeof counts === 'function' ? counts(returned) : counts;
    return Document.fromEntries([['stage', first.name], ...common, ...first.details, ...own, ['inputStage', describeRun(stage, execution, returned, rest)]]);
  }
  const counters = execution.countersOf(stage);
  const details = stage.details();
  const isFilter = ([name]: readonly [string, Value]): boolean => name === 'filter';
  return Document.fromEntries([
    ['stage', stage.name],
    ...details.filter(isFilter),
    ...commonCounts(counters.advanced, counters.works),
    ...details.filter((detail) => !isFilter(detail)),
    ...stage.statistics(counters),
    ...inputsOf(stage, (input) => describeRun(input, execution, execution.countersOf(input).advanced)),
  ]);
}

function commonCounts(advanced: number, works: number): Fields {
  return [
    ['nReturned', advanced],
    ['executionTimeMillisEstimate', 0],
    ['works', works + 1],
    ['advanced', advanced],
    ['needTime', Math.max(works - advanced, 0)],
    ['needYield', 0],
    ['saveState', 0],
    ['restoreState', 0],
    ['isEOF', 1],
  ];
}

/** Keys and documents that all stages together read. */
export function totalsOf(stage: PlanStage, execution: Execution): { readonly keys: number; readonly documents: number } {
  const { keysExamined, docsExamined } = execution.countersOf(stage);
  let keys = keysExamined;
  let documents = docsExamined;
  for (const input of stage.inputs) {
    const below = totalsOf(input, execution);
    keys += below.keys;
    documents += below.documents;
  }
  return { keys, documents };
}

/** Names of the indexes that the leaves of the tree read. */
export function indexesOf(stage: PlanStage): readonly string[] {
  if (stage.inputs.length > 0) return [...new Set(stage.inputs.flatMap(indexesOf))];
  return stage.indexName === undefined ? [] : [stage.indexName];
}

/** `IXSCAN { a: 1 }` and the like: the leaves of the tree. */
export function summarize(stage: PlanStage): string {
  if (stage.inputs.length > 0) return [...new Set(stage.inputs.map(summarize))].join(', ');
  const pattern = stage.details().find(([name]) => name === 'keyPattern')?.[1];
  return pattern instanceof Document ? `${stage.name} ${describePattern(pattern)}` : stage.name;
}

function describePattern(pattern: Document): string {
  return `{ ${pattern.fields.map(([path, direction]) => `${path}: ${typeof direction === 'number' ? direction : '1'}`).join(', ')} }`;
}
