// The public face of the tools: what `frond` does besides serving.

export { importFile } from './import/import.ts';
export type { ImportOptions, ImportProgress, ImportReport, ImportWatcher } from './import/import.ts';
export type { ImportFault } from './import/fault.ts';
export type { FormatOptions } from './import/record-source.ts';
export type { ParseGrace } from './import/row-encoder.ts';
export { parseUri } from './uri.ts';
export type { ServerPlace } from './uri.ts';
export { verifyDirectory, verifyServer } from './verify.ts';
export type { DirectoryReport } from './verify.ts';
export { salvageDirectory } from './salvage.ts';
export type { SalvageOrder, SalvageReport } from './salvage.ts';
export { inspectData } from './inspect.ts';
export { backUpServer } from './backup.ts';
export { appendSizes, benchAppend } from './append-bench.ts';
