// One script under very different options gives the same answers: each run is held to the model, so to each other. From nodes of 1 KiB to
// 4 MiB, fronts from a few messages to all of them, every compressor, durable and delayed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openEnvironment } from '../../src/engine/index.ts';
import type { EngineOptions } from '../../src/engine/index.ts';
import { SimEnv } from '../sim/sim-env.ts';
import { History } from './history.ts';

const MiB = 1024 * 1024;

const optionSets: Readonly<Record<string, Partial<EngineOptions>>> = {
  'smallest everything': { cacheBytes: MiB, frontBytes: 200, bufferBytes: 300, dictionary: { compression: 'none', pageBytes: 1024, readPageBytes: 512, fanout: 4 } },
  'nodes of 4 MiB': { cacheBytes: 64 * MiB, frontBytes: 100_000, dictionary: { compression: 'zstd', pageBytes: 4 * MiB, readPageBytes: 64 * 1024, fanout: 64 } },
  'fronts that hold everything': { cacheBytes: 64 * MiB, frontBytes: 8 * MiB, dictionary: { compression: 'lz4', pageBytes: MiB, readPageBytes: 16_384, fanout: 16 } },
  'large basements, small leaves': { cacheBytes: MiB, frontBytes: 900, bufferBytes: 2000, dictionary: { compression: 'zlib', pageBytes: 1024, readPageBytes: 65_536, fanout: 4 } },
  'values beside the tree from 100 bytes on': { cacheBytes: 2 * MiB, frontBytes: 3000, blobSegmentBytes: 20_000, dictionary: { compression: 'zstd', pageBytes: 4096, readPageBytes: 1024, fanout: 5, largeValueBytes: 100 } },
  'delayed and rarely checkpointed': { cacheBytes: 2 * MiB, frontBytes: 3000, durability: { delayedMs: 50 }, checkpointPeriodMs: 1_000_000 },
};

for (const [name, options] of Object.entries(optionSets)) {
  test(`the same scripts give the same answers under other options: ${name}`, async () => {
    for (let seed = 701; seed <= 704; seed++) {
      const sim = await SimEnv.create({ seed });
      const result = await sim.run(() => History.run(openEnvironment, sim, { seed, operations: 300, options }));
      assert.equal(result.ended, 'done');
    }
  });
}
