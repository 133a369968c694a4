// The simulator must be worse than any disk, or the tests on it prove nothing: each kind of loss is seen to happen under some seed, and what
// was synced is never lost under any.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FileSystem } from '../../src/env/index.ts';
import { SimEnv } from './sim-env.ts';
import type { SimFiles } from './sim-files.ts';

const seeds = Array.from({ length: 200 }, (_, index) => index + 1);

/** Runs a program and gives the disk of the next start, for each seed. */
async function afterPowerLoss(program: (files: SimFiles) => Promise<void>, inspect: (files: FileSystem, seed: number) => Promise<void>): Promise<void> {
  for (const seed of seeds) {
    const sim = await SimEnv.create({ seed });
    await sim.run(async () => program(sim.files));
    const next = sim.crash();
    await next.run(async () => inspect(next.files, seed));
  }
}

async function synced(files: FileSystem, path: string, content: Uint8Array): Promise<void> {
  const file = await files.open(path, 'create');
  await file.write(content, 0);
  await file.sync();
  await file.close();
  await files.syncDirectory('/');
}

async function contentOf(files: FileSystem, path: string): Promise<Uint8Array | undefined> {
  return (await files.exists(path)) ? files.readAll(path) : undefined;
}

/** How often each outcome was seen. */
class Tally {
  readonly #counts = new Map<string, number>();

  add(outcome: string): void {
    this.#counts.set(outcome, this.of(outcome) + 1);
  }

  of(outcome: string): number {
    return this.#counts.get(outcome) ?? 0;
  }
}

const old = new Uint8Array(8192).fill(1);
const fresh = new Uint8Array(8192).fill(2);

function describe(content: Uint8Array | undefined): string {
  if (content === undefined) return 'missing';
  if (content.length === 0) return 'empty';
  const sectors = new Set<string>();
  for (let at = 0; at < content.length; at += 512) {
    const values: Set<number> = new Set<number>(content.subarray(at, Math.min(at + 512, content.length)));
    assert.equal(values.size, 1, 'a sector is never torn inside');
    sectors.add(String([...values][0]));
  }
  return [...sectors].sort().join('');
}

test('what was synced, name and content, survives every power failure', async () => {
  await afterPowerLoss(
    async (files) => synced(files, '/a', old),
    async (files) => assert.deepEqual(await contentOf(files, '/a'), old),
  );
});

test('an unsynced overwrite is lost, kept and torn, sector by sector', async () => {
  const tally = new Tally();
  await afterPowerLoss(
    async (files) => {
      await synced(files, '/a', old);
      const file = await files.open('/a', 'write');
      await file.write(fresh, 0);
    },
    async (files) => tally.add(describe(await contentOf(files, '/a'))),
  );
  for (const outcome of ['1', '2', '12']) assert.ok(tally.of(outcome) > 10, `${outcome}: ${String(tally.of(outcome))}`);
});

test('a program that never syncs loses data under some seed, one that does under none', async () => {
  let lost = 0;
  for (const syncs of [true, false]) {
    await afterPowerLoss(
      async (files) => {
        await synced(files, '/a', old);
        const file = await files.open('/a', 'write');
        for (let block = 0; block < 16; block++) {
          await file.write(fresh.subarray(0, 512), block * 512);
          if (syncs) await file.sync();
        }
      },
      async (files) => {
        const whole = describe(await contentOf(files, '/a')) === '2';
        if (syncs) assert.ok(whole);
        else if (!whole) lost++;
      },
    );
  }
  assert.ok(lost > 50);
});

test('an unsynced append leaves any size, and zeros where its data did not arrive', async () => {
  const tally = new Tally();
  const sizes = new Set<number>();
  await afterPowerLoss(
    async (files) => {
      await synced(files, '/a', old);
      const file = await files.open('/a', 'write');
      await file.write(fresh, 8192);
      await file.write(fresh, 16_384);
    },
    async (files) => {
      const content = (await contentOf(files, '/a')) as Uint8Array;
      assert.deepEqual(content.subarray(0, 8192), old);
      sizes.add(content.length);
      tally.add(describe(content.subarray(8192)));
    },
  );
  assert.ok(sizes.has(8192) && sizes.has(24_576) && sizes.size > 4);
  for (const outcome of ['empty', '2', '02', '0']) assert.ok(tally.of(outcome) > 0, outcome);
});

