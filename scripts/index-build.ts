// What index builds beside writers, and the removal of everything, cost: `node dist/scripts/index-build.js DIRECTORY [DOCUMENTS]`. The directory
// must not be there and is removed at the end. Catalog and engine in this process, 64 MiB of cache.

import { rmSync } from 'node:fs';
import { Document } from '../src/bson/index.ts';
import { namespaceOf, openCatalog } from '../src/catalog/index.ts';
import type { Catalog } from '../src/catalog/index.ts';
import { openEnvironment } from '../src/engine/index.ts';
import { openHostEnv } from '../src/env/index.ts';

const [directory, count = '955527'] = process.argv.slice(2);
if (directory === undefined) {
  console.error('usage: node dist/scripts/index-build.js DIRECTORY [DOCUMENTS]');
  process.exit(2);
}

const ns = namespaceOf('bench', 'documents');
const documents = Number(count);
let state = 12_345;

function below(limit: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return state % limit;
}

const documentOf = (id: number): Document =>
  Document.of({ _id: id, rank1: below(100_000), rank2: below(100_000), log_time: `2013-0${1 + below(9)}-11 12:${below(60)}:${below(60)}` });

async function insert(catalog: Catalog, from: number, to: number): Promise<void> {
  await catalog.run(async (txn) => {
    const collection = await catalog.ensureCollection(txn, ns);
    for (let id = from; id < to; id++) await collection.insert(txn, collection.prepare(documentOf(id)));
  });
}

/** Says what `work` cost: wall time, and processor time of all threads of this process. */
async function measure(name: string, work: () => Promise<unknown>): Promise<void> {
  const [begun, before] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(before);
  const rss = Math.round(process.memoryUsage().rss / 2 ** 20);
  console.log(JSON.stringify({ name, seconds: (performance.now() - begun) / 1000, cpuSeconds: (user + system) / 1e6, residentMiB: rss }));
}

const env = await openHostEnv();
const engine = await openEnvironment(env, directory, { cacheBytes: 64 * 2 ** 20 });
const catalog = await openCatalog(engine, env);
const spec = (key: Record<string, number>, options: Record<string, boolean> = {}): Document =>
  Document.of({ key: Document.of(key), name: Object.keys(key).join('_'), ...options });

await measure('insert', async () => {
  for (let id = 0; id < documents; id += 1000) await insert(catalog, id, Math.min(documents, id + 1000));
});
const writer = { isDone: false, writes: 0, longestMs: 0 };
const writing = (async () => {
  for (let id = documents; !writer.isDone; id++) {
    const begun = performance.now();
    await insert(catalog, id, id + 1);
    writer.writes += 1;
    writer.longestMs = Math.max(writer.longestMs, performance.now() - begun);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
})();
await measure('three indexes', () => catalog.createIndexes(ns, [spec({ rank1: 1 }), spec({ rank2: 1 }), spec({ log_time: 1 })]));
writer.isDone = true;
await writing;
console.log(JSON.stringify({ name: 'single inserts beside it', ...writer }));
await measure('clustering index', () => catalog.createIndexes(ns, [spec({ rank2: 1, rank1: 1 }, { clustering: true })]));
await measure('remove all', () =>
  catalog.run(async (txn) => {
    const collection = await catalog.ensureCollection(txn, ns);
    await catalog.removeRange(txn, collection, {}, () => undefined);
  }));
await measure('first document after it', async () => {
  const txn = catalog.begin('read');
  const collection = await catalog.collection(txn, ns);
  await collection?.scan(txn, {}, 1).nextBatch({ rows: 1, bytes: 1 });
  txn.abort();
});
await engine.close();
rmSync(directory, { recursive: true });
