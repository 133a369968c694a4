// Faults that do not end the machine: failing operations, a full disk, a failed sync, wrong bits; and that a seed is an execution.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '../../src/base/errors.ts';
import { SimStalled } from './sim-clock.ts';
import { SimEnv } from './sim-env.ts';

const page = (value: number): Uint8Array => new Uint8Array(4096).fill(value);

/** The code that an operation fails with, or `done`. */
async function outcome(operation: Promise<unknown>): Promise<string> {
  try {
    await operation;
    return 'done';
  } catch (error) {
    assert.ok(error instanceof EngineError, String(error));
    return error.code;
  }
}

/** Three writes, each synced; the outcome of each step. */
async function program(sim: SimEnv): Promise<string[]> {
  const outcomes: string[] = [];
  const file = await sim.files.open('/a', 'write');
  for (const value of [1, 2, 3]) {
    outcomes.push(await outcome(file.write(page(value), (value - 1) * 4096)));
    outcomes.push(await outcome(file.sync()));
  }
  return outcomes;
}

test('the n-th operation fails, for every n, once or from then on', async () => {
  for (let at = 1; at <= 8; at++) {
    for (const lasting of [false, true]) {
      const sim = await SimEnv.create({ seed: at });
      await sim.run(async () => sim.files.writeWhole('/a', page(0)));
      sim.files.faults.failAt({ at, code: 'io', lasting, kinds: ['write', 'sync'] });
      const result = await sim.run(async () => program(sim));
      assert.equal(result.ended, 'done');
      const expected = Array.from({ length: 6 }, (_, index) => (index + 1 === at || (lasting && index + 1 >= at) ? 'io' : 'done'));
      assert.deepEqual(result.value, expected);
      assert.equal(sim.files.faults.failures > 0, at <= 6);
    }
  }
});

test('a loop over n ends when a run has no n-th operation', async () => {
  let runs = 0;
  for (let at = 1; ; at++) {
    const sim = await SimEnv.create({ seed: 1 });
    sim.files.faults.failAt({ at, code: 'io', lasting: false });
    await sim.run(async () => outcome(program(sim)));
    runs++;
    if (sim.files.faults.failures === 0) break;
  }
  assert.equal(runs, 8);
});

test('a full disk refuses what takes space, may keep a part of it, and goes on when there is room', async () => {
  const sizes = new Set<number>();
  for (let seed = 1; seed <= 50; seed++) {
    const sim = await SimEnv.create({ seed, capacityBytes: 10_000 });
    await sim.run(async () => {
      const file = await sim.files.open('/a', 'create');
      await file.write(page(1), 0);
      await file.write(page(2), 4096);
      assert.equal(await outcome(file.write(page(3), 8192)), 'no-space');
      assert.equal(await outcome(file.truncate(20_000)), 'no-space');
      sizes.add(await file.size());
      assert.equal(await outcome(file.write(page(4), 0)), 'done');
      assert.ok((await sim.files.space('/')).freeBytes <= 10_000 - 8192);
      sim.files.setCapacity(100_000);
      assert.equal(await outcome(file.write(page(3), 8192)), 'done');
    });
  }
  assert.ok(sizes.size > 10 && Math.min(...sizes) >= 8192 && Math.max(...sizes) <= 12_288);
});

test('what a failed sync covered is shown by reads, and may be lost although a later sync succeeds', async () => {
  let lost = 0;
  for (let seed = 1; seed <= 100; seed++) {
    const sim = await SimEnv.create({ seed });
    await sim.run(async () => {
      await sim.files.writeWhole('/a', page(1));
      const file = await sim.files.open('/a', 'write');
      await file.write(page(2), 0);
      sim.files.faults.failAt({ at: 1, code: 'io', lasting: false, kinds: ['sync'] });
      assert.equal(await outcome(file.sync()), 'io');
      assert.equal(await outcome(file.sync()), 'done');
      assert.deepEqual(await sim.files.readAll('/a'), page(2));
    });
    const next = sim.crash();
    await next.run(async () => {
      if (Buffer.compare(await next.files.readAll('/a'), page(2)) !== 0) lost++;
    });
  }
  assert.ok(lost > 30, String(lost));
});

