// `$facet`: several pipelines over the same documents, their results as arrays of one document. All documents are in memory meanwhile.
// Follows the manual's page "$facet (aggregation)".

import { BsonArray, Document } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { nameOf, refuse, validateFieldName } from '../../query/index.ts';
import type { sourceOf } from '../../session/index.ts';
import type { OperationContext } from '../../session/index.ts';
import { BATCH_DOCUMENTS_MAX, gathered } from '../batches.ts';
import { collect } from '../nested.ts';
import { Pipeline } from '../pipeline.ts';
import type { SourceProvider, StageContext, StageRule } from '../stage.ts';

/** Stages that have no place in a facet: they write, or come first. */
export const OUTSIDE_FACETS: ReadonlySet<string> = new Set(
  [
    'changeStream changeStreamSplitLargeEvent collStats currentOp documents facet geoNear indexStats listCatalog listClusterCatalog',
    'listLocalSessions listSampledQueries listSearchIndexes merge out planCacheStats querySettings queryStats rankFusion scoreFusion search',
    'searchBeta searchMeta vectorSearch',
  ]
    .join(' ')
    .split(' ')
    .map((name) => `$${name}`),
);

interface Facet {
  readonly name: string;
  readonly pipeline: Pipeline;
}

function compileFacet(name: string, value: Value, context: StageContext): Facet {
  validateFieldName(name);
  if (!(value instanceof BsonArray)) throw refuse(40170, `arguments to $facet must be arrays, ${name} is type ${nameOf(value)}`);
  for (const stage of value.items()) {
    if (!(stage instanceof Document)) throw refuse(40171, `elements of arrays in $facet spec must be non-empty objects, ${name} argument contained an element of type ${nameOf(stage)}`);
    const operator = stage.first?.[0] ?? '';
    if (OUTSIDE_FACETS.has(operator)) throw refuse(40600, `${operator} is not allowed to be used within a $facet stage`);
  }
  const inner = { ...context, withinFacet: true };
  return { name, pipeline: new Pipeline(context.compilePipeline(value.items(), inner).stages) };
}

function facetsOf(specification: Value, context: StageContext): Facet[] {
  if (context.withinFacet === true) throw refuse(40600, '$facet is not allowed to be used within a $facet stage');
  if (!(specification instanceof Document) || specification.isEmpty) {
    throw refuse(40169, `the $facet specification must be a non-empty object, but found: ${nameOf(specification)}`);
  }
  return specification.fields.map(([name, value]) => compileFacet(name, value, context));
}

async function runFacets(
  facets: readonly Facet[],
  documents: readonly Document[],
  provider: SourceProvider,
  context: OperationContext,
): Promise<Document> {
  const made: [string, Value][] = [];
  for (const { name, pipeline } of facets) {
    const source = pipeline.open(batched(documents), provider);
    made.push([name, BsonArray.of(await collect(source, context, '$facet'))]);
    source.close();
  }
  return Document.fromEntries(made);
}

function batched(documents: readonly Document[]): ReturnType<typeof sourceOf> {
  let at = 0;
  return {
    next: () => {
      const batch = documents.slice(at, at + BATCH_DOCUMENTS_MAX);
      at += batch.length;
      return Promise.resolve(batch.length === 0 ? undefined : batch);
    },
    close: () => {
      at = documents.length;
    },
  };
}

/** How `$facet` is compiled. */
export const facetRule: StageRule = {
  name: '$facet',
  parse: (specification, context) => {
    const facets = facetsOf(specification, context);
    return {
      name: '$facet',
      specification,
      open: (source, provider) =>
        gathered(source, async (operation) => {
          const documents = await collect(source, operation, '$facet');
          return [await runFacets(facets, documents, provider, operation)];
        }),
      needs: (dependencies) => {
        for (const { pipeline } of facets) {
          const fields = pipeline.fieldsNeeded(0);
          if (fields === undefined) dependencies.addWhole();
          else for (const path of fields) dependencies.addPath(path);
        }
        return 'all-of-it';
      },
    };
  },
};
