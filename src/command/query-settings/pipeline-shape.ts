// The shape of a pipeline, stage by stage: a table of stages whose parts are filters, expressions or pipelines; the others keep their words
// (names of collections and fields) and lose their numbers. Follows the manual's page "Query Shapes".

import { BsonArray, Document, isNumber, type Value } from '../../bson/index.ts';
import { isTruthy } from '../number-fields.ts';
import { expressionShape, expressionsShape } from './expression-shape.ts';
import { filterShape } from './filter-shape.ts';
import { placeholder, structureShape } from './placeholder.ts';

type PartRule = (value: Value) => Value;

/** The shape of the stages in order. What is no stage is passed over: a pipeline is compiled before its shape is asked for. */
export function pipelineShape(pipeline: Value): BsonArray {
  const stages = pipeline instanceof BsonArray ? pipeline.items() : [];
  return BsonArray.of(stages.flatMap((stage) => (stage instanceof Document ? stageShapes(stage) : [])));
}

const filterPart: PartRule = (value) => (value instanceof Document ? filterShape(value) : placeholder(value));
const asItIs: PartRule = (value) => value;

/** What is included or excluded is a flag however it is said. */
function projectedField(value: Value): Value {
  if (typeof value === 'boolean') return value;
  return isNumber(value) ? isTruthy(value) : expressionShape(value);
}

/** The shape of a projection of a stage. */
export function projectionShape(value: Value): Value {
  if (!(value instanceof Document)) return placeholder(value);
  return Document.fromEntries(value.fields.map(([path, field]) => [path, field instanceof Document && field.has('$elemMatch') ? elemMatchShape(field) : projectedField(field)]));
}

function elemMatchShape(field: Document): Document {
  return Document.fromEntries(field.fields.map(([name, value]) => [name, filterPart(value)]));
}

/** A stage whose parts have rules of their own; the rest keeps its words. */
function byParts(rules: Readonly<Record<string, PartRule>>): PartRule {
  return (value) => {
    if (!(value instanceof Document)) return structureShape(value);
    return Document.fromEntries(value.fields.map(([name, part]) => [name, Object.hasOwn(rules, name) ? (rules[name] ?? asItIs)(part) : structureShape(part)]));
  };
}

const facets: PartRule = (value) =>
  value instanceof Document ? Document.fromEntries(value.fields.map(([name, pipeline]) => [name, pipelineShape(pipeline)])) : placeholder(value);

const STAGES: ReadonlyMap<string, PartRule> = new Map<string, PartRule>([
  ['$match', filterPart],
  ['$sort', asItIs],
  ['$unset', asItIs],
  ['$unwind', asItIs],
  ['$project', projectionShape],
  ['$addFields', expressionsShape],
  ['$set', expressionsShape],
  ['$group', expressionsShape],
  ['$replaceRoot', expressionsShape],
  ['$replaceWith', expressionShape],
  ['$redact', expressionShape],
  ['$sortByCount', expressionShape],
  ['$facet', facets],
  ['$lookup', byParts({ let: expressionsShape, pipeline: pipelineShape })],
  ['$unionWith', byParts({ pipeline: pipelineShape })],
  ['$graphLookup', byParts({ startWith: expressionShape, restrictSearchWithMatch: filterPart })],
  ['$bucket', byParts({ groupBy: expressionShape, boundaries: expressionShape, default: expressionShape, output: expressionsShape })],
  ['$bucketAuto', byParts({ groupBy: expressionShape, output: expressionsShape })],
  ['$geoNear', byParts({ query: filterPart, near: expressionShape })],
  ['$setWindowFields', byParts({ partitionBy: expressionShape, sortBy: asItIs, output: expressionsShape })],
  ['$documents', expressionShape],
]);

function one(name: string, value: Value): Document {
  return Document.fromEntries([[name, value]]);
}

/** `$count` is a `$group` and a `$project`, and has their shape. */
function stageShapes(stage: Document): Document[] {
  const [name, value] = stage.first ?? ['', null];
  if (name !== '$count' || typeof value !== 'string') return [one(name, (STAGES.get(name) ?? structureShape)(value))];
  const group = Document.fromEntries([['_id', '?null'], [value, one('$sum', '?number')]]);
  return [one('$group', group), one('$project', Document.fromEntries([[value, true], ['_id', false]]))];
}
