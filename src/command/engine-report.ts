// What commands tell of the engine below without knowing it: counters by name. The engine's environment is one.

import type { DictionaryId, TransactionMode } from '../catalog/index.ts';
import { Document, type Value } from '../bson/index.ts';

/** The engine, as serverStatus and fsync see it. */
export interface EngineReport {
  /** Numbers by name. */
  statistics(): object;
  /** Who waits for a lock. */
  lockRequests(): readonly { readonly dictionary: DictionaryId; readonly key: Uint8Array | undefined; readonly requesting: number; readonly blocking: number | undefined; readonly waitedMs: number }[];
  /** Open transactions, each with at most so many of the keys that it has written. */
  liveTransactions(writtenMax: number): readonly { readonly id: number; readonly mode: TransactionMode; readonly locks: number; readonly written: readonly { readonly dictionary: DictionaryId; readonly key: Uint8Array }[] }[];
  /** Writes a checkpoint. */
  checkpoint(): Promise<void>;
  /** Reads everything that is on the disk, while others go on. */
  verify(): Promise<{ readonly problems: readonly FoundProblem[]; readonly dictionaries: number; readonly blocks: number; readonly rows: number }>;
  /** Copies the data into an empty directory while others go on. */
  backup(target: string, progress: (bytesDone: number, bytesTotal: number) => void): Promise<{ readonly dataBytes: number; readonly logBytes: number }>;
}

/** One thing that is wrong in the files. */
export interface FoundProblem {
  readonly message: string;
  readonly file?: string;
  readonly offset?: number;
  readonly dictionary?: number;
  readonly fromKey?: Uint8Array;
  readonly toKey?: Uint8Array;
}

/** The engine's section of serverStatus: counts are 64-bit integers. */
export function engineSection(engine: EngineReport): Document {
  const fields: [string, Value][] = [];
  for (const [name, value] of Object.entries(engine.statistics())) {
    if (typeof value === 'number' && Number.isFinite(value)) fields.push([name, BigInt(Math.round(value))]);
  }
  return Document.fromEntries(fields);
}
