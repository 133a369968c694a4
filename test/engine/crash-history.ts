// Histories of clients side by side that a crash ends: at any I/O, by a power failure or by the end of the process alone, during recovery
// too. What the next start finds must be the commits up to some seq, every acknowledged one among them, nothing by half, and files without a
// fault; and it goes on from there.

import assert from 'node:assert/strict';
import type { EngineOptions, Environment } from '../../src/engine/index.ts';
import { SimEnv } from '../sim/sim-env.ts';
import type { SimOptions } from '../sim/sim-env.ts';
import { SimRandom } from '../sim/sim-random.ts';
import { allRows, hex, smallOptions } from './history.ts';
import type { OpenEnvironment } from './history.ts';
import { assertState, catalog, Clients, Ledger } from './concurrent-history.ts';

/** Small everything, locks that are waited for shortly, sometimes a cache in which commits are applied in slices. */
export function clientOptions(random: SimRandom): Partial<EngineOptions> {
  return { ...smallOptions(random), lockWaitMs: random.pick([5, 100, 30_000]) };
}

/** What a history came to. */
export interface Tally {
  readonly commits: number;
  readonly refused: ReadonlyMap<string, number>;
  readonly points: number;
}

export function tallyOf(ledger: Ledger, points: number): Tally {
  return { commits: ledger.commits.length, refused: ledger.refused, points };
}

/** Runs clients to their end, judges what they saw, and what is there then and after opening again. */
export async function runConcurrent(open: OpenEnvironment, machine: SimOptions, transactions: number): Promise<Tally> {
  const sim = await SimEnv.create(machine);
  const random = new SimRandom(machine.seed).fork('clients');
  const ledger = new Ledger(clientOptions(random));
  await sim.run(async () => {
    const engine = await open(sim, '/data', ledger.options);
    await new Clients(sim, random, ledger, engine).run(transactions);
    await assertState(engine, ledger.stateAt(Infinity));
    assert.deepEqual((await engine.verify()).problems, []);
    await engine.close();
    const again = await open(sim, '/data', { ...ledger.options, ...clientOptions(random) });
    if (random.chance(0.5)) await new Clients(sim, random, ledger, again).run(transactions);
    await assertState(again, ledger.stateAt(Infinity));
    assert.deepEqual((await again.verify()).problems, []);
    await again.close();
  });
  ledger.judgeSights();
  return tallyOf(ledger, 0);
}

/** The machine at one moment, with what had been acknowledged by then. */
interface CrashImage {
  readonly sim: SimEnv;
  readonly ackedSeq: number;
  readonly operation: number;
}

