// A dictionary that gets other options and is written anew: every leaf is as the options say, nothing is lost, beside writers and across crashes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '../../src/base/errors.ts';
import { encodeUtf8 } from '../../src/base/text.ts';
import { openEnvironment } from '../../src/engine/index.ts';
import type { DictionaryId, Environment } from '../../src/engine/index.ts';
import { openMemoryEnv } from '../../src/env/index.ts';
import { SimEnv } from '../sim/sim-env.ts';
import { SimRandom } from '../sim/sim-random.ts';
import { assertState, Clients, Ledger } from './concurrent-history.ts';
import { smallOptions } from './history.ts';

const key = (i: number): Uint8Array => encodeUtf8(String(i).padStart(8, '0'));

async function fill(engine: Environment, id: DictionaryId, from: number, to: number): Promise<void> {
  const txn = engine.begin('statement');
  for (let i = from; i < to; i++) await txn.put(id, key(i), encodeUtf8('the same words again '.repeat(10)));
  txn.count(id, to - from, 0);
  await txn.commit();
}

async function rowsOf(engine: Environment, id: DictionaryId): Promise<number> {
  const txn = engine.begin('read');
  const cursor = txn.cursor(id, {}, 1);
  let rows = 0;
  for (let batch = await cursor.nextBatch({ rows: 1000, bytes: 1 << 20 }); batch.length > 0; batch = await cursor.nextBatch({ rows: 1000, bytes: 1 << 20 })) {
    for (let i = 0; i < batch.length; i++) assert.deepEqual(batch.key(i), key(rows + i));
    rows += batch.length;
  }
  txn.abort();
  return rows;
}

test('other options are kept with the commit, and a dictionary that is written anew follows them', async () => {
  const env = await openMemoryEnv();
  const engine = await openEnvironment(env, '/data', { cacheBytes: 8 << 20 });
  const first = engine.begin('statement');
  const id = first.createDictionary({ compression: 'none', pageBytes: 1 << 20 });
  await first.commit();
  for (let i = 0; i < 8; i++) await fill(engine, id, i * 1000, (i + 1) * 1000);
  await engine.rewrite(id);
  const before = engine.dictionaryStatistics(id);
  assert.ok(before.diskBytes > before.rawBytes / 2);
  const second = engine.begin('statement');
  second.changeDictionary(id, { compression: 'zstd', pageBytes: 64 << 10, readPageBytes: 4 << 10 });
  await second.commit();
  assert.deepEqual(engine.dictionaryStatistics(id).options, { ...before.options, compression: 'zstd', pageBytes: 64 << 10, readPageBytes: 4 << 10 });
  await engine.rewrite(id);
  const after = engine.dictionaryStatistics(id);
  assert.ok(after.diskBytes * 5 < before.diskBytes, `${after.diskBytes} bytes, ${before.diskBytes} before`);
  assert.ok(after.leaves > before.leaves * 4);
  assert.equal(await rowsOf(engine, id), 8_000);
  assert.deepEqual((await engine.verify()).problems, []);
  await engine.close();
  const again = await openEnvironment(env, '/data', { cacheBytes: 8 << 20 });
  assert.equal(again.dictionaryStatistics(id).options.compression, 'zstd');
  assert.equal(again.dictionaryStatistics(id).options.pageBytes, 64 << 10);
  assert.equal(await rowsOf(again, id), 8_000);
  await again.close();
});

test('a change of options that is taken back never was, and what is out of bounds is refused', async () => {
  const engine = await openEnvironment(await openMemoryEnv(), '/data', { cacheBytes: 8 << 20 });
  const first = engine.begin('statement');
  const id = first.createDictionary({ compression: 'none' });
  await first.commit();
  const second = engine.begin('statement');
  second.changeDictionary(id, { compression: 'zstd' });
  assert.throws(() => {
    second.changeDictionary(id, { fanout: 1 });
  }, { code: 'format' });
  second.abort();
  assert.equal(engine.dictionaryStatistics(id).options.compression, 'none');
  await engine.rewrite(id);
  await assert.rejects(engine.rewrite(77 as DictionaryId), { code: 'unknown-dictionary' });
  await engine.close();
});

/** Gives every dictionary other options and writes it anew, until the writers are done. */
async function rewriteAll(engine: Environment, random: SimRandom, isDone: () => boolean): Promise<number> {
  let rewritten = 0;
  while (!isDone()) {
    for (let id = 1; id < 40 && !isDone(); id++) {
      try {
        const txn = engine.begin('statement');
        txn.changeDictionary(id as DictionaryId, { pageBytes: 1024 << random.below(5), compression: random.below(2) === 0 ? 'none' : 'lz4', fanout: 4 + random.below(12) });
        await txn.commit();
        await engine.rewrite(id as DictionaryId);
        rewritten += 1;
      } catch (error) {
        if (!(error instanceof EngineError) || !['unknown-dictionary', 'write-conflict', 'locked', 'no-space'].includes(error.code)) throw error;
      }
    }
    await engine.checkpoint();
  }
  return rewritten;
}

for (const seed of [1, 2, 3]) {
  test(`beside writers nothing is lost: seed ${seed}`, async (context) => {
    const sim = await SimEnv.create({ seed });
    const random = new SimRandom(seed).fork('rewrite');
    const ledger = new Ledger({ ...smallOptions(random), lockWaitMs: 30_000, durability: 'sync' });
    await sim.run(async () => {
      const engine = await openEnvironment(sim, '/data', ledger.options);
      let done = false;
      const clients = new Clients(sim, random, ledger, engine).run(150).finally(() => {
        done = true;
      });
      const rewritten = await rewriteAll(engine, random, () => done);
      await clients;
      context.diagnostic(`${rewritten} times written anew`);
      assert.ok(rewritten > 0);
      assert.deepEqual((await engine.verify()).problems, []);
      await engine.close();
      const again = await openEnvironment(sim, '/data', ledger.options);
      await assertState(again, ledger.stateAt(Infinity));
      assert.deepEqual((await again.verify()).problems, []);
      await again.close();
    });
  });
}