test('later writes may survive earlier ones', async () => {
  let reordered = 0;
  await afterPowerLoss(
    async (files) => {
      await synced(files, '/a', old);
      const file = await files.open('/a', 'write');
      await file.write(fresh.subarray(0, 512), 0);
      await file.write(fresh.subarray(0, 512), 4096);
    },
    async (files) => {
      const content = (await contentOf(files, '/a')) as Uint8Array;
      if (content[0] === 1 && content[4096] === 2) reordered++;
    },
  );
  assert.ok(reordered > 10);
});

test('a sector that was written twice is left in any of its states', async () => {
  const seen = new Set<number>();
  await afterPowerLoss(
    async (files) => {
      await synced(files, '/a', old);
      const file = await files.open('/a', 'write');
      for (const value of [2, 3, 4]) await file.write(new Uint8Array(512).fill(value), 0);
    },
    async (files) => void seen.add(((await contentOf(files, '/a')) as Uint8Array)[0] as number),
  );
  assert.deepEqual([...seen].sort(), [1, 2, 3, 4]);
});

test('a cut that was not synced may be undone, and then nothing behind it is there', async () => {
  const tally = new Tally();
  await afterPowerLoss(
    async (files) => {
      await synced(files, '/a', old);
      const file = await files.open('/a', 'write');
      await file.truncate(0);
      await file.write(fresh, 0);
    },
    async (files) => tally.add(describe(await contentOf(files, '/a'))),
  );
  for (const outcome of ['1', 'empty', '2', '02']) assert.ok(tally.of(outcome) > 0, outcome);
  assert.equal(tally.of('12'), 0);
});

test('a new file is gone without a sync of its directory, though its content was synced', async () => {
  const tally = new Tally();
  await afterPowerLoss(
    async (files) => {
      const file = await files.open('/a', 'create');
      await file.write(old, 0);
      await file.sync();
    },
    async (files) => tally.add(describe(await contentOf(files, '/a'))),
  );
  assert.ok(tally.of('missing') > 20);
  assert.ok(tally.of('1') > 20);
  assert.equal(tally.of('missing') + tally.of('1'), seeds.length);
});

test('a directory that was synced keeps its names, although a sync of another that began later ended before', async () => {
  const tally = new Tally();
  await afterPowerLoss(
    async (files) => {
      for (const directory of ['/x', '/y']) await files.makeDirectory(directory);
      await files.syncDirectory('/');
      await (await files.open('/x/a', 'create')).close();
      const first = files.syncDirectory('/x');
      await (await files.open('/y/b', 'create')).close();
      await Promise.all([files.syncDirectory('/y'), first]);
    },
    async (files) => tally.add(String(await files.exists('/x/a')) + String(await files.exists('/y/b'))),
  );
  assert.equal(tally.of('truetrue'), seeds.length);
});

test('a removed file comes back without a sync of its directory, and stays away with one', async () => {
  for (const syncs of [false, true]) {
    const tally = new Tally();
    await afterPowerLoss(
      async (files) => {
        await synced(files, '/a', old);
        await files.remove('/a');
        if (syncs) await files.syncDirectory('/');
      },
      async (files) => tally.add(describe(await contentOf(files, '/a'))),
    );
    assert.equal(tally.of('1') > 0, !syncs);
    assert.ok(tally.of('missing') > 0);
  }
});

test('renaming over a file without syncing its content first can leave neither content', async () => {
  for (const careful of [false, true]) {
    const tally = new Tally();
    await afterPowerLoss(
      async (files) => {
        await synced(files, '/a', old);
        if (careful) return files.writeWhole('/a', fresh);
        const file = await files.open('/b', 'create');
        await file.write(fresh, 0);
        await files.rename('/b', '/a');
        return files.syncDirectory('/');
      },
      async (files) => tally.add(describe(await contentOf(files, '/a'))),
    );
    if (careful) assert.equal(tally.of('2'), seeds.length);
    else assert.ok(tally.of('2') < seeds.length && tally.of('empty') > 0);
  }
});

