import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serveOptions } from '../../src/bin/server-options.ts';
import { openMemoryEnv } from '../../src/env/index.ts';

const [MiB, GiB] = [2 ** 20, 2 ** 30];

test('the cache is half of the memory that may be used, less 1 GiB, and leaves room beside it in a small control group', async () => {
  const env = await openMemoryEnv();
  const cacheIn = async (memoryLimitBytes: number): Promise<number> => (await serveOptions({ ...env, host: { ...env.host, memoryLimitBytes } }, [])).cacheBytes;
  assert.equal(await cacheIn(16 * GiB), 7 * GiB);
  assert.equal(await cacheIn(2 * GiB), 64 * MiB);
  assert.equal(await cacheIn(200_000_000), 50_000_000);
  assert.equal(await cacheIn(100_000_000), 8 * MiB);
});
