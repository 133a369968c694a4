import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openEnvironment } from '../../src/engine/index.ts';
import { SimEnv } from '../sim/sim-env.ts';
import { History } from './history.ts';

const seeds = Number(process.env['FROND_HISTORIES'] ?? '60');
const first = Number(process.env['FROND_SEED'] ?? '1');

void test(`${seeds} random histories give the same answers as the model, from seed ${first} on`, async () => {
  let [operations, commits, conflicts, reopenings] = [0, 0, 0, 0];
  for (let seed = first; seed < first + seeds; seed++) {
    const sim = await SimEnv.create({ seed });
    try {
      const result = await sim.run(() => History.run(openEnvironment, sim, { seed, operations: 600 }));
      assert.ok(result.ended === 'done');
      operations += result.value.operations;
      commits += result.value.commits;
      conflicts += result.value.conflicts;
      reopenings += result.value.reopenings;
    } catch (error) {
      throw new Error(`seed ${seed}: ${error instanceof Error ? error.stack : String(error)}`, { cause: error });
    }
  }
  console.log(`# histories ${seeds}, operations ${operations}, commits ${commits}, conflicts ${conflicts}, reopenings ${reopenings}`);
  assert.ok(commits > seeds && conflicts > 0 && reopenings > 0);
});