test('a replacing write that is cut anywhere leaves the old or the new content whole', async () => {
  for (let at = 1; ; at++) {
    const sim = await SimEnv.create({ seed: at });
    await sim.run(async () => synced(sim.files, '/a', old));
    sim.files.faults.crashAt(at);
    const result = await sim.run(async () => sim.files.writeWhole('/a', fresh));
    const next = sim.crash();
    await next.run(async () => assert.ok(['1', '2'].includes(describe(await contentOf(next.files, '/a')))));
    if (result.ended === 'done') {
      assert.ok(at > 4);
      return;
    }
  }
});

test('files in a directory whose own name was not synced go with it', async () => {
  const tally = new Tally();
  await afterPowerLoss(
    async (files) => {
      await files.makeDirectory('/d');
      const file = await files.open('/d/a', 'create');
      await file.write(old, 0);
      await file.sync();
      await files.syncDirectory('/d');
    },
    async (files) => tally.add((await files.exists('/d')) ? describe(await contentOf(files, '/d/a')) : 'no directory'),
  );
  assert.ok(tally.of('no directory') > 10);
  assert.equal(tally.of('1') + tally.of('no directory'), seeds.length);
});

test('a sync does not cover a write that was still under way when it began', async () => {
  let lost = 0;
  for (const seed of seeds) {
    const sim = await SimEnv.create({ seed });
    await sim.run(async () => {
      await synced(sim.files, '/a', old);
      const file = await sim.files.open('/a', 'write');
      await Promise.all([file.write(fresh, 0), file.sync()]);
    });
    const next = sim.crash();
    await next.run(async () => {
      if (describe(await contentOf(next.files, '/a')) !== '2') lost++;
    });
  }
  assert.ok(lost > 50);
});

test('a crash in the middle of a write finds any part of it on the disk', async () => {
  const tally = new Tally();
  for (const seed of seeds) {
    const sim = await SimEnv.create({ seed });
    await sim.run(async () => synced(sim.files, '/a', old));
    sim.files.faults.crashAt(1);
    const result = await sim.run(async () => {
      const file = await sim.files.open('/a', 'write');
      await file.write(fresh, 0);
    });
    assert.equal(result.ended, 'crashed');
    const next = sim.crash();
    await next.run(async () => tally.add(describe(await contentOf(next.files, '/a'))));
  }
  for (const outcome of ['1', '2', '12']) assert.ok(tally.of(outcome) > 5, outcome);
});

test('the end of the process alone keeps what was written, but makes it no safer', async () => {
  const tally = new Tally();
  for (const seed of seeds) {
    const sim = await SimEnv.create({ seed });
    await sim.run(async () => {
      await synced(sim.files, '/a', old);
      const file = await sim.files.open('/a', 'write');
      await file.write(fresh, 0);
    });
    const restarted = sim.crash('process');
    await restarted.run(async () => assert.equal(describe(await contentOf(restarted.files, '/a')), '2'));
    const next = restarted.crash('power');
    await next.run(async () => tally.add(describe(await contentOf(next.files, '/a'))));
  }
  assert.ok(tally.of('1') > 10 && tally.of('2') > 10);
});

test('one run gives a crash image of each of its steps and is not disturbed by them', async () => {
  const sim = await SimEnv.create({ seed: 7 });
  const images: SimEnv[] = [];
  let acknowledged = 0;
  const acknowledgedAt: number[] = [];
  sim.files.onOperation = () => {
    images.push(sim.crash());
    acknowledgedAt.push(acknowledged);
  };
  await sim.run(async () => {
    await synced(sim.files, '/a', new Uint8Array(1));
    const file = await sim.files.open('/a', 'write');
    for (let block = 1; block <= 100; block++) {
      await file.write(new Uint8Array(512).fill(block), (block - 1) * 512);
      await file.sync();
      acknowledged = block;
    }
  });
  assert.ok(images.length > 200);
  for (const [index, image] of images.entries()) {
    await image.run(async () => {
      const content = (await contentOf(image.files, '/a')) ?? new Uint8Array(0);
      for (let block = 1; block <= (acknowledgedAt[index] as number); block++) assert.equal(content[block * 512 - 1], block);
    });
  }
});
