// The power goes while documents come and move between the parts of a partitioned collection, and while parts come and go: after it every
// document that was acknowledged is in the part where it belongs, unless its part was dropped, and documents, entries and totals agree.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommandError, EngineError } from '../../src/base/errors.ts';
import type { Catalog } from '../../src/catalog/index.ts';
import { namespaceOf, openCatalog } from '../../src/catalog/index.ts';
import { openEnvironment } from '../../src/engine/index.ts';
import { SimEnv } from '../sim/sim-env.ts';
import { assertWhole, doc, insertAll, spec } from './catalog-for-test.ts';

const events = namespaceOf('test', 'events');
const lives = 10;

/** What the clients were told: times of documents by `_id`, and up to which time parts were dropped for sure, and perhaps. */
interface Told {
  readonly times: Map<number, number>;
  /** The last move of a document, which may have been cut off. */
  readonly moves: Map<number, number>;
  dropped: number;
  dropping: number;
}

async function ofEvents<T>(catalog: Catalog, look: (...args: [Awaited<ReturnType<Catalog['collection']>> & object, ReturnType<Catalog['begin']>]) => Promise<T>): Promise<T> {
  const txn = catalog.begin('read');
  try {
    const collection = await catalog.collection(txn, events);
    assert.ok(collection !== undefined);
    return await look(collection, txn);
  } finally {
    txn.abort();
  }
}

async function make(catalog: Catalog): Promise<void> {
  await catalog.run((txn) => catalog.create(txn, events, doc({ partitioned: true, primaryKey: doc({ at: 1, _id: 1 }) })));
  await catalog.createIndexes(events, [spec({ kind: 1 })]);
}

async function move(catalog: Catalog, told: Told, id: number, at: number): Promise<void> {
  told.moves.set(id, at);
  await catalog.run(async (txn) => {
    const collection = await catalog.collection(txn, events);
    const before = await collection?.getById(txn, id);
    if (collection === undefined || before === undefined) return;
    const { key } = collection.prepare(before);
    await collection.lock(txn, key);
    await collection.update(txn, key, { before, after: doc({ _id: id, at, kind: id % 3 }) });
  });
  told.times.set(id, at);
}

/** Drops the first part if there are more than three. */
async function dropFirst(catalog: Catalog, told: Told): Promise<void> {
  const [first, , , fourth] = await ofEvents(catalog, (collection) => Promise.resolve(collection.partitionInfo() ?? []));
  const end = first?.max.get('at');
  if (first === undefined || fourth === undefined || typeof end !== 'number') return;
  told.dropping = end;
  await catalog.run((txn) => catalog.dropPartition(txn, events, first.id));
  told.dropped = end;
}

async function live(sim: SimEnv, told: Told, from: number): Promise<void> {
  const engine = await openEnvironment(sim, '/data', { cacheBytes: 8 << 20, lockWaitMs: 500 });
  const catalog = await openCatalog(engine, sim, {});
  const names = catalog.begin('read');
  if ((await catalog.databases(names)).length === 0) await make(catalog);
  names.abort();
  await assertWhole(catalog, events);
  await ofEvents(catalog, async (collection, txn) => {
    for (const [id, at] of told.times) {
      const found = await collection.getById(txn, id);
      const now = found?.get('at') as number | undefined;
      if (now === undefined) assert.ok(at <= told.dropping, `document ${id} was acknowledged at ${at}`);
      else assert.ok((now === at || now === told.moves.get(id)) && now >= told.dropped, `document ${id} is at ${now}, ${at} was acknowledged`);
    }
  });
  for (let at = from; at < from + 50; at++) {
    await insertAll(catalog, [doc({ _id: at, at, kind: at % 3 })], events);
    told.times.set(at, at);
    if (at % 5 === 3 && at > from + 10) await move(catalog, told, at - 2, at + 1);
    if (at % 7 === 0) await catalog.addPartition(events, undefined).catch(ignoreRefusal);
    if (at % 11 === 0) await dropFirst(catalog, told);
  }
  await engine.close();
}

function ignoreRefusal(error: unknown): void {
  if (!(error instanceof CommandError)) throw error;
}

for (const seed of [1, 2]) {
  test(`partitioned collections survive power failures at any I/O: seed ${seed}`, async (context) => {
    let sim = await SimEnv.create({ seed });
    const told: Told = { times: new Map(), moves: new Map(), dropped: -1, dropping: -1 };
    let crashes = 0;
    for (let number = 0; number < lives; number++) {
      sim.files.faults.crashAt(60 + ((number * 131 + seed * 17) % 300));
      const current = sim;
      const result = await current
        .run(() => live(current, told, number * 1000))
        .catch((error: unknown) => {
          if (error instanceof EngineError && current.files.isOff) return { ended: 'crashed' as const };
          throw error;
        });
      if (result.ended === 'crashed') crashes += 1;
      sim = current.crash();
    }
    context.diagnostic(`${crashes} crashes, ${told.times.size} documents acknowledged, dropped up to ${told.dropped}`);
    assert.ok(crashes > lives / 4 && told.dropped > 0);
  });
}
