// The power goes while collections are loaded in bulk: after it a collection is there, whole, if its commit was acknowledged, and if it was not,
// whole or not at all; nothing is left of what was not committed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '../../src/base/errors.ts';
import type { Catalog, CatalogTransaction } from '../../src/catalog/index.ts';
import { namespaceOf, openCatalog } from '../../src/catalog/index.ts';
import { openEnvironment } from '../../src/engine/index.ts';
import { SimEnv } from '../sim/sim-env.ts';
import { doc, spec } from './catalog-for-test.ts';

const lives = 16;
const documents = 150;

async function load(catalog: Catalog, txn: CatalogTransaction, name: string): Promise<void> {
  const specs = [spec({ a: 1 }), spec({ b: -1 }, { unique: true })];
  const loading = await catalog.beginLoad(txn, namespaceOf('test', name), { specs, options: doc({}) });
  for (let i = 0; i < documents; i++) await loading.insert(doc({ _id: (i * 37) % documents, a: i % 4, b: i, text: 'some words '.repeat(20) }));
  await loading.finish(() => undefined);
}

async function live(sim: SimEnv, loaded: Set<string>, life: number): Promise<void> {
  const engine = await openEnvironment(sim, '/data', { cacheBytes: 8 << 20, lockWaitMs: 500 });
  const catalog = await openCatalog(engine, sim, {});
  const reader = catalog.begin('read');
  const found = new Set<string>();
  for (const collection of await catalog.collections(reader, 'test')) {
    if (collection.kind === 'view') continue;
    found.add(collection.ns.collection);
    const check = await collection.check(reader);
    assert.deepEqual([check.problems, check.documents, [...check.entries.values()]], [[], documents, [documents, documents, documents]]);
  }
  for (const name of loaded) assert.ok(found.has(name), `${name} was acknowledged`);
  reader.abort();
  // The catalog, and what each collection has: nothing else, as soon as what was dropped is gone.
  const expected = 1 + 3 * found.size;
  for (let turn = 0; turn < 100 && engine.statistics().dictionaries > expected; turn++) await sim.clock.sleep(20);
  assert.equal(engine.statistics().dictionaries, expected);
  for (let i = 0; i < 4; i++) {
    const name = `c${life}_${i}`;
    const txn = catalog.begin('snapshot');
    await load(catalog, txn, name);
    if (i === 2) {
      txn.abort();
      continue;
    }
    await txn.commit();
    loaded.add(name);
  }
  await engine.close();
}

test('bulk loads survive power failures at any I/O', async (context) => {
  let sim = await SimEnv.create({ seed: 5 });
  const loaded = new Set<string>();
  let crashes = 0;
  for (let life = 0; life < lives; life++) {
    sim.files.faults.crashAt(5 + ((life * 131) % 460));
    const current = sim;
    const result = await current
      .run(() => live(current, loaded, life))
      .catch((error: unknown) => {
        if (error instanceof EngineError && current.files.isOff) return { ended: 'crashed' as const };
        throw error;
      });
    if (result.ended === 'crashed') crashes += 1;
    sim = current.crash();
  }
  context.diagnostic(`${crashes} crashes, ${loaded.size} collections acknowledged`);
  assert.ok(crashes > lives / 4 && loaded.size > 10);
});
