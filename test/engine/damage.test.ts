// Damage of one block costs its own keys: the environment goes on, and so it does after the next start. FROND_HISTORIES tries more seeds.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openEnvironment } from '../../src/engine/index.ts';
import { runDamage } from './damage-history.ts';

const first = Number(process.env['FROND_SEED'] ?? 1);
const seeds = Number(process.env['FROND_HISTORIES'] ?? 12);

test('a damaged block costs the keys that are named; all else goes on, is written and dropped', async (t) => {
  let refused = 0;
  for (let seed = first; seed < first + seeds; seed++) {
    try {
      refused += (await runDamage(openEnvironment, seed)).refused;
    } catch (cause) {
      throw new Error(`seed ${String(seed)}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    }
  }
  assert.ok(refused > 0);
  t.diagnostic(`${String(refused)} reads were refused`);
});
