// Power failures at every I/O of random histories (laws 16 to 18 and 22): what is opened is the last published checkpoint or the one being
// published, whole. The same histories run with breaks planted in the store, and each break must be seen.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BlockStore } from '../../../src/engine/block/block-store.ts';
import { SimEnv } from '../../sim/sim-env.ts';
import { SimRandom } from '../../sim/sim-random.ts';
import { plant } from '../../support/plant.ts';
import type { Break } from '../../support/plant.ts';
import { StoreHistory } from './store-history.ts';
import type { Expectation, StoreClass } from './store-history.ts';

/** One history; at every I/O an image of what a power failure leaves then, each of which must open. Returns how many there were. */
async function crashEverywhere(seed: number, Store: StoreClass, script: (history: StoreHistory) => Promise<void>): Promise<number> {
  const sim = await SimEnv.create({ seed });
  const history = new StoreHistory(seed);
  const images: { env: SimEnv; expectation: Expectation }[] = [];
  sim.files.onOperation = (kind) => {
    if (kind !== 'read' && kind !== 'open') images.push({ env: sim.crash(), expectation: history.expectation });
  };
  await sim.run(async () => {
    await history.create(sim, Store);
    await script(history);
  });
  for (const [i, { env, expectation }] of images.entries()) {
    await env.run(async () => new StoreHistory(i).recover(env, Store, expectation));
  }
  return images.length;
}

/** A process that ends during a checkpoint, and a power failure soon after the next start: what was in the page cache only is gone. */
async function twoDeaths(seed: number, Store: StoreClass): Promise<void> {
  const random = new SimRandom(seed).fork('deaths');
  const sim = await SimEnv.create({ seed });
  const first = new StoreHistory(seed);
  await sim.run(async () => {
    await first.create(sim, Store);
    await first.run(15);
    sim.files.faults.crashAt(1 + random.below(4), ['sync']);
    await first.checkpoint();
  });
  const cached = sim.crash('process');
  const second = new StoreHistory(seed + 1);
  cached.files.faults.crashAt(2 + random.below(12), ['write']);
  await cached.run(async () => {
    await second.recover(cached, Store, first.expectation);
    await second.run(10);
  });
  const expected = second.expectation;
  const power = cached.crash('power');
  await power.run(async () => new StoreHistory(seed + 2).recover(power, Store, expected.durable > 0 ? expected : first.expectation));
}

/** The end of the process at each step of making the file; the next start uses what it finds, and a power failure follows. */
async function interruptedCreation(seed: number, Store: StoreClass): Promise<void> {
  for (let at = 1; ; at++) {
    const sim = await SimEnv.create({ seed: seed + at });
    const first = new StoreHistory(seed);
    sim.files.faults.crashAt(at);
    const result = await sim.run(async () => first.create(sim, Store));
    const next = sim.crash('process');
    const second = new StoreHistory(seed + at);
    await next.run(async () => {
      await second.recover(next, Store, first.expectation);
      await second.checkpoint();
    });
    const power = next.crash('power');
    await power.run(async () => new StoreHistory(at).recover(power, Store, second.expectation));
    if (result.ended === 'done') return;
  }
}

/** One history over several lives, each ended at a random I/O by a power failure or by the end of the process alone. */
async function manyLives(seed: number, Store: StoreClass): Promise<void> {
  const random = new SimRandom(seed).fork('lives');
  let sim = await SimEnv.create({ seed });
  let expected: Expectation = new StoreHistory(0).expectation;
  let soon = false;
  for (let life = 0; life < 6; life++) {
    const env = sim;
    const before = expected;
    const history = new StoreHistory(seed * 10 + life);
    // After the end of a process alone a power failure soon after shows what was in the page cache only.
    env.files.faults.crashAt(1 + random.below(soon ? 30 : 120));
    const result = await env.run(async () => {
      await history.recover(env, Store, before);
      await history.run(40);
      await history.checkAll();
    });
    // A life that ended before its recovery was over leaves the choice that it had.
    const reached = history.expectation;
    if (reached.created && (reached.durable > 0 || before.durable === 0)) expected = reached;
    soon = result.ended === 'crashed' && !soon && random.chance(0.6);
    sim = env.crash(soon ? 'process' : 'power');
  }
}

test('a power failure at any I/O leaves the published checkpoint or the one being published, whole', async (t) => {
  let points = 0;
  for (let seed = 1; seed <= 4; seed++) points += await crashEverywhere(seed, BlockStore, async (history) => history.run(70));
  t.diagnostic(`${points} crash points, seeds 1 to 4`);
  assert.ok(points > 400);
});

