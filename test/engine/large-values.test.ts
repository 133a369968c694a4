// The histories once more with large values: nearly every value lies in a blob segment of its own few, references everywhere else.

import { test } from 'node:test';
import { openEnvironment } from '../../src/engine/index.ts';
import { SimEnv } from '../sim/sim-env.ts';
import { runConcurrent, runImages, runLives } from './crash-history.ts';
import { History } from './history.ts';
import { withLargeValues } from './large-values.ts';
import { runRanges } from './range-history.ts';
import { spilling } from './spilling.ts';

const first = Number(process.env['FROND_SEED'] ?? '1');
const times = Number(process.env['FROND_HISTORIES'] ?? '1');
const open = withLargeValues(openEnvironment);

async function forSeeds(count: number, run: (seed: number) => Promise<unknown>): Promise<void> {
  for (let seed = first; seed < first + count * times; seed++) {
    try {
      await run(seed);
    } catch (error) {
      throw new Error(`seed ${seed}: ${error instanceof Error ? error.stack : String(error)}`, { cause: error });
    }
  }
}

void test('random histories give the same answers as the model', async () => {
  await forSeeds(6, async (seed) => {
    const sim = await SimEnv.create({ seed });
    await sim.run(() => History.run(open, sim, { seed, operations: 400 }));
  });
});

void test('write sets that spill hold references too', async () => {
  await forSeeds(3, async (seed) => {
    const sim = await SimEnv.create({ seed });
    await sim.run(() => History.run(spilling(open), sim, { seed, operations: 300, mayConflict: true }));
  });
});

void test('range deletes take large values with them', async () => {
  await forSeeds(2, (seed) => runRanges(open, seed, 120));
});

void test('clients side by side see the states that the seqs order', async () => {
  await forSeeds(3, (seed) => runConcurrent(open, { seed }, 80));
});

void test('a power failure at any I/O leaves whole commits, each with its large values', async () => {
  await forSeeds(2, (seed) => runImages(open, { seed }, 30, 10));
});

void test('a directory lives through crash after crash', async () => {
  await forSeeds(4, (seed) => runLives(open, seed, 4));
});
