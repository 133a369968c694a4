// The public face of the engine layer.

export type {
  Batch,
  BatchLimit,
  CompressionName,
  Cursor,
  DictionaryId,
  DictionaryOptions,
  DictionaryStatistics,
  Direction,
  Durability,
  EngineOptions,
  EngineStatistics,
  Environment,
  KeyRange,
  Seq,
  Soon,
  Totals,
  Transaction,
  TransactionMode,
  VerifyProblem,
  VerifyReport,
} from './types.ts';
export { openEnvironment } from './environment.ts';