test('blocks are moved down without a moment at which a power failure loses one', async (t) => {
  let moves = 0;
  let points = 0;
  for (let seed = 1; seed <= 2; seed++) {
    points += await crashEverywhere(seed, BlockStore, async (history) => {
      await history.moveIntoGaps();
      moves += history.moves;
    });
  }
  t.diagnostic(`${moves} moves, ${points} crash points, seeds 1 and 2`);
  assert.ok(moves > 10);
});

test('a store that is recovered goes on, and survives the next failure as well', async () => {
  for (let seed = 1; seed <= 20; seed++) await manyLives(seed, BlockStore);
});

test('what recovery found in the page cache only is on the disk before anything relies on it', async () => {
  for (let seed = 1; seed <= 40; seed++) await twoDeaths(seed, BlockStore);
});

test('a file that was being made when the process ended is whole or not there, and stays once it is used', async () => {
  for (let seed = 1; seed <= 10; seed++) await interruptedCreation(100 * seed, BlockStore);
});

/** One try to notice a break. */
type Attempt = (seed: number, Store: StoreClass) => Promise<unknown>;

const anyFailure: Attempt = async (seed, Store) => {
  await manyLives(seed, Store);
  if (seed <= 4) await crashEverywhere(seed, Store, async (history) => history.run(70));
};
const movedAway: Attempt = async (seed, Store) => crashEverywhere(seed, Store, async (history) => history.moveIntoGaps());
const creation: Attempt = async (seed, Store) => interruptedCreation(100 * seed, Store);

interface Planted extends Break {
  readonly name: string;
  readonly attempt?: Attempt;
}

const store = 'block/block-store.js';
const lives = 'block/image-lives.js';

const breaks: readonly Planted[] = [
  {
    name: 'space of the durable checkpoint is used again before the next is durable (law 16)',
    file: lives,
    from: 'if (images.isIn(slot, this.durable) || (this.captured !== undefined && images.isIn(slot, this.captured)))',
    to: 'if (this.captured !== undefined && images.isIn(slot, this.captured))',
  },
  {
    name: 'space of the checkpoint being written is used again (law 16)',
    file: lives,
    from: 'if (images.isIn(slot, this.durable) || (this.captured !== undefined && images.isIn(slot, this.captured)))',
    to: 'if (images.isIn(slot, this.durable))',
  },
  {
    name: 'space under a read is used again (law 16)',
    file: lives,
    from: 'this.#readers.has(slot) || ',
    to: '',
  },
  {
    name: 'the superblock is written before its blocks are synced (law 17)',
    file: store,
    from: 'await this.#file.sync();',
    to: '',
  },
  {
    name: 'space is freed before the superblock is durable (law 17)',
    file: 'block/data-file.js',
    from: 'await file.sync();',
    to: '',
  },
  {
    name: 'a block that no edit took is in the checkpoint',
    file: store,
    from: 'this.#lives.enter(place, never);',
    to: 'this.#lives.enter(place, 0);',
  },
  {
    name: 'what is dropped after the capture is missing in the checkpoint (law 17)',
    file: store,
    from: 'this.#lives.retire(slot, epoch);',
    to: 'this.#lives.retire(slot, captured ?? epoch);',
  },
  {
    name: 'the name of the file is not synced before it is used (law 24)',
    file: store,
    from: 'await env.files.syncDirectory(directoryOf(path));',
    to: '',
    attempt: creation,
  },
  {
    name: 'the old place of a moved block is free at once (law 16)',
    file: store,
    from: 'this.#lives.retire(slot, this.#lives.epoch);',
    to: 'this.#lives.retire(slot, 0);',
    attempt: movedAway,
  },
  {
    name: 'recovery does not write the chosen superblock again (law 22)',
    file: store,
    from: 'await writeSuperblock(file, chosen.superblock, chosen.slot);',
    to: '',
    attempt: twoDeaths,
  },
];

for (const planted of breaks) {
  test(`planted break is seen: ${planted.name}`, async (t) => {
    const module = (await plant('engine', store, planted)) as { BlockStore: StoreClass };
    const seen = await firstFailure(module.BlockStore, planted.attempt ?? anyFailure);
    assert.ok(seen !== undefined, 'no history noticed');
    t.diagnostic(`caught: ${seen}`);
  });
}

/** The first seed under which an attempt fails, and how. */
async function firstFailure(Store: StoreClass, attempt: Attempt): Promise<string | undefined> {
  for (let seed = 1; seed <= 200; seed++) {
    try {
      await attempt(seed, Store);
    } catch (error) {
      return `seed ${seed}, ${error instanceof Error ? error.message : 'unknown'}`;
    }
  }
  return undefined;
}
