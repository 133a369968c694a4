// The histories once more with write sets that spill: every transaction of more than a few hundred bytes goes through the data file.

import { test } from 'node:test';
import { openEnvironment } from '../../src/engine/index.ts';
import { SimEnv } from '../sim/sim-env.ts';
import { runConcurrent, runImages, runLives } from './crash-history.ts';
import { History } from './history.ts';
import { spilling } from './spilling.ts';

const first = Number(process.env['FROND_SEED'] ?? '1');
const open = spilling(openEnvironment);

async function forSeeds(count: number, run: (seed: number) => Promise<unknown>): Promise<void> {
  for (let seed = first; seed < first + count; seed++) {
    try {
      await run(seed);
    } catch (error) {
      throw new Error(`seed ${seed}: ${error instanceof Error ? error.stack : String(error)}`, { cause: error });
    }
  }
}

void test('random histories give the same answers as the model', async () => {
  await forSeeds(12, async (seed) => {
    const sim = await SimEnv.create({ seed });
    await sim.run(() => History.run(open, sim, { seed, operations: 400, mayConflict: true }));
  });
});

void test('clients side by side see the states that the seqs order', async () => {
  await forSeeds(6, (seed) => runConcurrent(open, { seed }, 80));
});

void test('a power failure at any I/O leaves whole commits', async () => {
  await forSeeds(4, (seed) => runImages(open, { seed }, 30, 10));
});

void test('a directory lives through crash after crash', async () => {
  await forSeeds(6, (seed) => runLives(open, seed, 4));
});
