// The face of execution: aggregation pipelines compiled into stages over batches. Storage-free: where batches come from is the business
// of who opens a pipeline, and of the SourceProvider that it hands in.

export { compilePipeline } from './compile.ts';
export type { Pipeline, PipelineHead } from './pipeline.ts';
export type { CollectionRequest, Combine, OutputRequest, OutputSink, PipelineOptions, SourceProvider, Stage, SystemStageRequest, Takeover } from './stage.ts';
export { stageNames } from './stage-table.ts';
export { windowOperators } from './window/window-function.ts';
export { ExternalSorter } from './external-sorter.ts';
export type { SortCodec } from './external-sorter.ts';
export type { Scratch, ScratchPlace, Workspace } from './scratch.ts';
export { WorkMemory } from './work-memory.ts';
