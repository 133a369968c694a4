// The log of what was done: entries of MongoDB's shape, in the commit of what they tell.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { EngineError } from '../../src/base/errors.ts';
import { Binary, BsonArray, Document, Timestamp, type Value } from '../../src/bson/index.ts';
import { compareTimes, namespaceOf, openCatalog, shapeOfUpdate, type Catalog, type Operation, type OperationClock } from '../../src/catalog/index.ts';
import { openEnvironment, type Environment } from '../../src/engine/index.ts';
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

async function open(env: Env, seconds = 1, oplogBytes = 1 << 20, oplogAsideBytes?: number): Promise<{ catalog: Catalog; engine: Environment; close: () => Promise<void> }> {
  const engine = await openEnvironment(env, '/data', { cacheBytes: 8 << 20, lockWaitMs: 500 });
  const catalog = await openCatalog(engine, env, { oplogBytes, ...(oplogAsideBytes === undefined ? {} : { oplogAsideBytes }) });
  catalog.oplog.start(new Counter(seconds));
  return { catalog, engine, close: () => engine.close() };
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

  test('is read from any time in the rows of one commit, where it has several', async () => {
    const { catalog, close } = await open(await openMemoryEnv());
    await insertAll(catalog, Array.from({ length: 1700 }, (_, i) => doc({ _id: i })));
    await insertAll(catalog, [doc({ _id: 'last' })]);
    const all = await operations(catalog);
    assert.equal(all.length, 1702);
    for (let at = 0; at < all.length; at += 83) assert.equal((await operations(catalog, (all[at] as Operation).time)).length, all.length - at);
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

/** Documents with these numbers, some of them large. */
const many = (from: number, to: number): Document[] => Array.from({ length: to - from }, (_, i) => doc({ _id: from + i, text: 'x'.repeat((from + i) % 50 === 0 ? 20_000 : 10) }));

describe('operations of a large commit lie aside', () => {
  const asideBytes = 30_000;

  /** What is read forwards, backwards and from some times on is the same list. */
  async function assertOrdered(catalog: Catalog, ids: readonly Value[]): Promise<Operation[]> {
    const all = (await operations(catalog)).filter(({ kind }) => kind !== 'command');
    assert.deepEqual(all.map(({ o }) => o.get('_id')), ids);
    for (let i = 1; i < all.length; i++) {
      const [a, b] = [all[i - 1] as Operation, all[i] as Operation];
      assert.ok(compareTimes(a.time, b.time) < 0 || (compareTimes(a.time, b.time) === 0 && b.index === (a.index ?? -1) + 1), String(i));
    }
    for (let at = 0; at < all.length; at += 97) {
      const { time } = all[at] as Operation;
      const first = all.findIndex((other) => compareTimes(other.time, time) === 0);
      assert.equal((await operations(catalog, time)).length, all.length - first, String(at));
    }
    const txn = catalog.begin('read');
    const cursor = catalog.oplog.read(txn, undefined, -1);
    const back: Value[] = [];
    for (let rows = await cursor.nextRows(); rows.length > 0; rows = await cursor.nextRows()) for (const { kind, o } of rows.flat()) if (kind !== 'command') back.push(o.get('_id') ?? null);
    cursor.close();
    txn.abort();
    assert.deepEqual(back, [...ids].reverse());
    return all;
  }

  test('a transaction is a chain of entries, as MongoDB writes it, whatever was taken back in it', async () => {
    const env = await openMemoryEnv();
    const { catalog, close } = await open(env, 1, 1 << 20, asideBytes);
    await insertAll(catalog, [doc({ _id: -1 })]);
    const txn = catalog.begin('snapshot');
    txn.identify({ lsid: doc({ id: 1 }), txnNumber: 7n });
    const collection = await catalog.ensureCollection(txn, people);
    for (const document of many(0, 400)) {
      const mark = txn.mark();
      await collection.insert(txn, collection.prepare(document));
      if (Number(document.get('_id')) % 7 !== 3) continue;
      txn.rollbackTo(mark);
    }
    await txn.commit();
    await insertAll(catalog, [doc({ _id: 'last' })]);
    const ids: Value[] = [-1, ...many(0, 400).map((document) => document.get('_id') ?? null).filter((id) => Number(id) % 7 !== 3), 'last'];
    await assertOrdered(catalog, ids);
    const chain = (await entries(catalog)).filter((entry) => entry.get('txnNumber') === 7n);
    assert.ok(chain.length > 3);
    chain.forEach((entry, at) => {
      const [o, previous] = [entry.get('o'), entry.get('prevOpTime')];
      assert.ok(o instanceof Document && previous instanceof Document);
      assert.equal(o.get('partialTxn'), at + 1 < chain.length ? true : undefined);
      assert.equal(o.get('count'), at + 1 < chain.length ? undefined : BigInt(ids.length - 2));
      assert.deepEqual(previous.get('ts'), at === 0 ? new Timestamp(0, 0) : chain[at - 1]?.get('ts'));
    });
    await close();
    const again = await open(env, 2, 1 << 20, asideBytes);
    await assertOrdered(again.catalog, ids);
    await again.close();
  });

  test('a statement that removes a range has an entry with a time of its own for each document', async () => {
    const { catalog, close } = await open(await openMemoryEnv(), 1, 4 << 20, asideBytes);
    for (let from = 0; from < 1500; from += 50) await insertAll(catalog, many(from, from + 50));
    const txn = catalog.begin('statement');
    const collection = await catalog.collection(txn, people);
    assert.ok(collection !== undefined);
    const range = { from: collection.keyOf(100), to: collection.keyOf(1400) };
    assert.ok(catalog.canRemoveRange(collection, range));
    assert.equal(await catalog.removeRange(txn, collection, range, () => undefined), 1300);
    await txn.commit();
    const numbers = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);
    const all = await assertOrdered(catalog, [...numbers(0, 1500), ...numbers(100, 1400)]);
    assert.ok(all.slice(1500).every(({ kind, index }) => kind === 'remove' && index === undefined));
    const { rows } = catalog.oplog.collection?.totals(catalog.begin('read')) ?? { rows: 0 };
    assert.equal(rows, 1500 + 1300 + 1);
    await close();
  });

  test('it is not there when the transaction is not, and goes with the oldest part of the log', async () => {
    const sim = await SimEnv.create({ seed: 1 });
    await sim.run(() => asideGoes(sim));
  });

  async function asideGoes(sim: SimEnv): Promise<void> {
    const { catalog, engine, close } = await open(sim, 1, 200 * 1024, asideBytes);
    await insertAll(catalog, [doc({ _id: -1 })]);
    const before = engine.statistics().dictionaries;
    const given = catalog.begin('snapshot');
    const seen = await catalog.ensureCollection(given, people);
    for (const document of many(0, 400)) await seen.insert(given, seen.prepare(document));
    given.abort();
    assert.equal(engine.statistics().dictionaries, before);
    const large = catalog.begin('snapshot');
    const collection = await catalog.ensureCollection(large, people);
    for (const document of many(0, 400)) await collection.insert(large, collection.prepare(document));
    await large.commit();
    assert.equal(engine.statistics().dictionaries, before + 1);
    const bytes = (): number => catalog.oplog.collection?.storage().documents.bytes ?? 0;
    assert.ok(bytes() > 150_000);
    await sim.clock.sleep(3 * 3_600_000);
    for (let i = 0; i < 80; i++) {
      await insertAll(catalog, [doc({ _id: `later ${String(i)}`, text: 'x'.repeat(4000) })]);
      await catalog.oplog.trim();
    }
    assert.ok(bytes() < 250_000, String(bytes()));
    assert.equal((await operations(catalog)).some(({ o }) => typeof o.get('_id') === 'number'), false);
    await close();
  }
});

for (const seed of [4, 5]) {
  test(`after power failures large commits are in the log and the collection whole, or in neither: seed ${seed}`, async () => {
    let sim = await SimEnv.create({ seed });
    let found = 0;
    for (let life = 1; life <= 12; life++) {
      sim.files.faults.crashAt(1 + ((life * 97 + seed * 31) % 160));
      const current = sim;
      await current
        .run(async () => {
          const { catalog, close } = await open(current, life, 4 << 20, 3000);
          const told = (await operations(catalog)).filter(({ kind }) => kind === 'insert').map(({ o }) => o.get('_id'));
          const txn = catalog.begin('read');
          const collection = await catalog.collection(txn, people);
          assert.equal(collection?.totals(txn).rows ?? 0, told.length);
          for (const id of told) assert.ok((await collection?.get(txn, collection.keyOf(id ?? null))) !== undefined);
          txn.abort();
          assert.equal(told.length % 30, 0);
          found = Math.max(found, told.length);
          for (let part = 0; part < 3; part++) await insertAll(catalog, many(life * 1000 + part * 30, life * 1000 + part * 30 + 30));
          await close();
        })
        .catch((error: unknown) => {
          if (!(error instanceof EngineError && current.files.isOff)) throw error;
        });
      sim = current.crash();
    }
    assert.ok(found > 0);
  });
}

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
