// The engine with a threshold for large values that most values of the histories are beyond, or around, and with segments of a few of them.

import type { EngineOptions } from '../../src/engine/index.ts';
import type { OpenEnvironment } from './history.ts';

/** Which values are large, and how large a segment is: drawn from the options that the seed has drawn. */
function largeOptions(given: Partial<EngineOptions>, from: number | undefined): Partial<EngineOptions> {
  const draw = (given.frontBytes ?? 0) + (given.bufferBytes ?? 0) + (given.checkpointPeriodMs ?? 0);
  const dictionary = given.dictionary ?? { compression: 'lz4', pageBytes: 4096, readPageBytes: 1024, fanout: 5 };
  return { ...given, blobSegmentBytes: [1500, 6000, 60_000][draw % 3] as number, dictionary: { ...dictionary, largeValueBytes: from ?? ([1, 20, 60][draw % 7 % 3] as number) } };
}

/** Opens as `open` does, with large values from a few bytes on, or from so many on. */
export function withLargeValues(open: OpenEnvironment, from?: number): OpenEnvironment {
  return (env, path, options) => open(env, path, largeOptions(options ?? {}, from));
}
