// Hot backups beside writers, on the simulated machine: what opens is the state at some seq, with every commit that was acknowledged before the
// backup began; a backup that was cut off does not open as anything; the environment that was copied loses nothing by it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '../../src/base/errors.ts';
import type { Environment } from '../../src/engine/index.ts';
import { openEnvironment } from '../../src/engine/index.ts';
import { SimEnv } from '../sim/sim-env.ts';
import { SimRandom } from '../sim/sim-random.ts';
import { assertState, catalog, Clients, Ledger } from './concurrent-history.ts';
import { allRows, smallOptions } from './history.ts';
import type { OpenEnvironment } from './history.ts';
import { spilling } from './spilling.ts';

const seeds = Number(process.env['FROND_HISTORIES'] ?? 4);

async function backUpBesideClients(seed: number, open: OpenEnvironment = openEnvironment): Promise<{ readonly copies: number; readonly refused: number }> {
  const sim = await SimEnv.create({ seed });
  const random = new SimRandom(seed).fork('backup');
  const ledger = new Ledger({ ...smallOptions(random), lockWaitMs: 30_000, durability: 'sync' });
  let copies = 0;
  let refused = 0;
  await sim.run(async () => {
    const engine = await open(sim, '/data', ledger.options);
    const writers = { areDone: false };
    const clients = new Clients(sim, random, ledger, engine).run(150).finally(() => {
      writers.areDone = true;
    });
    while (!writers.areDone) {
      await sim.clock.sleep(random.below(30));
      const acked = ledger.ackedSeq;
      const target = `/copies/${String(copies + refused)}`;
      try {
        await engine.backup(target);
      } catch (error) {
        if (!(error instanceof Error) || !('code' in error) || error.code !== 'no-space') throw error;
        refused += 1;
        continue;
      }
      copies += 1;
      const copy = await open(sim, target, ledger.options);
      assert.ok(copy.visible >= acked, `seq ${String(acked)} was acknowledged before, ${String(copy.visible)} is in the copy`);
      assert.deepEqual((await copy.verify()).problems, []);
      await assertState(copy, ledger.stateAt(copy.visible));
      await copy.close();
    }
    await clients;
    assert.deepEqual((await engine.verify()).problems, []);
    await engine.close();
    const again = await open(sim, '/data', ledger.options);
    await assertState(again, ledger.stateAt(Infinity));
    await again.close();
  });
  return { copies, refused };
}

test('a backup beside writers opens with everything that was acknowledged before it began', async (context) => {
  let copies = 0;
  for (let seed = 1; seed <= seeds; seed++) {
    try {
      copies += (await backUpBesideClients(seed)).copies;
    } catch (cause) {
      throw new Error(`seed ${String(seed)}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    }
  }
  assert.ok(copies >= seeds);
  context.diagnostic(`${String(copies)} backups beside ${String(seeds)} histories`);
});

test('a directory that holds something is not written to, and one backup is made at a time', async () => {
  const sim = await SimEnv.create({ seed: 1 });
  await sim.run(async () => {
    const engine = await openEnvironment(sim, '/data', { cacheBytes: 1 << 20 });
    await assert.rejects(engine.backup('/data'), { code: 'io' });
    const first = engine.backup('/copy');
    await assert.rejects(engine.backup('/other'), { code: 'locked' });
    await first;
    await engine.backup('/other');
    await engine.close();
  });
});

test('a backup that a power failure cuts off does not open as an empty environment', async () => {
  const whole = await operationsOfBackup();
  for (let cut = 1; cut < whole; cut += 3) {
    const sim = await filled(cut);
    sim.machine.files.faults.crashAt(cut);
    await sim.machine.run(() => sim.engine.backup('/copy'));
    const next = sim.machine.crash('power');
    await next.run(async () => {
      // Nothing of it may have come to the disk; what has is whole, or is refused.
      if (!(await next.files.exists('/copy/log'))) return;
      const found = await openEnvironment(next, '/copy', { cacheBytes: 1 << 20 }).catch((error: unknown) => error);
      if (found instanceof EngineError) assert.equal(found.code, 'corruption');
      else assert.equal((await allRows((found as Environment).begin('read'), catalog, 1)).length, 100, `cut at operation ${String(cut)} it opens without its rows`);
    });
  }
});

async function filled(seed: number): Promise<{ readonly machine: SimEnv; readonly engine: Environment }> {
  const machine = await SimEnv.create({ seed });
  let engine: Environment | undefined;
  await machine.run(async () => {
    engine = await openEnvironment(machine, '/data', { cacheBytes: 1 << 20, checkpointPeriodMs: 1e9 });
    for (let i = 0; i < 100; i++) {
      const txn = engine.begin('statement');
      await txn.put(engine.catalogDictionary, Uint8Array.of(i), new Uint8Array(50));
      await txn.commit();
    }
  });
  assert.ok(engine !== undefined);
  return { machine, engine };
}

async function operationsOfBackup(): Promise<number> {
  const { machine, engine } = await filled(1);
  const before = machine.files.operations;
  await machine.run(() => engine.backup('/copy'));
  return machine.files.operations - before;
}

test('a backup beside transactions that spill opens with whole commits', async () => {
  for (let seed = 1; seed <= 2; seed++) await backUpBesideClients(seed, spilling(openEnvironment));
});

test('a backup beside a load has all of its rows if it has a commit that came after it', async () => {
  const sim = await SimEnv.create({ seed: 3 });
  const options = { cacheBytes: 1024 * 1024, dictionary: { compression: 'lz4' as const, pageBytes: 2048, readPageBytes: 1024, fanout: 4 } };
  const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
  await sim.run(async () => {
    const engine = await openEnvironment(sim, '/data', options);
    let copies = 0;
    let [withIt, without] = [0, 0];
    for (let round = 0; round < 6; round++) {
      const first = engine.begin('statement');
      const id = first.createDictionary();
      await first.commit();
      const load = engine.load(id);
      for (let i = 0; i < 500; i++) await load.add(encode(`row ${i}`), encode('x'));
      const ready = load.finish().then(async () => {
        const commit = engine.begin('statement');
        await commit.put(catalog, encode(`ready ${round}`), encode('.'));
        await commit.commit();
      });
      await sim.clock.sleep(round * 3);
      const target = `/copies/${copies++}`;
      await engine.backup(target);
      await ready;
      const copy = await openEnvironment(sim, target, options);
      const read = copy.begin('read');
      const isReady = (await read.get(catalog, encode(`ready ${round}`))) !== undefined;
      const rows = await allRows(read, id, 1);
      assert.ok(rows.length === 500 || (rows.length === 0 && !isReady), `${rows.length} rows, ${isReady ? 'and' : 'not'} ready`);
      if (isReady) withIt += 1;
      else without += 1;
      read.abort();
      await copy.close();
    }
    assert.ok(withIt + without === 6);
    await engine.close();
  });
});