/** Runs clients once and takes an image of what a power failure leaves at about every `stride`-th I/O; judges each. */
export async function runImages(open: OpenEnvironment, machine: SimOptions, transactions: number, stride: number): Promise<Tally> {
  const sim = await SimEnv.create(machine);
  const random = new SimRandom(machine.seed).fork('images');
  const ledger = new Ledger(clientOptions(random));
  const images: CrashImage[] = [];
  let operation = 0;
  sim.files.onOperation = () => {
    operation += 1;
    if (random.below(stride) === 0) images.push({ sim: sim.crash(), ackedSeq: ledger.ackedSeq, operation });
  };
  await sim.run(async () => {
    const engine = await open(sim, '/data', ledger.options);
    await new Clients(sim, random, ledger, engine).run(transactions);
    await engine.close();
  });
  ledger.judgeSights();
  for (const image of images) {
    try {
      await judgeImage(open, ledger, image);
    } catch (cause) {
      throw new Error(`operation ${image.operation}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    }
  }
  return tallyOf(ledger, images.length);
}

async function judgeImage(open: OpenEnvironment, ledger: Ledger, image: CrashImage): Promise<void> {
  let { sim } = image;
  if (image.operation % 2 === 0) {
    sim.files.faults.crashAt(1 + (image.operation % 19));
    const result = await sim.run(async () => (await open(sim, '/data', ledger.options)).close());
    if (result.ended === 'crashed') sim = sim.crash(image.operation % 4 === 0 ? 'process' : 'power');
  }
  await sim.run(async () => {
    const engine = await open(sim, '/data', ledger.options);
    const found = ledger.isDurable ? engine.visible : await newestMarked(ledger, engine);
    if (ledger.isDurable) assert.ok(found >= image.ackedSeq, `seq ${image.ackedSeq} was acknowledged, ${found} is there`);
    assert.deepEqual((await engine.verify()).problems, []);
    await assertState(engine, ledger.stateAt(found));
    await engine.close();
  });
}

/** One directory through several lives, each ended at some I/O by a power failure or by the end of the process alone. */
export async function runLives(open: OpenEnvironment, seed: number, lives: number): Promise<Tally> {
  const random = new SimRandom(seed).fork('lives');
  const ledger = new Ledger(clientOptions(random));
  let sim = await SimEnv.create({ seed });
  let soon = false;
  for (let life = 0; life < lives; life++) {
    const env = sim;
    const options = life === 0 || random.chance(0.5) ? ledger.options : { ...clientOptions(random), durability: ledger.options.durability ?? 'sync' };
    // After the end of a process alone a power failure soon after shows what was in the page cache only.
    env.files.faults.crashAt(1 + random.below(soon ? 40 : 250));
    const result = await env.run(async () => {
      const engine = await open(env, '/data', options);
      await resume(ledger, engine);
      await new Clients(env, random.fork(`life ${String(life)}`), ledger, engine).run(25);
      await engine.close();
    });
    ledger.judgeSights();
    ledger.sights.length = 0;
    soon = result.ended === 'crashed' && !soon && random.chance(0.6);
    sim = env.crash(soon ? 'process' : 'power');
  }
  await sim.run(async () => {
    const engine = await open(sim, '/data', ledger.options);
    await resume(ledger, engine);
    await engine.close();
  });
  return tallyOf(ledger, lives);
}

async function marksIn(engine: Environment): Promise<ReadonlySet<string | undefined>> {
  const read = engine.begin('read');
  const marks = new Set((await allRows(read, catalog, 1)).map((row) => row.split('=')[0]));
  read.abort();
  return marks;
}

/** The newest commit that has left its mark. Where the last ones may go, later seqs may be commits of the environment itself. */
async function newestMarked(ledger: Ledger, engine: Environment): Promise<number> {
  const marks = await marksIn(engine);
  return Math.max(0, ...ledger.commits.map(({ mark, seq }) => (marks.has(hex(new TextEncoder().encode(mark))) ? (seq ?? 0) : 0)));
}

/** Judges what a start finds, by the marks of commits; those that are not there are forgotten. */
export async function resume(ledger: Ledger, engine: Environment): Promise<void> {
  const found = engine.visible;
  if (ledger.isDurable) assert.ok(found >= ledger.ackedSeq, `seq ${ledger.ackedSeq} was acknowledged, ${found} is there`);
  assert.deepEqual((await engine.verify()).problems, []);
  const marks = await marksIn(engine);
  const isThere = ({ mark }: { readonly mark: string }): boolean => marks.has(hex(new TextEncoder().encode(mark)));
  const kept = ledger.commits.filter((commit) => isThere(commit) || (ledger.isDurable && commit.seq !== undefined && commit.seq <= found));
  if (!ledger.isDurable) {
    // Only the last may have gone. Their seqs are others' by now, for the environment itself commits too.
    const last = Math.max(0, ...kept.map(({ seq }) => seq ?? 0));
    for (const commit of ledger.commits) assert.ok(isThere(commit) || commit.seq === undefined || commit.seq > last, `commit ${commit.mark} has gone, and a later one is there`);
  }
  // Of those that nobody heard of the order does not matter: each held its locks to the end.
  for (const commit of kept) commit.seq ??= found;
  ledger.commits.splice(0, Infinity, ...kept);
  ledger.ackedSeq = found;
  await assertState(engine, ledger.stateAt(found));
}
