// Commits that come at once and are each larger than the log segment that was made ahead: as a driver's GridFS upload sends its chunks.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openEnvironment } from '../../src/engine/index.ts';
import { openMemoryEnv } from '../../src/env/index.ts';

for (const valueBytes of [60_000, 130_000, 261_000, 1_000_000]) {
  test(`twenty commits of ${valueBytes} bytes at once are all acknowledged and there after reopening`, async () => {
    const env = await openMemoryEnv();
    const engine = await openEnvironment(env, '/data', { cacheBytes: 64 * 1024 * 1024 });
    const setup = engine.begin('statement');
    const id = setup.createDictionary();
    await setup.commit();
    for (let round = 0; round < 3; round++) {
      await Promise.all(
        Array.from({ length: 20 }, async (_, i) => {
          const txn = engine.begin('statement');
          await txn.put(id, Uint8Array.of(round, i), new Uint8Array(valueBytes).fill(i + 1));
          await txn.commit();
        }),
      );
    }
    await engine.close();
    const again = await openEnvironment(env, '/data', { cacheBytes: 64 * 1024 * 1024 });
    const txn = again.begin('read');
    for (let i = 0; i < 60; i++) {
      const value = await txn.get(id, Uint8Array.of(Math.floor(i / 20), i % 20));
      assert.deepEqual([value?.length, value?.[0]], [valueBytes, (i % 20) + 1]);
    }
    txn.abort();
    await again.close();
  });
}
