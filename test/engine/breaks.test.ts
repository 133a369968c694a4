// Every law has been seen to fail: each planted break is caught by the history, crash or script that the table names, which the engine as it
// is passes. A test that no break can fail proves nothing.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openEnvironment } from '../../src/engine/index.ts';
import { plant } from '../support/plant.ts';
import { catchBreak } from './catchers.ts';
import type { OpenEnvironment } from './history.ts';
import type { Catcher } from './planted-break.ts';
import { plantedBreaks } from './planted-breaks.ts';

/** Seeds that are tried when the noted one does not notice. */
const otherSeeds = 40;

const nameOf = (catcher: Catcher): string => (catcher.by === 'scenario' ? catcher.name : `${catcher.by}, seed ${String(catcher.seed)}`);

/** The catcher that the table names, then the same with other seeds: a change of the engine gives every seed another execution. */
function* catchersOf(noted: Catcher): Generator<Catcher> {
  yield noted;
  if (noted.by === 'scenario') return;
  for (let seed = 1; seed <= otherSeeds; seed++) if (seed !== noted.seed) yield { ...noted, seed };
}

async function failureOf(open: OpenEnvironment, catcher: Catcher): Promise<unknown> {
  return await catchBreak(open, catcher).then(() => undefined, (error: unknown) => error);
}

for (const planted of plantedBreaks) {
  void test(`planted break is seen (law ${planted.law}): ${planted.name}`, async (t) => {
    const copy = (await plant('engine', 'index.js', planted)) as { openEnvironment: OpenEnvironment };
    for (const catcher of catchersOf(planted.caught)) {
      const failure = await failureOf(copy.openEnvironment, catcher);
      if (failure === undefined) continue;
      if (catcher !== planted.caught) assert.equal(await failureOf(openEnvironment, catcher), undefined, 'the engine as it is passes');
      t.diagnostic(`${nameOf(catcher)}: ${failure instanceof Error ? failure.message.replace(/\s+/g, ' ').slice(0, 120) : 'unknown'}`);
      return;
    }
    assert.fail(`${nameOf(planted.caught)} did not notice, nor did ${String(otherSeeds)} other seeds`);
  });
}

// Scenarios have tests of their own.
const seeded = new Map(plantedBreaks.filter(({ caught }) => caught.by !== 'scenario').map(({ caught }) => [nameOf(caught), caught]));

for (const [name, catcher] of seeded) {
  void test(`without a break ${name} passes`, async () => catchBreak(openEnvironment, catcher));
}
