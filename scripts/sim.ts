// `npm run sim -- [--seed N] [--seeds N] [--minutes N] [--steps N] [--stride N]`: the engine on the simulated machine, from new seeds until the time is
// over. Each seed is one random history beside the model, and one workload that loses its power at about every `stride`-th changing I/O. Every tenth
// history runs twice: one seed must give one execution. What fails is printed with the command that shows it again.

import { parseArgs } from 'node:util';
import { crashImages, judge } from '../test/engine/crash-history.ts';
import { History } from '../test/engine/history.ts';
import { SimEnv } from '../test/sim/sim-env.ts';

interface Totals {
  histories: number;
  operations: number;
  commits: number;
  conflicts: number;
  reopenings: number;
  crashPoints: number;
}

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Math.floor(Date.now() / 1000) % 2 ** 31) },
    seeds: { type: 'string' },
    minutes: { type: 'string', default: '1' },
    steps: { type: 'string', default: '600' },
    stride: { type: 'string', default: '12' },
  },
});
const first = Number(values.seed);
const count = Number(values.seeds ?? Infinity);
const steps = Number(values.steps);
const stride = Number(values.stride);
const endMs = performance.now() + Number(values.minutes) * 60_000;
const totals: Totals = { histories: 0, operations: 0, commits: 0, conflicts: 0, reopenings: 0, crashPoints: 0 };

/** Runs one history beside the model; the hash of its trace. */
async function runHistory(seed: number): Promise<string> {
  const sim = await SimEnv.create({ seed });
  const result = await sim.run(() => History.run(sim, seed, steps));
  if (result.ended !== 'done') throw new Error('the machine crashed, and nobody had asked for it');
  totals.histories++;
  totals.operations += result.value.operations;
  totals.commits += result.value.commits;
  totals.conflicts += result.value.conflicts;
  totals.reopenings += result.value.reopenings;
  return sim.trace.hash;
}

async function runCrashes(seed: number): Promise<void> {
  const { ledger, images } = await crashImages(seed, 60, stride);
  for (const image of images) {
    try {
      await judge(ledger, image);
    } catch (error) {
      throw new Error(`after a crash at operation ${image.operation}`, { cause: error });
    }
  }
  totals.crashPoints += images.length;
}

async function runSeed(seed: number): Promise<void> {
  const hash = await runHistory(seed);
  if (seed % 10 === 0 && (await runHistory(seed)) !== hash) throw new Error('the same seed gave another execution');
  await runCrashes(seed);
}

let seed = first;
try {
  for (; seed < first + count && performance.now() < endMs; seed++) await runSeed(seed);
  console.log(`sim: seeds ${first} to ${seed - 1} hold: ${JSON.stringify(totals)}`);
} catch (error) {
  console.error(`sim: seed ${seed} failed; again with: npm run sim -- --seed ${seed} --seeds 1 --steps ${steps} --stride ${stride}`);
  console.error(error);
  process.exitCode = 1;
}
