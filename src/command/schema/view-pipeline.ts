// The pipeline of a view is compiled when it is defined, so that what cannot run is refused then and not when somebody reads.
// Follows the manual's page "Views".

import { CommandError } from '../../base/errors.ts';
import { BsonArray, Document } from '../../bson/index.ts';
import { compilePipeline } from '../../exec/index.ts';
import type { CommandContext } from '../command.ts';
import { queryOptions } from '../query-options.ts';

/** Stages that make documents, but of the collection they stand on. */
const ofCollections: ReadonlySet<string> = new Set(['$collStats', '$indexStats', '$planCacheStats', '$geoNear', '$search', '$searchMeta', '$vectorSearch']);

const PIPELINE_BYTES_MAX = 16 * 1024 * 1024;

/** Refuses a pipeline that a view cannot have: with the code of its fault, 167 where it writes, 73 where it reads no collection. */
export function checkViewPipeline(context: CommandContext, pipeline: BsonArray | undefined, collection: string): void {
  if (pipeline === undefined) return;
  const stages = BsonArray.of(pipeline.items().filter((stage) => stage !== null));
  if (Document.of({ stages }).byteLength > PIPELINE_BYTES_MAX) {
    throw new CommandError(195, 'ViewPipelineMaxSizeExceeded', `View pipeline exceeds maximum size; maximum size is ${String(PIPELINE_BYTES_MAX)}`);
  }
  const [first] = stages.items();
  if (first instanceof Document && first.first?.[0] === '$changeStream') {
    throw new CommandError(167, 'OptionNotSupportedOnView', '$changeStream cannot be used in a view definition');
  }
  const compiled = compilePipeline(stages, { ...queryOptions(context), database: context.db, collection });
  if (compiled.output !== undefined) {
    throw new CommandError(167, 'OptionNotSupportedOnView', 'The aggregation stage $out or $merge cannot be used in a view definition');
  }
  const [stage] = compiled.stages;
  if (compiled.makesDocuments && !ofCollections.has(stage?.name ?? '')) {
    throw new CommandError(73, 'InvalidNamespace', `A view definition cannot begin with ${stage?.name ?? ''}`);
  }
}
