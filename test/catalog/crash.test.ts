// The power goes while clients write and indexes are built: after it every document that was acknowledged is there, documents, entries and
// totals agree, and of an index that was being built either all is there or nothing.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommandError, EngineError } from '../../src/base/errors.ts';
import type { Catalog } from '../../src/catalog/index.ts';
import { namespaceOf, openCatalog } from '../../src/catalog/index.ts';
import { openEnvironment } from '../../src/engine/index.ts';
import { SimEnv } from '../sim/sim-env.ts';
import { assertWhole, doc, insertAll, spec } from './catalog-for-test.ts';
import { assertCollectionWhole, Client, crowdIndexes } from './concurrency.ts';

const ledger = namespaceOf('test', 'ledger');
const lives = 16;

/** Inserts one document after the other until the power goes; what was acknowledged is in `acknowledged`. */
async function keepLedger(catalog: Catalog, acknowledged: Set<number>, from: number): Promise<void> {
  for (let id = from; id < from + 60; id++) {
    await insertAll(catalog, [doc({ _id: id, half: id % 2, text: `number ${id}` })], ledger);
    acknowledged.add(id);
    if (id % 20 === 5) await catalog.run((txn) => catalog.dropIndexes(txn, ledger, '*'));
    if (id % 20 === 10) await catalog.createIndexes(ledger, [spec({ half: 1, text: -1 }), spec({ text: 1 }, { unique: true })]);
  }
}

async function live(sim: SimEnv, acknowledged: Set<number>, from: number, inlineDocumentsMax: number): Promise<void> {
  const engine = await openEnvironment(sim, '/data', { cacheBytes: 8 << 20, lockWaitMs: 500 });
  const catalog = await openCatalog(engine, sim, { inlineDocumentsMax });
  await assertCollectionWhole(catalog);
  if (acknowledged.size > 0) await assertWhole(catalog, ledger);
  const txn = catalog.begin('read');
  const collection = await catalog.collection(txn, ledger);
  for (const id of acknowledged) assert.notEqual(await collection?.get(txn, collection.keyOf(id)), undefined, `document ${id} was acknowledged`);
  txn.abort();
  const turn = (): Promise<void> => sim.tasks.pause();
  const crowd = [1, 2].map(async (client) => new Client(catalog, from * 10 + client, turn).run(30));
  await catalog.createIndexes(namespaceOf('test', 'people'), crowdIndexes.slice(0, 2)).catch((error: unknown) => {
    // While the unique index was away, equal values may have come; the crowd may have dropped the collection.
    if (!(error instanceof CommandError && (error.code === 11000 || error.code === 276))) throw error;
  });
  await Promise.all([keepLedger(catalog, acknowledged, from), ...crowd]);
  await engine.close();
}

for (const seed of [1, 2, 3, 4]) {
  test(`collections survive power failures at any I/O: seed ${seed}`, async (context) => {
    let sim = await SimEnv.create({ seed });
    const acknowledged = new Set<number>();
    let crashes = 0;
    for (let number = 0; number < lives; number++) {
      sim.files.faults.crashAt(1 + ((number * 131 + seed * 17) % 400));
      const current = sim;
      const result = await current
        .run(() => live(current, acknowledged, number * 1000, seed % 2 === 0 ? 0 : 1000))
        .catch((error: unknown) => {
          if (error instanceof EngineError && current.files.isOff) return { ended: 'crashed' as const };
          throw error;
        });
      if (result.ended === 'crashed') crashes += 1;
      sim = current.crash();
    }
    context.diagnostic(`${crashes} crashes, ${acknowledged.size} documents acknowledged`);
    assert.ok(crashes > lives / 4);
  });
}
