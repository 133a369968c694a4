// The public face of the engine layer.

export type {
  BackupReport,
  Batch,
  BatchLimit,
  BytesPart,
  CompressionName,
  Cursor,
  DictionaryId,
  DictionaryOptions,
  DictionaryStatistics,
  Direction,
  Durability,
  LockRequest,
  LogWriterName,
  EngineOptions,
  EngineStatistics,
  Environment,
  KeyRange,
  LiveTransaction,
  Load,
  LoadedTotals,
  Seq,
  StampedRows,
  Soon,
  Totals,
  Transaction,
  TransactionMode,
  TreeLevel,
  UpdateFunction,
  UpdateFunctions,
  UpdateTable,
  ValuePart,
  VerifyProblem,
  VerifyReport,
} from './types.ts';
export { isFreshValue } from './blob/read-blob.ts';
export { finishDirectory } from './backup/data-directory.ts';
export { openEnvironment } from './environment.ts';
export { LogWriter, logWriters } from './wal/log-writer.ts';
// For simulators: the other end of a conversation with the tree worker.
export { serveMerges } from './tree/job/merge-server.ts';
export { isDamage } from './salvage/damage.ts';
export type { Damage, DamageSink } from './salvage/damage.ts';
export { inspectDirectory } from './salvage/inspect.ts';
export { readDirectory } from './salvage/directory-reader.ts';
export type { FoundRow } from './salvage/tree-reader.ts';
export type { DirectoryReader } from './salvage/directory-reader.ts';
