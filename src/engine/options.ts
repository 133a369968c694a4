// Options of an environment: defaults and limits in one place.

import { EngineError } from '../base/errors.ts';
import type { CompressionName, DictionaryId, DictionaryOptions, EngineOptions } from './types.ts';
import { logWriters } from './wal/log-writer.ts';

const MiB = 1024 * 1024;

/** There from the first open, for those above to keep their catalog in. */
export const catalogDictionary = 1 as DictionaryId;

/** Longest key plus value of one message. */
export const messageBytesMax: number = 17 * MiB;

const dictionaryDefaults: DictionaryOptions = { compression: 'zstd', pageBytes: MiB, readPageBytes: 8 * 1024, fanout: 16, largeValueBytes: 16 * 1024 };

const compressions: ReadonlySet<string> = new Set<CompressionName>(['none', 'lz4', 'zlib', 'zstd']);

const dictionaryLimits: Readonly<Record<'pageBytes' | 'readPageBytes' | 'fanout', readonly [number, number]>> = {
  pageBytes: [1024, 16 * MiB],
  readPageBytes: [512, MiB],
  fanout: [4, 64],
};

/**
 * Largest record of one commit without what is spilled, and what write sets in memory may hold: an eighth of the cache, and always enough for
 * one message of the largest size with what goes beside it, for a small cache must not refuse a large document.
 */
export function transactionBytesMax(cacheBytes: number): number {
  return Math.max(Math.floor(cacheBytes / 8), messageBytesMax + 7 * MiB);
}

/** What the caller said, completed; out of bounds is EngineError `format`. */
export function dictionaryOptions(defaults: DictionaryOptions, given: Partial<DictionaryOptions> = {}): DictionaryOptions {
  const options = { ...defaults, ...given };
  for (const name of ['pageBytes', 'readPageBytes', 'fanout'] as const) {
    const [low, high] = dictionaryLimits[name];
    const value = options[name];
    if (!Number.isInteger(value) || value < low || value > high) {
      throw new EngineError('format', `${name} must be a whole number from ${low} to ${high}, not ${value}`);
    }
  }
  if (!compressions.has(options.compression)) throw new EngineError('format', `compression is one of ${[...compressions].join(', ')}, not ${options.compression}`);
  if (!Number.isInteger(options.largeValueBytes ?? 0) || (options.largeValueBytes ?? 0) < 0) throw new EngineError('format', 'largeValueBytes must be a whole number');
  return options;
}

/** What an environment is opened with: what the caller said, completed from the size of the cache. */
export function engineOptions(given: Partial<EngineOptions>): EngineOptions {
  const cacheBytes = given.cacheBytes ?? 64 * MiB;
  if (!(cacheBytes >= MiB)) throw new EngineError('format', `cacheBytes must be at least ${MiB}, not ${cacheBytes}`);
  const options: EngineOptions = {
    cacheBytes,
    logBytes: clamp(cacheBytes * 2, 64 * MiB, 256 * MiB),
    logSegmentBytes: 16 * MiB,
    blobSegmentBytes: 64 * MiB,
    durability: 'sync',
    logWriter: 'overwrite-dsync',
    checkpointPeriodMs: 60_000,
    lockWaitMs: 30_000,
    treeWorker: true,
    spillBytes: Math.floor(cacheBytes / 8),
    frontBytes: clamp(cacheBytes / 16, 64 * 1024, 8 * MiB),
    bufferBytes: clamp(cacheBytes / 32, 64 * 1024, 2 * MiB),
    ...given,
    dictionary: dictionaryOptions(dictionaryDefaults, given.dictionary),
  };
  checkOptions(options);
  return options;
}

/** Sizes and times that must be whole numbers, and the least of each. */
const leasts = [
  ['logBytes', 1], ['logSegmentBytes', 1], ['blobSegmentBytes', 1], ['checkpointPeriodMs', 1], ['lockWaitMs', 0], ['spillBytes', 1], ['frontBytes', 1], ['bufferBytes', 1],
] as const;

function checkOptions(options: EngineOptions): void {
  for (const [name, least] of leasts) {
    const value = options[name];
    if (!(value >= least)) throw new EngineError('format', `${name} must be a number from ${least} on, not ${value}`);
  }
  if (!Object.hasOwn(logWriters, options.logWriter)) throw new EngineError('format', `logWriter is one of ${Object.keys(logWriters).join(', ')}, not ${options.logWriter}`);
  if (options.durability !== 'sync' && !(options.durability.delayedMs > 0)) throw new EngineError('format', 'durability is "sync", or has a delayedMs above 0');
}

function clamp(value: number, low: number, high: number): number {
  return Math.floor(Math.min(high, Math.max(low, value)));
}
