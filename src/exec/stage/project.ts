// `$project`, `$addFields`, `$set` and `$unset`: other fields of the same documents. The language of their specifications is the query
// layer's. Follows the manual's pages "$project (aggregation)", "$addFields (aggregation)" and "$unset (aggregation)".

import { BsonArray, Document, isNumber, toDouble } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { compileAddFields, compileProjection, compileUnsetFields, nameOf, refuse } from '../../query/index.ts';
import type { Dependencies, Projection } from '../../query/index.ts';
import { mapped } from '../batches.ts';
import { leavesAllBut, topName } from '../hoist.ts';
import type { PipelineOptions, Stage, StageRule } from '../stage.ts';

function needsOf(projection: Projection, dependencies: Dependencies): 'all-of-it' | 'some' {
  if (projection.readsIndexKey === true) dependencies.addIndexKey();
  if (projection.kind === 'exclusion') return 'some';
  if (projection.fieldsNeeded === undefined) dependencies.addWhole();
  else for (const path of projection.fieldsNeeded) dependencies.addPath(path);
  return projection.kind === 'inclusion' ? 'all-of-it' : 'some';
}

/** What a projection leaves as it is: of an inclusion the fields that are named whole, and `_id`; else what is not named. */
function leavesOf(specification: Value, projection: Projection): (path: string) => boolean {
  if (!(specification instanceof Document)) {
    const names = specification instanceof BsonArray ? specification.items() : [specification];
    return leavesAllBut(names.filter((name) => typeof name === 'string'));
  }
  if (projection.kind !== 'inclusion') return leavesAllBut(specification.keys());
  const included = specification.fields.filter(([, value]) => value === true || (isNumber(value) && Math.abs(toDouble(value)) > 0));
  const whole = new Set(included.map(([name]) => name));
  if (!specification.has('_id')) whole.add('_id');
  return (path) => whole.has(topName(path));
}

/** The stage of a compiled projection. */
function projectionStage(name: string, specification: Value, projection: Projection): Stage {
  return {
    name,
    specification,
    leaves: leavesOf(specification, projection),
    open: (source) => mapped(source, (document) => projection.apply(document)),
    needs: (dependencies) => needsOf(projection, dependencies),
  };
}

function compileProject(specification: Value, options: PipelineOptions): Projection {
  if (!(specification instanceof Document)) throw refuse(15969, '$project specification must be an object');
  return compileProjection(specification, { ...options, dialect: 'aggregate' });
}

function compileSet(name: string, specification: Value, options: PipelineOptions): Projection {
  if (!(specification instanceof Document)) {
    throw refuse(40272, `${name} specification stage must be an object, got ${nameOf(specification)}`);
  }
  return compileAddFields(specification, options);
}

/** How these stages are compiled. */
export const projectRules: readonly StageRule[] = [
  { name: '$project', parse: (value, { options }) => projectionStage('$project', value, compileProject(value, options)) },
  { name: '$addFields', parse: (value, { options }) => projectionStage('$addFields', value, compileSet('$addFields', value, options)) },
  { name: '$set', parse: (value, { options }) => projectionStage('$set', value, compileSet('$set', value, options)) },
  { name: '$unset', parse: (value) => projectionStage('$unset', value, compileUnsetFields(value)) },
];
