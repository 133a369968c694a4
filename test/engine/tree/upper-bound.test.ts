// Keys above all others are absent without a walk, and what is there is found: rising, falling and mixed keys, before and after every flush,
// a removal of the greatest by range, and an opening.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openEnvironment } from '../../../src/engine/index.ts';
import { openMemoryEnv } from '../../../src/env/index.ts';

const key = (n: number): Uint8Array => Uint8Array.of(n >>> 16, n >>> 8, n);
const value = new Uint8Array(60);

test('a key above all others is absent and one that is there is found, whatever was flushed in between', async () => {
  const env = await openMemoryEnv();
  const options = { cacheBytes: 1 << 20, dictionary: { compression: 'lz4', pageBytes: 4096, readPageBytes: 1024, fanout: 4 } } as const;
  let engine = await openEnvironment(env, '/data', options);
  const first = engine.begin('statement');
  const id = first.createDictionary();
  await first.commit();
  const has = async (n: number): Promise<boolean> => {
    const txn = engine.begin('read');
    const found = await txn.get(id, key(n));
    txn.abort();
    return found !== undefined;
  };
  const there = new Set<number>();
  for (let round = 0; round < 60; round++) {
    const txn = engine.begin('statement');
    for (let i = 0; i < 200; i++) {
      // Two thirds rise; the rest fall between.
      const n = i % 3 === 0 ? (round * 7919 + i * 104_729) % (round * 200 + 200) : round * 200 + i;
      await txn.put(id, key(n), value);
      there.add(n);
    }
    await txn.commit();
    if (round % 7 === 3) await engine.checkpoint();
    if (round === 40) {
      const cut = engine.begin('statement');
      await cut.deleteRange(id, { from: key(7000) }, 0, 0);
      await cut.commit();
      for (const n of there) if (n >= 7000) there.delete(n);
    }
    if (round === 50) {
      await engine.close();
      engine = await openEnvironment(env, '/data', options);
    }
    const most = Math.max(...there);
    for (const n of [most, most + 1, most + 1000, most >>> 1, 0]) assert.equal(await has(n), there.has(n), `key ${String(n)} in round ${String(round)}`);
  }
  for (let n = 0; n < 12_500; n += 7) assert.equal(await has(n), there.has(n));
  await engine.close();
});
