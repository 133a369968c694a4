// What is run to see whether a copy of the engine keeps its laws: the real one must pass, one with a break must not.

import assert from 'node:assert/strict';
import { SimEnv } from '../sim/sim-env.ts';
import { runConcurrent, runImages, runLives } from './crash-history.ts';
import { runDamage } from './damage-history.ts';
import { runWeather } from './hard-history.ts';
import { History } from './history.ts';
import type { OpenEnvironment } from './history.ts';
import { failWrites } from './nth-io.ts';
import type { Catcher } from './planted-break.ts';
import { withLargeValues } from './large-values.ts';
import { runRanges } from './range-history.ts';
import { scenarios } from './scenarios.ts';

type Kind = Exclude<Catcher['by'], 'scenario'>;

/** Sizes are those with which a seed of the table was found. */
const kinds: Readonly<Record<Kind, (open: OpenEnvironment, seed: number) => Promise<unknown>>> = {
  history: async (open, seed) => {
    const sim = await SimEnv.create({ seed });
    return sim.run(() => History.run(open, sim, { seed, operations: 300 }));
  },
  ranges: (open, seed) => runRanges(open, seed, 150),
  clients: (open, seed) => runConcurrent(open, { seed }, 120),
  images: (open, seed) => runImages(open, { seed }, 50, 10),
  lives: (open, seed) => runLives(open, seed, 5),
  'failing writes': (open, seed) => failWrites(open, seed, false),
  damage: (open, seed) => runDamage(open, seed),
  'large weather': (open, seed) => runWeather(withLargeValues(open), seed, 3),
  'large history': async (open, seed) => {
    const sim = await SimEnv.create({ seed });
    return sim.run(() => History.run(withLargeValues(open), sim, { seed, operations: 300 }));
  },
  'large clients': (open, seed) => runConcurrent(withLargeValues(open), { seed }, 120),
  'large images': (open, seed) => runImages(withLargeValues(open), { seed }, 50, 10),
  'large lives': (open, seed) => runLives(withLargeValues(open), seed, 5),
};

/** Runs it; rejects when a law does not hold. */
export async function catchBreak(open: OpenEnvironment, catcher: Catcher): Promise<void> {
  if (catcher.by !== 'scenario') {
    await kinds[catcher.by](open, catcher.seed);
    return;
  }
  const scenario = scenarios[catcher.name];
  assert.ok(scenario !== undefined, `there is no scenario "${catcher.name}"`);
  await scenario(open);
}
