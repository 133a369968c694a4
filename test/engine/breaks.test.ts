// Every law has been seen to fail: each planted break is caught by the history, crash or script that the table names, which the engine as it
// is passes. A test that no break can fail proves nothing.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openEnvironment } from '../../src/engine/index.ts';
import { plant } from '../support/plant.ts';
import { catchBreak } from './catchers.ts';
import type { OpenEnvironment } from './history.ts';
import type { Catcher } from './planted-breaks.ts';
import { plantedBreaks } from './planted-breaks.ts';

const nameOf = (catcher: Catcher): string => (catcher.by === 'scenario' ? catcher.name : `${catcher.by}, seed ${String(catcher.seed)}`);

for (const planted of plantedBreaks) {
  void test(`planted break is seen (law ${planted.law}): ${planted.name}`, async (t) => {
    const copy = (await plant('engine', 'index.js', planted)) as { openEnvironment: OpenEnvironment };
    const failure = await catchBreak(copy.openEnvironment, planted.caught).then(() => undefined, (error: unknown) => error);
    assert.ok(failure !== undefined, `${nameOf(planted.caught)} did not notice`);
    t.diagnostic(`${nameOf(planted.caught)}: ${failure instanceof Error ? failure.message.replace(/\s+/g, ' ').slice(0, 120) : 'unknown'}`);
  });
}

// Scenarios have tests of their own.
const seeded = new Map(plantedBreaks.filter(({ caught }) => caught.by !== 'scenario').map(({ caught }) => [nameOf(caught), caught]));

for (const [name, catcher] of seeded) {
  void test(`without a break ${name} passes`, async () => catchBreak(openEnvironment, catcher));
}
