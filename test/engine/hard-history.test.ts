// Weather, recoveries that are interrupted again and again, spoiled copies. FROND_SEED and FROND_HISTORIES choose other seeds and more of them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openEnvironment } from '../../src/engine/index.ts';
import type { Tally } from './crash-history.ts';
import { runInterrupted, runSpoiledCopies, runWeather } from './hard-history.ts';
import { withLargeValues } from './large-values.ts';

const first = Number(process.env['FROND_SEED'] ?? '1');
const many = process.env['FROND_HISTORIES'];

/** Runs so many seeds, every third with large values; how many points, and what was refused. */
async function forSeeds(count: number, run: (open: typeof openEnvironment, seed: number) => Promise<Tally>): Promise<{ points: number; refused: Map<string, number> }> {
  const sums = { points: 0, refused: new Map<string, number>() };
  for (let seed = first; seed < first + Number(many ?? count); seed++) {
    try {
      const { points, refused } = await run(seed % 3 === 0 ? withLargeValues(openEnvironment) : openEnvironment, seed);
      sums.points += points;
      for (const [code, times] of refused) sums.refused.set(code, (sums.refused.get(code) ?? 0) + times);
    } catch (error) {
      throw new Error(`seed ${seed}: ${error instanceof Error ? error.stack : String(error)}`, { cause: error });
    }
  }
  return sums;
}

void test('reads that fail once, a full disk and a slow one pass by, and nothing is missing or refused after them', async (t) => {
  const { refused } = await forSeeds(5, (open, seed) => runWeather(open, seed, 3));
  t.diagnostic(`refused: ${[...refused].map(([code, times]) => `${code} ${times}`).join(', ')}`);
  for (const code of ['io', 'no-space']) assert.ok((refused.get(code) ?? 0) > 0, `nobody was refused with ${code}`);
});

void test('a recovery that is interrupted at each of its I/Os in turn comes to its end with everything', async (t) => {
  const { points } = await forSeeds(3, runInterrupted);
  t.diagnostic(`${points} interrupted recoveries`);
  assert.ok(points > 60);
});

void test('one spoiled copy of what is there twice costs nothing', async (t) => {
  const { points } = await forSeeds(6, (open, seed) => runSpoiledCopies(open, seed, 4));
  t.diagnostic(`${points} copies were spoiled`);
  assert.ok(points > 20);
});