test('what a failed sync covered is safe when it is written again and synced', async () => {
  for (let seed = 1; seed <= 100; seed++) {
    const sim = await SimEnv.create({ seed });
    await sim.run(async () => {
      await sim.files.writeWhole('/a', page(1));
      const file = await sim.files.open('/a', 'write');
      await file.write(page(2), 0);
      sim.files.faults.failAt({ at: 1, code: 'io', lasting: false, kinds: ['sync'] });
      assert.equal(await outcome(file.sync()), 'io');
      await file.write(page(2), 0);
      await file.sync();
    });
    const next = sim.crash();
    await next.run(async () => assert.deepEqual(await next.files.readAll('/a'), page(2)));
  }
});

test('a failed write leaves any part of itself', async () => {
  const seen = new Set<string>();
  for (let seed = 1; seed <= 50; seed++) {
    const sim = await SimEnv.create({ seed });
    await sim.run(async () => {
      await sim.files.writeWhole('/a', page(1));
      const file = await sim.files.open('/a', 'write');
      sim.files.faults.failAt({ at: 1, code: 'io', lasting: false, kinds: ['write'] });
      assert.equal(await outcome(file.write(page(2), 0)), 'io');
      seen.add([...new Set(await sim.files.readAll('/a'))].sort().join(''));
    });
  }
  assert.ok(seen.has('12'));
});

test('a durable write is safe when it resolves', async () => {
  for (let seed = 1; seed <= 100; seed++) {
    const sim = await SimEnv.create({ seed });
    await sim.run(async () => {
      await sim.files.writeWhole('/a', page(1));
      const file = await sim.files.open('/a', 'write', { durableWrites: true });
      await file.write(page(2), 0);
    });
    const next = sim.crash();
    await next.run(async () => assert.deepEqual(await next.files.readAll('/a'), page(2)));
  }
});

test('a bit flips once on a read, or for good on the disk', async () => {
  const sim = await SimEnv.create({ seed: 1 });
  await sim.run(async () => {
    await sim.files.writeWhole('/a', page(1));
    sim.files.flipOnRead('/a', 100, 0x80);
    assert.equal((await sim.files.readAll('/a'))[100], 0x81);
    assert.equal((await sim.files.readAll('/a'))[100], 1);
    sim.files.corrupt('/a', 100, 0x02);
    assert.equal((await sim.files.readAll('/a'))[100], 3);
  });
  const next = sim.crash();
  await next.run(async () => assert.equal((await next.files.readAll('/a'))[100], 3));
});

/** Eight writers beside each other, with sleeps and background work. */
async function busy(sim: SimEnv): Promise<number[]> {
  const order: number[] = [];
  const writer = async (id: number): Promise<void> => {
    const file = await sim.files.open(`/${String(id)}`, 'create');
    for (let round = 0; round < 5; round++) {
      await file.write(sim.random.bytes(100), round * 100);
      await sim.clock.sleep(1);
      order.push(id);
    }
  };
  let slices = 3;
  const work = sim.tasks.background(() => (--slices === 0 ? 'done' : 'more'));
  await Promise.all([work, ...Array.from({ length: 8 }, async (_, id) => writer(id))]);
  return order;
}

test('the same seed gives the same trace, another seed another order', async () => {
  const hashes = new Set<string>();
  const orders = new Set<string>();
  for (const seed of [1, 2, 3, 1, 2, 3]) {
    const sim = await SimEnv.create({ seed });
    const result = await sim.run(async () => busy(sim));
    assert.equal(result.ended, 'done');
    hashes.add(sim.trace.hash);
    orders.add(result.value.join(' '));
  }
  assert.equal(hashes.size, 3);
  assert.equal(orders.size, 3);
});

test('virtual hours pass at once, and a wait for nothing is found', async () => {
  const sim = await SimEnv.create({ seed: 1 });
  const start = sim.clock.nowMs();
  await sim.run(async () => sim.clock.sleep(3_600_000));
  assert.ok(sim.clock.nowMs() - start >= 3_600_000);
  await assert.rejects(sim.run(async () => new Promise(() => undefined)), SimStalled);
});

test('a sleep ends when its signal is aborted', async () => {
  const sim = await SimEnv.create({ seed: 1 });
  await sim.run(async () => {
    const controller = new AbortController();
    const waited = sim.clock.sleep(1_000_000, controller.signal);
    controller.abort();
    await waited;
    assert.ok(sim.clock.time < 1000);
  });
});
