// Histories on a machine that has worse than power failures. *Weather*: reads fail once, the disk is full for a while, it is slow for a while, and all of
// that passes; nobody may be refused afterwards, and nothing may be missing. *Interrupted*: after a crash, recovery is ended at its first I/O, the next one
// at its second, and so on, by power failures and ends of the process, until one comes to its end. *Spoiled copies*: of what is there twice, one copy
// is spoiled between two starts; it costs nothing.

import assert from 'node:assert/strict';
import { unitBytes } from '../../src/engine/block/block-number.ts';
import { blockKinds } from '../../src/engine/block/block-table.ts';
import { superblockUnits } from '../../src/engine/block/superblock.ts';
import { FoundStore } from '../../src/engine/salvage/found-store.ts';
import { SimEnv } from '../sim/sim-env.ts';
import { SimRandom } from '../sim/sim-random.ts';
import { assertState, Clients, Ledger } from './concurrent-history.ts';
import { clientOptions, resume, tallyOf } from './crash-history.ts';
import type { Tally } from './crash-history.ts';
import type { OpenEnvironment } from './history.ts';

/** What passes by, and with which codes it may refuse work while it does. */
const weathers: readonly { readonly codes: readonly string[]; readonly begin: (sim: SimEnv, random: SimRandom) => void }[] = [
  // A merge takes what the disk does not give for damaged.
  { codes: ['io', 'corruption'], begin: ({ files }, random) => files.faults.failAt({ at: 1 + random.below(40), code: 'io', lasting: false, kinds: ['read'] }) },
  { codes: ['io', 'corruption'], begin: ({ files }, random) => files.faults.failAt({ at: 1 + random.below(10), code: 'io', lasting: true, kinds: ['read'] }) },
  { codes: ['no-space'], begin: (sim, random) => sim.files.setCapacity(random.pick([1, 300_000])) },
  { codes: [], begin: ({ files }, random) => {
    const kinds = random.pick([['read'], ['write', 'sync'], ['sync']] as const);
    files.slow = (kind) => ((kinds as readonly string[]).includes(kind) ? 30 : 0);
  } },
];

/** Clients in changing weather, with starts in between, some of them behind a crash. */
export async function runWeather(open: OpenEnvironment, seed: number, lives: number): Promise<Tally> {
  const random = new SimRandom(seed).fork('weather');
  const ledger = new Ledger({ ...clientOptions(random), durability: 'sync' });
  let sim = await SimEnv.create({ seed });
  for (let life = 0; life < lives; life++) {
    const env = sim;
    await env.run(async () => {
      const engine = await open(env, '/data', ledger.options);
      await resume(ledger, engine);
      const clients = new Clients(env, random.fork(`life ${String(life)}`), ledger, engine);
      for (let i = 0; i < 3; i++) {
        const weather = weathers[(seed + life * 3 + i) % weathers.length] as (typeof weathers)[number];
        ledger.weather = new Set(weather.codes);
        weather.begin(env, random);
        await clients.run(10);
        await env.clock.sleep(random.pick([1, 500, 2500]));
        env.files.faults.heal();
        env.files.setCapacity(2 ** 30);
        env.files.slow = undefined;
        // A full disk is looked at five times a second.
        await env.clock.sleep(1500);
        ledger.weather = new Set();
        await clients.run(4);
      }
      assert.equal(await Promise.race([engine.fatal, env.clock.sleep(1).then(() => undefined)]), undefined, 'weather ends nothing');
      await assertState(engine, ledger.stateAt(Infinity));
      if (life % 2 === 0) await engine.close();
    });
    ledger.judgeSights();
    ledger.sights.length = 0;
    sim = env.crash('power');
  }
  await sim.run(async () => {
    const engine = await open(sim, '/data', ledger.options);
    await resume(ledger, engine);
    await engine.close();
  });
  return tallyOf(ledger, lives);
}

/** Recovery that is ended at each of its I/Os in turn. */
export async function runInterrupted(open: OpenEnvironment, seed: number): Promise<Tally> {
  const random = new SimRandom(seed).fork('interrupted');
  const ledger = new Ledger(clientOptions(random));
  let sim = await SimEnv.create({ seed });
  const first = sim;
  first.files.faults.crashAt(80 + random.below(300));
  await first.run(async () => {
    const engine = await open(first, '/data', ledger.options);
    await new Clients(first, random.fork('clients'), ledger, engine).run(60);
    await engine.close();
  });
  ledger.judgeSights();
  let points = 0;
  for (let at = 1; ; at++) {
    const env = sim.crash(random.chance(0.4) ? 'process' : 'power');
    env.files.faults.crashAt(at);
    const { ended } = await env.run(async () => open(env, '/data', ledger.options));
    sim = env;
    if (ended === 'done') break;
    points += 1;
    assert.ok(points < 2000, 'recovery comes to its end');
  }
  const last = sim.crash('power');
  await last.run(async () => {
    const engine = await open(last, '/data', ledger.options);
    await resume(ledger, engine);
    await engine.close();
  });
  return tallyOf(ledger, points);
}

/** Spoils one copy of some of what is there twice: nodes and dictionary table, or of one superblock slot. `before`: units that were spoiled, whose twins are left alone. */
async function spoilCopies(sim: SimEnv, random: SimRandom, before: Set<number>): Promise<number> {
  const path = '/data/data.frond';
  const store = await FoundStore.open(sim, path, () => undefined);
  const places = [...store.places.values()].filter(({ kind }) => kind === blockKinds.meta);
  await store.close();
  let spoiled = 0;
  const spoil = (first: number, second: number, length: number): void => {
    const [unit, twin] = random.chance(0.5) ? [first, second] : [second, first];
    if (before.has(twin)) return;
    sim.files.corrupt(path, unit * unitBytes + random.below(length), 1 << random.below(8));
    before.add(unit);
    spoiled += 1;
  };
  for (const { first, second, length } of places) if (random.chance(0.4)) spoil(first, second, length);
  // A start writes the chosen one again, the next checkpoint the other.
  for (const slot of [0, 1]) if (random.chance(0.3)) spoil(slot, slot + 64, 150);
  for (const unit of superblockUnits.flat()) before.delete(unit);
  return spoiled;
}

/** Lives of a directory with spoiled copies between them. */
export async function runSpoiledCopies(open: OpenEnvironment, seed: number, lives: number): Promise<Tally> {
  const random = new SimRandom(seed).fork('copies');
  const ledger = new Ledger({ ...clientOptions(random), durability: 'sync' });
  let sim = await SimEnv.create({ seed });
  let points = 0;
  const spoiled = new Set<number>();
  for (let life = 0; life < lives; life++) {
    const env = sim;
    await env.run(async () => {
      if (life > 0) points += await spoilCopies(env, random, spoiled);
      const engine = await open(env, '/data', ledger.options);
      await assertState(engine, ledger.stateAt(Infinity));
      await new Clients(env, random.fork(`life ${String(life)}`), ledger, engine).run(25);
      await assertState(engine, ledger.stateAt(Infinity));
      if (random.chance(0.5)) await env.clock.sleep(3000);
      await engine.close();
    });
    ledger.judgeSights();
    ledger.sights.length = 0;
    sim = env.crash('power');
  }
  return tallyOf(ledger, points);
}
