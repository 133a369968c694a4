// Seeds of histories that a crash ends, and of such that run to their end. FROND_SEED and FROND_HISTORIES choose others: `npm run sim` does.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openEnvironment } from '../../src/engine/index.ts';
import { runConcurrent, runImages, runLives } from './crash-history.ts';
import type { Tally } from './crash-history.ts';

const first = Number(process.env['FROND_SEED'] ?? '1');

/** Runs so many seeds; the sums of what they came to. */
async function forSeeds(count: number, run: (seed: number) => Promise<Tally>): Promise<{ commits: number; points: number; refused: Map<string, number> }> {
  const sums = { commits: 0, points: 0, refused: new Map<string, number>() };
  for (let seed = first; seed < first + count; seed++) {
    try {
      const { commits, points, refused } = await run(seed);
      sums.commits += commits;
      sums.points += points;
      for (const [code, times] of refused) sums.refused.set(code, (sums.refused.get(code) ?? 0) + times);
    } catch (error) {
      throw new Error(`seed ${seed}: ${error instanceof Error ? error.stack : String(error)}`, { cause: error });
    }
  }
  return sums;
}

void test('clients side by side see the states that the seqs order, and nothing else', async (t) => {
  const { commits, refused } = await forSeeds(25, (seed) => runConcurrent(openEnvironment, { seed }, 150));
  t.diagnostic(`${commits} commits, refused: ${[...refused].map(([code, times]) => `${code} ${times}`).join(', ')}`);
  for (const code of ['write-conflict', 'deadlock', 'locked']) assert.ok((refused.get(code) ?? 0) > 0, `nobody was refused with ${code}`);
});

void test('a power failure at any I/O leaves exactly the commits up to some seq, every acknowledged one among them', async (t) => {
  const { points } = await forSeeds(6, (seed) => runImages(openEnvironment, { seed }, 60, 10));
  t.diagnostic(`${points} crash points`);
  assert.ok(points > 100);
});

void test('a directory lives through crash after crash, in recovery too', async (t) => {
  const { commits, points } = await forSeeds(25, (seed) => runLives(openEnvironment, seed, 5));
  t.diagnostic(`${commits} commits, ${points} lives`);
});
