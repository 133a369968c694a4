// `npm run sim -- [--seed N] [--seeds N] [--minutes N | --seconds N] [--steps N]`: the engine on the simulated machine, from new seeds until the time is
// over. Each seed is one history beside the model, clients side by side, crashes at I/Os all over a run, a directory through many lives, a recovery that is
// interrupted at each of its I/Os, weather (failing reads, full and slow disks), spoiled copies, a damaged block. Every tenth history runs twice: one seed
// must give one execution. What fails is printed with the command that shows it again, and how many crash points a minute of processor time there were.
// `--crash N` instead kills a real server under its writers N times (test/crash/kill-loop.ts).

import { parseArgs } from 'node:util';
import { openEnvironment } from '../src/engine/index.ts';
import { runConcurrent, runImages, runLives } from '../test/engine/crash-history.ts';
import { runDamage } from '../test/engine/damage-history.ts';
import { runInterrupted, runSpoiledCopies, runWeather } from '../test/engine/hard-history.ts';
import { History } from '../test/engine/history.ts';
import { withLargeValues } from '../test/engine/large-values.ts';
import { killLoop } from '../test/crash/kill-loop.ts';
import { SimEnv } from '../test/sim/sim-env.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Math.floor(Date.now() / 1000) % 2 ** 31) },
    seeds: { type: 'string' },
    minutes: { type: 'string', default: '1' },
    seconds: { type: 'string' },
    steps: { type: 'string', default: '600' },
    crash: { type: 'string' },
  },
});
const first = Number(values.seed);
const count = Number(values.seeds ?? Infinity);
const steps = Number(values.steps);
const endMs = performance.now() + (values.seconds === undefined ? Number(values.minutes) * 60_000 : Number(values.seconds) * 1000);
const totals = { histories: 0, operations: 0, commits: 0, conflicts: 0, reopenings: 0, clientCommits: 0, crashPoints: 0, lives: 0, spoiled: 0, refused: 0 };
let crashMs = 0;

/** Every third seed has nearly all its values beside the trees. */
const openFor = (seed: number): typeof openEnvironment => (seed % 3 === 0 ? withLargeValues(openEnvironment) : openEnvironment);

/** Runs one history beside the model; the hash of its trace. */
async function runHistory(seed: number): Promise<string> {
  const sim = await SimEnv.create({ seed });
  const result = await sim.run(() => History.run(openFor(seed), sim, { seed, operations: steps }));
  if (result.ended !== 'done') throw new Error('the machine crashed, and nobody had asked for it');
  totals.histories++;
  totals.operations += result.value.operations;
  totals.commits += result.value.commits;
  totals.conflicts += result.value.conflicts;
  totals.reopenings += result.value.reopenings;
  return sim.trace.hash;
}

async function runClients(seed: number): Promise<void> {
  const transactions = Math.ceil(steps / 4);
  totals.clientCommits += (await runConcurrent(openFor(seed), { seed }, transactions)).commits;
}

async function runCrashes(seed: number): Promise<void> {
  const begun = process.cpuUsage();
  const images = await runImages(openFor(seed), { seed }, Math.ceil(steps / 10), 3);
  const lives = await runLives(openFor(seed), seed, 5);
  const interrupted = await runInterrupted(openFor(seed), seed);
  totals.crashPoints += images.points + lives.points + interrupted.points;
  totals.clientCommits += images.commits + lives.commits + interrupted.commits;
  totals.lives += lives.points;
  const { user, system } = process.cpuUsage(begun);
  crashMs += (user + system) / 1000;
}

/** What is not a crash: weather, spoiled copies, a damaged block. */
async function runFaults(seed: number): Promise<void> {
  const weather = await runWeather(openFor(seed), seed, 3);
  totals.clientCommits += weather.commits;
  for (const times of weather.refused.values()) totals.refused += times;
  totals.spoiled += (await runSpoiledCopies(openFor(seed), seed, 4)).points;
  totals.refused += (await runDamage(openEnvironment, seed)).refused;
}

async function runSeed(seed: number): Promise<void> {
  const hash = await runHistory(seed);
  if (seed % 10 === 0 && (await runHistory(seed)) !== hash) throw new Error('the same seed gave another execution');
  await runClients(seed);
  await runCrashes(seed);
  await runFaults(seed);
}

/** Kills a real server so often; its timing is not the seed's alone. */
async function runKills(rounds: number): Promise<void> {
  console.log(`sim: ${rounds} kills: ${JSON.stringify(await killLoop(rounds, first))}`);
}

async function runSeeds(): Promise<void> {
  let seed = first;
  try {
    for (; seed < first + count && performance.now() < endMs; seed++) await runSeed(seed);
    console.log(`sim: seeds ${first} to ${seed - 1} hold: ${JSON.stringify(totals)}, ${Math.round((totals.crashPoints / crashMs) * 60_000)} crash points a minute of processor time`);
  } catch (error) {
    console.error(`sim: seed ${seed} failed; again with: npm run sim -- --seed ${seed} --seeds 1 --steps ${steps}`);
    console.error(error);
    process.exitCode = 1;
  }
}

if (values.crash === undefined) await runSeeds();
else await runKills(Number(values.crash));
