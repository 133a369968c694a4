// Options of an environment: defaults and limits in one place.

import { EngineError } from '../base/errors.ts';
import type { DictionaryOptions, EngineOptions } from './types.ts';

const MiB = 1024 * 1024;

/** Longest key plus value of one message. */
export const messageBytesMax: number = 17 * MiB;

const dictionaryDefaults: DictionaryOptions = { compression: 'zstd', pageBytes: MiB, readPageBytes: 8 * 1024, fanout: 16, largeValueBytes: 16 * 1024 };

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
  if (!Number.isInteger(options.largeValueBytes ?? 0) || (options.largeValueBytes ?? 0) < 0) throw new EngineError('format', 'largeValueBytes must be a whole number');
  return options;
}

/** What an environment is opened with: what the caller said, completed from the size of the cache. */
export function engineOptions(given: Partial<EngineOptions>): EngineOptions {
  const cacheBytes = given.cacheBytes ?? 64 * MiB;
  if (!(cacheBytes >= MiB)) throw new EngineError('format', `cacheBytes must be at least ${MiB}, not ${cacheBytes}`);
  return {
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
}

function clamp(value: number, low: number, high: number): number {
  return Math.floor(Math.min(high, Math.max(low, value)));
}
