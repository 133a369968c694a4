// The bare storage engine for other programs: `import { Environment } from 'fronddb/engine'`. Ordered maps of bytes to bytes, called
// dictionaries, with transactions; no BSON, no server, no port. The contracts stand in engine/types.ts; examples/engine.mjs shows the use.

import { openEnvironment } from '../engine/index.ts';
import type { DictionaryId, DictionaryOptions, EngineOptions, Environment as OpenEnvironment, Transaction } from '../engine/index.ts';
import { openHostEnv, openMemoryEnv } from '../env/index.ts';

export { EngineError } from '../base/errors.ts';
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
  KeyRange,
  Seq,
  Soon,
  Totals,
  Transaction,
  TransactionMode,
  VerifyProblem,
  VerifyReport,
} from '../engine/index.ts';

/** An open data directory. */
export type Environment = OpenEnvironment;

/** Opens data directories. A directory is made when it is not there, and is this environment's alone until `close`. */
export const Environment: {
  readonly open: (path: string, options?: Partial<EngineOptions>) => Promise<Environment>;
  readonly openInMemory: (options?: Partial<EngineOptions>) => Promise<Environment>;
} = {
  open: async (path, options = {}) => openEnvironment(await openHostEnv(), path, options),
  openInMemory: async (options = {}) => openEnvironment(await openMemoryEnv(), '/data', options),
};

/**
 * The dictionary of this name, made with `options` in `transaction` when it is not there. Names are rows of the environment's catalog
 * dictionary; a program that uses this writes nothing else there.
 */
export async function dictionaryNamed(
  environment: Environment,
  transaction: Transaction,
  name: string,
  options?: Partial<DictionaryOptions>,
): Promise<DictionaryId> {
  const key = new TextEncoder().encode(name);
  const stored = await transaction.get(environment.catalogDictionary, key);
  if (stored !== undefined) return Number(new TextDecoder().decode(stored)) as DictionaryId;
  const id = transaction.createDictionary(options);
  await transaction.put(environment.catalogDictionary, key, new TextEncoder().encode(String(id)));
  return id;
}
