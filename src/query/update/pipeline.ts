// Updates written as a pipeline: the stages that make one document of one. Follows the manual's page "Updates with Aggregation Pipeline".

import { Document } from '../../bson/index.ts';
import type { BsonArray, Value } from '../../bson/index.ts';
import { compileReplacement } from '../expression/replace-root.ts';
import { nameOf } from '../expression/define.ts';
import type { QueryOptions } from '../filter/filter.ts';
import { compileAddFields, compileProjection, compileUnsetFields } from '../projection/projection.ts';
import { refuse } from '../refuse.ts';

/** One stage: a document made of a document. */
type Step = (doc: Document) => Document;

type StageRule = (operand: Value, options: QueryOptions, name: string) => Step;

const addFields: StageRule = (operand, options, name) => {
  if (!(operand instanceof Document)) {
    throw refuse(40272, `${name} specification stage must be an object, got ${nameOf(operand)}`);
  }
  return compileAddFields(operand, options).apply;
};

const stages: ReadonlyMap<string, StageRule> = new Map<string, StageRule>([
  ['$addFields', addFields],
  ['$set', addFields],
  [
    '$project',
    (operand, options) => {
      if (!(operand instanceof Document)) throw refuse(15969, '$project specification must be an object');
      return compileProjection(operand, { ...options, dialect: 'aggregate' }).apply;
    },
  ],
  ['$unset', (operand) => compileUnsetFields(operand).apply],
  ['$replaceRoot', (operand, options) => compileReplacement(operand, options, true).apply],
  ['$replaceWith', (operand, options) => compileReplacement(operand, options, false).apply],
]);

/** Stages that MongoDB has, but not in updates. */
const otherStages: ReadonlySet<string> = new Set(
  [
    'bucket bucketAuto changeStream collStats count currentOp densify documents facet fill geoNear graphLookup group indexStats limit',
    'listLocalSessions listSessions lookup match merge out planCacheStats redact sample setWindowFields skip sort sortByCount unionWith unwind',
  ]
    .join(' ')
    .split(' ')
    .map((name) => `$${name}`),
);

/** Compiles the stages into one step. */
export function compileUpdatePipeline(pipeline: BsonArray, options: QueryOptions): Step {
  const steps = pipeline.items().map((stage): Step => {
    const first = stage instanceof Document ? stage.first : undefined;
    if (!(stage instanceof Document) || first === undefined || stage.fields.length !== 1) {
      throw refuse(40323, 'A pipeline stage specification object must contain exactly one field.');
    }
    const [name, operand] = first;
    const rule = stages.get(name);
    if (rule === undefined) {
      if (otherStages.has(name)) throw refuse(72, `${name} is not allowed to be used within an update`);
      throw refuse(40324, `Unrecognized pipeline stage name: '${name}'`);
    }
    return rule(operand, options, name);
  });
  return (doc) => steps.reduce((made, step) => step(made), doc);
}
