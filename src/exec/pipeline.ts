// A compiled pipeline: stages in order, what of them a plan can take over, and the source they make when opened.
// Follows the manual's pages "Aggregation Pipeline" and "Aggregation Pipeline Optimization".

import type { Document } from '../bson/index.ts';
import { Dependencies, refuse } from '../query/index.ts';
import type { BatchSource } from '../session/index.ts';
import { inspected } from './batches.ts';
import { joinedFilters } from './filters.ts';
import type { SourceProvider, Stage } from './stage.ts';

/** A document that leaves a pipeline may be this long: what a collection holds, and a little. */
const DOCUMENT_BYTES_MAX = 16 * 1024 * 1024 + 16 * 1024;

function checkSize(document: Document): void {
  const size = document.byteLength;
  if (size <= DOCUMENT_BYTES_MAX) return;
  throw refuse(10334, `BSONObj size: ${size} is invalid. Size must be between 0 and ${DOCUMENT_BYTES_MAX}`);
}

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

  /** The collection it writes to, if it ends in `$out` or `$merge`. */
  get output(): Stage['output'] {
    return this.stages.at(-1)?.output;
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
    return { filter: joinedFilters(filters), sort, skip, limit, stages };
  }

  /** The fields of the collection's documents that the stages from `from` on read; undefined: whole documents. */
  fieldsNeeded(from: number): string[] | undefined {
    const dependencies = new Dependencies();
    for (const stage of this.stages.slice(from)) {
      if (stage.needs(dependencies) === 'all-of-it') return dependencies.fields();
    }
    return undefined;
  }

  /** Whether the stages from `from` on read by which key of an index a document was found. */
  readsIndexKey(from: number): boolean {
    const dependencies = new Dependencies();
    this.stages.slice(from).some((stage) => stage.needs(dependencies) === 'all-of-it');
    return dependencies.indexKey;
  }

  /** Opens the stages from `from` on over a source. */
  open(source: BatchSource, provider: SourceProvider, from = 0): BatchSource {
    if (from >= this.stages.length) return source;
    return inspected(this.#over(source, provider, from), checkSize);
  }

  /** The same with all stages, for somebody who looks at the size of what comes out. */
  openUnmeasured(source: BatchSource, provider: SourceProvider): BatchSource {
    return this.#over(source, provider, 0);
  }

  #over(source: BatchSource, provider: SourceProvider, from: number): BatchSource {
    return this.stages.slice(from).reduce((below, stage) => stage.open(below, provider), source);
  }
}
