// The log of what was done: entries of MongoDB's shape, in the commit of what they tell.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { EngineError } from '../../src/base/errors.ts';
import { Binary, BsonArray, Document, Timestamp, type Value } from '../../src/bson/index.ts';
import { compareTimes, namespaceOf, openCatalog, shapeOfUpdate, type Catalog, type Operation, type OperationClock } from '../../src/catalog/index.ts';
import { openEnvironment } from '../../src/engine/index.ts';
import { openMemoryEnv, type Env } from '../../src/env/index.ts';
import { SimEnv } from '../sim/sim-env.ts';
import { doc, insertAll, people } from './catalog-for-test.ts';

/** Times that count up from a second on. */
class Counter implements OperationClock {
  newest: Timestamp | undefined;
  readonly #seconds: number;
  #given = 0;

  constructor(seconds: number) {
    this.#seconds = seconds;
  }

  reserve(ticks: number): Timestamp {
    this.#given += ticks;
    return new Timestamp(this.#seconds, this.#given - ticks + 1);
  }

  reached(time: Timestamp): void {
    this.newest = time;
  }
}

async function open(env: Env, seconds = 1, oplogBytes = 1 << 20): Promise<{ catalog: Catalog; close: () => Promise<void> }> {
  const engine = await openEnvironment(env, '/data', { cacheBytes: 8 << 20, lockWaitMs: 500 });
  const catalog = await openCatalog(engine, env, { oplogBytes });
  catalog.oplog.start(new Counter(seconds));
  return { catalog, close: () => engine.close() };
}

async function operations(catalog: Catalog, from?: Timestamp): Promise<Operation[]> {
  const txn = catalog.begin('read');
  const cursor = catalog.oplog.read(txn, from);
  const all: Operation[] = [];
  for (let rows = await cursor.nextRows(); rows.length > 0; rows = await cursor.nextRows()) all.push(...rows.flat());
  cursor.close();
  txn.abort();
  return all;
}

async function entries(catalog: Catalog, direction: 1 | -1 = 1): Promise<Document[]> {
  const { collection } = catalog.oplog;
  assert.ok(collection !== undefined);
  const txn = catalog.begin('read');
  const cursor = collection.scan(txn, {}, direction);
  const all: Document[] = [];
  for (;;) {
    const batch = await cursor.nextBatch({ rows: 3, bytes: 1 << 16 });
    if (batch.length === 0) break;
    for (let i = 0; i < batch.length; i++) all.push(Document.fromBytes(batch.value(i).slice()));
  }
  txn.abort();
  return all;
}

async function change(catalog: Catalog, id: Value, after: Document, shape?: Document): Promise<void> {
  await catalog.run(async (txn) => {
    const collection = await catalog.ensureCollection(txn, people);
    const key = collection.keyOf(id);
    await collection.lock(txn, key);
    const before = await collection.getLatest(txn, key);
    assert.ok(before !== undefined);
    await collection.update(txn, key, { before, after }, shape === undefined ? {} : { shape: shapeOfUpdate(shape) });
  });
}

describe('the oplog', () => {
  test('has an entry for each document, and for what happened to the collection', async () => {
    const { catalog, close } = await open(await openMemoryEnv());
    await insertAll(catalog, [doc({ _id: 1, a: 1 }), doc({ _id: 2 })]);
    await change(catalog, 1, doc({ _id: 1, a: 2 }), doc({ $set: doc({ a: 2 }) }));
    await catalog.run(async (txn) => {
      const collection = await catalog.ensureCollection(txn, people);
      await collection.lock(txn, collection.keyOf(2));
      await collection.remove(txn, collection.keyOf(2), doc({ _id: 2 }));
    });
    await catalog.run((txn) => catalog.drop(txn, people));
    const all = await entries(catalog);
    assert.deepEqual(all.map((entry) => entry.get('op')), ['c', 'i', 'i', 'u', 'd', 'c']);
    assert.deepEqual(all.map((entry) => entry.get('ns')), ['test.$cmd', people.text, people.text, people.text, people.text, 'test.$cmd']);
    const [, first, , updated, removed] = all as [Document, Document, Document, Document, Document];
    assert.ok(first.get('ui') instanceof Binary);
    assert.equal(first.get('v'), 2n);
    const o = updated.get('o');
    assert.ok(o instanceof Document);
    assert.equal(o.get('$v'), 2);
    const key = removed.get('o2');
    assert.ok(key instanceof Document);
    assert.equal(key.get('_id'), 2);
    assert.deepEqual((await entries(catalog, -1)).map((entry) => entry.get('op')), ['c', 'd', 'u', 'i', 'i', 'c']);
    await close();
  });

  test('has times that rise, and is read from any of them, inside the row of one commit too', async () => {
    const { catalog, close } = await open(await openMemoryEnv());
    await insertAll(catalog, Array.from({ length: 10 }, (_, i) => doc({ _id: i })));
    await insertAll(catalog, [doc({ _id: 'last' })]);
    const all = await operations(catalog);
    for (let i = 1; i < all.length; i++) assert.ok(compareTimes((all[i - 1] as Operation).time, (all[i] as Operation).time) < 0);
    for (const [at, operation] of all.entries()) assert.equal((await operations(catalog, operation.time)).length, all.length - at);
    await close();
  });

  test('has nothing of what was taken back, and all of a transaction as one entry', async () => {
    const { catalog, close } = await open(await openMemoryEnv());
    await insertAll(catalog, [doc({ _id: 0 })]);
    const txn = catalog.begin('snapshot');
    txn.identify({ lsid: doc({ id: 1 }), txnNumber: 7n });
    const collection = await catalog.ensureCollection(txn, people);
    await collection.insert(txn, collection.prepare(doc({ _id: 1 })));
    const mark = txn.mark();
    await collection.insert(txn, collection.prepare(doc({ _id: 2 })));
    txn.rollbackTo(mark);
    await collection.insert(txn, collection.prepare(doc({ _id: 3 })));
    await txn.commit();
    const given = catalog.begin('snapshot');
    const seen = await catalog.ensureCollection(given, people);
    await seen.insert(given, seen.prepare(doc({ _id: 4 })));
    given.abort();
    const last = (await entries(catalog)).at(-1);
    assert.equal(last?.get('txnNumber'), 7n);
    const o = last.get('o');
    const list = o instanceof Document ? o.get('applyOps') : undefined;
    assert.ok(list instanceof BsonArray);
    assert.equal(list.length, 2);
    assert.deepEqual((await operations(catalog)).slice(-2).map(({ index }) => index), [0, 1]);
    await close();
  });

  test('keeps documents before and after a change where the collection says so', async () => {
    const { catalog, close } = await open(await openMemoryEnv());
    await catalog.run((txn) => catalog.create(txn, people, doc({ changeStreamPreAndPostImages: doc({ enabled: true }) })));
    await insertAll(catalog, [doc({ _id: 1, a: 1 })]);
    await change(catalog, 1, doc({ _id: 1, a: 2 }));
    const last = (await operations(catalog)).at(-1);
    assert.equal(last?.before?.get('a'), 1);
    assert.equal(last.after?.get('a'), 2);
    await close();
  });

  test('says nothing of the server\'s own databases', async () => {
    const { catalog, close } = await open(await openMemoryEnv());
    for (const db of ['local', 'config']) await insertAll(catalog, [doc({ _id: 1 })], namespaceOf(db, 'things'));
    assert.deepEqual(await operations(catalog), []);
    await close();
  });

  test('gives up its oldest part when it is larger than it may be', async () => {
    const { catalog, close } = await open(await openMemoryEnv(), 1, 64 * 1024);
    for (let i = 0; i < 60; i++) {
      await insertAll(catalog, [doc({ _id: i, text: 'x'.repeat(4000) })]);
      await catalog.oplog.trim();
    }
    const left = await operations(catalog);
    assert.ok(left.length < 25 && left.length > 5, String(left.length));
    assert.equal(left.at(-1)?.o.get('_id'), 59);
    await close();
  });
});

for (const seed of [1, 2, 3]) {
  test(`after power failures the log has exactly what the collection has: seed ${seed}`, async () => {
    let sim = await SimEnv.create({ seed });
    const acknowledged = new Set<number>();
    for (let life = 1; life <= 12; life++) {
      sim.files.faults.crashAt(1 + ((life * 97 + seed * 31) % 200));
      const current = sim;
      await current
        .run(async () => {
          const { catalog, close } = await open(current, life);
          const told = (await operations(catalog)).filter(({ kind }) => kind === 'insert').map(({ o }) => o.get('_id'));
          const txn = catalog.begin('read');
          const collection = await catalog.collection(txn, people);
          for (const id of acknowledged) assert.ok(told.includes(id), `document ${id} was acknowledged`);
          for (const id of told) assert.ok((await collection?.get(txn, collection.keyOf(id ?? null))) !== undefined);
          assert.equal(collection?.totals(txn).rows ?? 0, told.length);
          txn.abort();
          const write = async (from: number): Promise<void> => {
            for (let id = from; id < from + 20; id++) {
              await insertAll(catalog, [doc({ _id: id })]);
              acknowledged.add(id);
            }
          };
          await Promise.all([write(life * 1000), write(life * 1000 + 500)]);
          await close();
        })
        .catch((error: unknown) => {
          if (!(error instanceof EngineError && current.files.isOff)) throw error;
        });
      sim = current.crash();
    }
    assert.ok(acknowledged.size > 20);
  });
}
