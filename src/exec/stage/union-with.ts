// `$unionWith`: the documents of another collection, perhaps through a pipeline, behind those from below.
// Follows the manual's page "$unionWith (aggregation)".

import { BsonArray, Document } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { nameOf, refuse } from '../../query/index.ts';
import { concatenated } from '../batches.ts';
import { NestedPipeline } from '../nested.ts';
import type { StageContext, StageRule } from '../stage.ts';

interface Union {
  readonly collection: string | undefined;
  readonly stages: readonly Value[];
}

function stagesOf(value: Value): readonly Value[] {
  if (!(value instanceof BsonArray)) {
    throw refuse(14, `BSON field '$unionWith.pipeline' is the wrong type '${nameOf(value)}', expected type 'array'`);
  }
  for (const stage of value.items()) {
    const name = stage instanceof Document ? stage.first?.[0] : undefined;
    if (name === '$out' || name === '$merge') throw refuse(31441, `${name} is not allowed within a $unionWith's sub-pipeline`);
  }
  return value.items();
}

function parseUnion(specification: Value): Union {
  if (typeof specification === 'string') return { collection: specification, stages: [] };
  if (!(specification instanceof Document)) {
    throw refuse(9, `the $unionWith stage specification must be an object or string, but found ${nameOf(specification)}`);
  }
  const unknown = specification.keys().find((name) => name !== 'coll' && name !== 'pipeline');
  if (unknown !== undefined) throw refuse(40415, `BSON field '$unionWith.${unknown}' is an unknown field.`);
  const collection = specification.get('coll');
  const pipeline = specification.get('pipeline');
  if (collection !== undefined && typeof collection !== 'string') {
    throw refuse(14, `BSON field '$unionWith.coll' is the wrong type '${nameOf(collection)}', expected type 'string'`);
  }
  return { collection, stages: pipeline === undefined ? [] : stagesOf(pipeline) };
}

function nestedOf({ collection, stages }: Union, context: StageContext): NestedPipeline {
  const { database } = context.options;
  const [first] = stages;
  const makesDocuments = first instanceof Document && first.has('$documents');
  if (collection === undefined && !makesDocuments) {
    throw refuse(9, `$unionWith stage without explicit collection must have a pipeline with $documents as first stage`);
  }
  if (collection === '' || collection?.includes('\0') === true) throw refuse(73, `Invalid namespace specified '${database}.${collection}'`);
  const target = { database, collection: collection ?? '' };
  return new NestedPipeline(target, stages, { ...context, options: { ...context.options, ...target } });
}

/** How `$unionWith` is compiled. */
export const unionWithRule: StageRule = {
  name: '$unionWith',
  parse: (specification, context) => {
    const nested = nestedOf(parseUnion(specification), context);
    return {
      name: '$unionWith',
      specification,
      open: (source, provider) => concatenated(source, (operation) => nested.open(provider, operation)),
      needs: () => 'some',
    };
  },
};
