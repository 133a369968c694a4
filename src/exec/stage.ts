// What a stage of an aggregation pipeline is. A stage is compiled once for a command and opened over a source of batches; it pulls batches
// from below and gives batches, and knows nothing of where they come from. What it needs of other collections it asks a SourceProvider.

import type { Document, Value } from '../bson/index.ts';
import type { Dependencies, QueryOptions, Variable } from '../query/index.ts';
import type { Workspace } from './scratch.ts';
import type { BatchSource, OperationContext } from '../session/index.ts';

/** What a stage asks for when it reads another collection. Everything but the name may be left out. */
export interface CollectionRequest {
  readonly database: string;
  readonly collection: string;
  /** Only documents that match, tested by the provider (with indexes where it can). */
  readonly filter?: Document;
  /** The variables that `filter` may name. */
  readonly variables?: ReadonlyMap<string, Variable>;
  readonly sort?: Document;
  readonly skip?: number;
  readonly limit?: number;
  /** The fields that will be read; undefined: whole documents. */
  readonly fields?: readonly string[];
}

/** What becomes of an incoming document of `$merge`, given the one that is there; undefined: nothing. May throw what MongoDB answers. */
export type Combine = (existing: Document | undefined, incoming: Document) => Document | undefined;

/** What the last stage of a pipeline writes. */
export type OutputRequest =
  /** `$out`: the documents become the collection, in place of the one that is there; its indexes and options stay. */
  | {
      readonly kind: 'replace';
      readonly database: string;
      readonly collection: string;
      /** The new collection is to be a time series with these options, as for `create`. */
      readonly timeSeries?: Document;
    }
  /**
   * `$merge`: each document meets the one with equal `on` fields (undefined: `_id`), of which there is at most one: without a unique
   * index on exactly these fields the provider answers 51183, and 51132 for a missing or null value where that index is sparse. A document
   * without `_id` gets one before it is combined, if `on` has `_id`. Documents that are refused do not keep others of their batch from
   * being written; the first refusal is thrown.
   */
  | {
      readonly kind: 'merge';
      readonly database: string;
      readonly collection: string;
      readonly on: readonly string[] | undefined;
      readonly combine: Combine;
    };

/** Takes what a pipeline writes. One call at a time; after `finish` or `abandon` none. */
export interface OutputSink {
  write(batch: readonly Document[], context: OperationContext): Promise<void>;
  /** All is written: for 'replace' the new collection now takes the place of the old. */
  finish(context: OperationContext): Promise<void>;
  /** Gives it up: for 'replace' the old collection stays. */
  abandon(): Promise<void>;
}

/** What a stage that tells of the server asks for. */
export interface SystemStageRequest {
  /** With `$`. */
  readonly name: string;
  readonly specification: Value;
  readonly database: string;
  /** Undefined for `aggregate: 1`. */
  readonly collection: string | undefined;
  /** Whether it stands in a pipeline inside a stage. */
  readonly isNested: boolean;
}

/** Where stages get documents other than those from below. Implemented by who runs pipelines. */
export interface SourceProvider {
  /** Opens a collection, as the operation's snapshot sees it; one that does not exist is empty. */
  collection(request: CollectionRequest, context: OperationContext): Promise<BatchSource>;
  /** Paths of a collection's geospatial indexes, by kind; undefined where there is no such collection. Absent where there are no indexes. */
  geoPaths?(database: string, collection: string): Promise<{ readonly flat: readonly string[]; readonly sphere: readonly string[] } | undefined>;
  /** What stages that gather much work in; absent: they are kept in memory, and refuse beyond MongoDB's limit. */
  readonly workspace?: Workspace;
  /** Opens what `$out` and `$merge` write to; absent where a pipeline may not write. */
  openOutput?(request: OutputRequest, context: OperationContext): Promise<OutputSink>;
  /** The documents of a stage that tells of the server; absent where there is none. Refuses a wrong specification. */
  systemStage?(request: SystemStageRequest, context: OperationContext): Promise<readonly Document[]>;
}

/** What compiling stages needs from outside. */
export interface PipelineOptions extends QueryOptions {
  readonly database: string;
  /** The collection the pipeline runs on; undefined for `aggregate: 1`. */
  readonly collection?: string;
  /** Whether the pipeline may write to temporary files. Nothing does yet. */
  readonly allowDiskUse?: boolean;
}

/** What a plan can do in a stage's place, when the stage is the next one above the collection. */
export type Takeover =
  | { readonly kind: 'match'; readonly filter: Document }
  | { readonly kind: 'sort'; readonly sort: Document; readonly limit?: number }
  | { readonly kind: 'skip'; readonly count: number }
  | { readonly kind: 'limit'; readonly count: number };

/** A compiled stage. */
export interface Stage {
  /** With `$`, as written. */
  readonly name: string;
  /** The stage as `explain` shows it: its specification. */
  readonly specification: Value;
  /** Opens the stage over a source; closing the result closes the source. */
  open(source: BatchSource, provider: SourceProvider): BatchSource;
  readonly takeover?: Takeover;
  /** One stage that does what this one and the one behind it do, if there is such a stage. */
  joinedWith?(next: Stage): Stage | undefined;
  /** Whether a condition on this path finds the same before the stage as behind it; absent: none does. */
  readonly leaves?: (path: string) => boolean;
  /** For a stage of conditions: those on paths that `leaves` answers true for, and the rest; undefined where there are none. */
  parted?(leaves: (path: string) => boolean): { readonly early: Stage; readonly late: Stage | undefined } | undefined;
  /**
   * Adds the fields of its input that it reads. 'all-of-it': what comes out is made of these fields alone (a projection, a group).
   * 'some': later stages see the document too.
   */
  needs(dependencies: Dependencies): 'all-of-it' | 'some';
  /** For stages that must come last: the collection they write to. */
  readonly output?: { readonly database: string; readonly collection: string };
  /** True for stages that must come first and make documents themselves, e.g. `$documents`. */
  readonly makesDocuments?: boolean;
}

/** What a stage's rule gets beside the specification. */
export interface StageContext {
  readonly options: PipelineOptions;
  /** How many pipelines are around this one. */
  readonly depth: number;
  /** True inside `$facet`, at any depth. */
  readonly withinFacet?: boolean;
  /** Compiles a pipeline inside this stage. */
  compilePipeline(stages: readonly Value[], context: StageContext): CompiledStages;
}

/** Stages in order. */
export interface CompiledStages {
  readonly stages: readonly Stage[];
}

/** How a stage is compiled from its specification. */
export interface StageRule {
  readonly name: string;
  /** Gives the stage, or several that do the same together. Throws CommandError for what MongoDB refuses. */
  parse(specification: Value, context: StageContext): Stage | readonly Stage[];
}
