// A process of its own for memory.test.ts: loads rows that are many times the cache, reads them back, and prints how much memory was resident at most
// beyond what it was before, in bytes.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { openEnvironment } from '../../src/engine/index.ts';
import { openHostEnv } from '../../src/env/index.ts';

const [cacheBytes = 0, rows = 0, valueBytes = 0] = process.argv.slice(2).map(Number);

async function residentBytes(field: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile('/proc/self/status', 'utf8');
  return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024;
}

// As `frond serve` does.
setFlagsFromString('--semi-space-growth-factor=1');
setFlagsFromString('--heap-growing-percent=30');
const directory = await mkdtemp(join(tmpdir(), 'frond-memory-'));
const env = await openHostEnv();
const before = await residentBytes('VmRSS');
const engine = await openEnvironment(env, directory, { cacheBytes, durability: { delayedMs: 100 } });
const first = engine.begin('statement');
const id = first.createDictionary();
await first.commit();
const key = new Uint8Array(16);
const view = new DataView(key.buffer);
for (let n = 0; n < rows; ) {
  const transaction = engine.begin('statement');
  for (const end = Math.min(rows, n + 500); n < end; n++) {
    view.setUint32(0, Math.imul(n + 1, 0x9e3779b1));
    view.setUint32(12, n);
    await transaction.putCovered(id, key, env.random.bytes(valueBytes));
  }
  await transaction.commit();
}
const read = engine.begin('read');
const cursor = read.cursor(id, {}, 1);
let found = 0;
for (let batch = await cursor.nextBatch({ rows: 500, bytes: 1 << 20 }); batch.length > 0; batch = await cursor.nextBatch({ rows: 500, bytes: 1 << 20 })) found += batch.length;
read.abort();
await engine.close();
await rm(directory, { recursive: true });
console.log(JSON.stringify({ found, beyond: (await residentBytes('VmHWM')) - before }));
