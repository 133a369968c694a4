// `$documents`: documents written in the pipeline itself, in place of a collection's. Follows the manual's page "$documents (aggregation)".

import { BsonArray, Document } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { compileExpression, nameOf, refuse } from '../../query/index.ts';
import { sourceOf } from '../../session/index.ts';
import type { PipelineOptions, StageRule } from '../stage.ts';

function documentsOf(specification: Value, options: PipelineOptions): readonly Document[] {
  const value = compileExpression(specification, options).evaluate(Document.empty);
  if (!(value instanceof BsonArray)) throw refuse(5858203, `an array is expected, found ${nameOf(value)}`);
  return value.items().map((item) => {
    if (item instanceof Document) return item;
    throw refuse(40228, `$documents requires an array of documents, found an element of type ${nameOf(item)}`);
  });
}

/** How `$documents` is compiled. */
export const documentsRule: StageRule = {
  name: '$documents',
  parse: (specification, { options, depth }) => {
    if (depth === 0 && options.collection !== undefined && options.collection !== '') throw refuse(73, "'$documents' can only be run with {aggregate: 1}");
    const compiled = (): readonly Document[] => documentsOf(specification, options);
    compiled();
    return {
      name: '$documents',
      specification,
      open: (source) => {
        source.close();
        return sourceOf(compiled());
      },
      needs: () => 'all-of-it',
      makesDocuments: true,
    };
  },
};
