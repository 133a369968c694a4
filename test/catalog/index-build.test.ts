import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BsonArray, Document } from '../../src/bson/index.ts';
import type { Value } from '../../src/bson/index.ts';
import { assertWhole, conflict, doc, insertAll, openForTest, people, reading, refusal, spec } from './catalog-for-test.ts';

const many = (count: number): Document[] => Array.from({ length: count }, (_, i) => doc({ _id: i, a: (i * 7919) % count, b: i % 5 }));

for (const count of [0, 10, 1500]) {
  test(`indexes over ${count} documents are whole when they appear, and stay so`, async () => {
    const { catalog, beforeAndAfterReopening } = await openForTest();
    await insertAll(catalog, many(count));
    const made = await catalog.createIndexes(people, [spec({ a: 1 }), spec({ b: 1, a: -1 }), spec({ a: -1 }, { clustering: true })]);
    assert.deepEqual([made.before, made.after], [1, 4]);
    await insertAll(catalog, [doc({ _id: 'later', a: 1 })]);
    await assertWhole(catalog);
    await beforeAndAfterReopening(async (opened) => {
      await assertWhole(opened);
      const { txn, collection } = await reading(opened);
      assert.equal(collection.indexes[1]?.totals(txn).rows, count + 1);
    });
  });
}

for (const count of [10, 1500]) {
  test(`a unique index over ${count} documents with a duplicate fails and leaves nothing`, async () => {
    const { catalog, beforeAndAfterReopening } = await openForTest();
    await insertAll(catalog, many(count));
    await assert.rejects(catalog.createIndexes(people, [spec({ a: 1 }), spec({ b: 1 }, { unique: true })]), refusal(11000, /index: b_1 dup key: \{ b: /));
    await insertAll(catalog, [doc({ _id: 'later' })]);
    await beforeAndAfterReopening(async (opened) => {
      assert.equal((await reading(opened)).collection.indexes.length, 1);
      await assertWhole(opened);
    });
  });
}

test('a build that is told to stop leaves nothing', async () => {
  const { catalog } = await openForTest();
  await insertAll(catalog, many(1500));
  let left = 3;
  const checkInterrupt = (): void => {
    left -= 1;
    if (left === 0) throw new TypeError('stop');
  };
  await assert.rejects(catalog.createIndexes(people, [spec({ a: 1 })], { checkInterrupt }), TypeError);
  assert.equal((await reading(catalog)).collection.indexes.length, 1);
  assert.deepEqual(catalog.builds(), []);
  await catalog.createIndexes(people, [spec({ a: 1 })]);
  await assertWhole(catalog);
});

test('statements that write while an index is built wait and are in it; an open transaction is refused', async () => {
  const { catalog } = await openForTest();
  await insertAll(catalog, many(1500));
  const open = catalog.begin('snapshot');
  const held = await catalog.ensureCollection(open, people);
  await held.insert(open, held.prepare(doc({ _id: 'open', a: 1 })));
  const build = catalog.createIndexes(people, [spec({ a: 1 })]);
  const writers = [1, 2, 3].map((i) => insertAll(catalog, [doc({ _id: `w${i}`, a: i })]));
  await build;
  await Promise.all(writers);
  await assert.rejects(open.commit(), conflict);
  await assertWhole(catalog);
  const { txn, collection } = await reading(catalog);
  assert.equal(collection.indexes[1]?.totals(txn).rows, 1503);
});

test('a transaction makes indexes of the collections that it makes itself, while they are empty', async () => {
  const { catalog } = await openForTest();
  const txn = catalog.begin('snapshot');
  await catalog.ensureCollection(txn, people);
  await catalog.createIndexesIn(txn, people, [spec({ a: 1 })]);
  const made = await catalog.ensureCollection(txn, people);
  await made.insert(txn, made.prepare(doc({ _id: 1, a: 1 })));
  await assert.rejects(catalog.createIndexesIn(txn, people, [spec({ b: 1 })]), refusal(263, /non-empty/));
  await txn.commit();
  await assertWhole(catalog);
});

test('a transaction makes no index of a collection that was there, though it is empty', async () => {
  const { catalog } = await openForTest();
  await catalog.run((txn) => catalog.create(txn, people, Document.empty));
  const txn = catalog.begin('snapshot');
  await assert.rejects(catalog.createIndexesIn(txn, people, [spec({ a: 1 })]), refusal(263, /existing collection/));
});

test('the same index asked for again is there already; conflicts are 85 and 86', async () => {
  const { catalog } = await openForTest();
  await catalog.createIndexes(people, [spec({ a: 1 })]);
  const again = await catalog.createIndexes(people, [spec({ a: 1 }), spec({ _id: 1 })]);
  assert.deepEqual([again.before, again.after], [2, 2]);
  const named = (key: Readonly<Record<string, Value>>, name: string): Document => doc({ key: doc(key), name });
  await assert.rejects(catalog.createIndexes(people, [named({ a: 1 }, 'other')]), refusal(85, /different name: a_1/));
  await assert.rejects(catalog.createIndexes(people, [named({ b: 1 }, 'a_1')]), refusal(86));
  await assert.rejects(catalog.createIndexes(people, [spec({ a: 1 }, { unique: true })]), refusal(86));
  await assert.rejects(catalog.createIndexes(people, [spec({ a: 1 }, { hidden: true })]), refusal(85));
  await assert.rejects(catalog.createIndexes(people, [spec({ a: 1 }, { storageEngine: doc({ frond: doc({ compression: 'none' }) }) })]), refusal(85));
  await assert.rejects(catalog.createIndexes(people, [spec({ a: 1 }, { compression: 'none' })]), refusal(85));
});

const refused: readonly [string, Document, number][] = [
  ['an empty key', doc({ key: Document.empty, name: 'x' }), 67],
  ['no key', doc({ name: 'x' }), 9],
  ['no name', doc({ key: doc({ a: 1 }) }), 9],
  ['direction 0', doc({ key: doc({ a: 0 }), name: 'x' }), 67],
  ['a direction that is a boolean', doc({ key: doc({ a: true }), name: 'x' }), 67],
  ['an unknown kind', doc({ key: doc({ a: 'nonsense' }), name: 'x' }), 67],
  ['a field that starts with $', doc({ key: doc({ 'a.$b': 1 }), name: 'x' }), 67],
  ['an empty part', doc({ key: doc({ 'a..b': 1 }), name: 'x' }), 67],
  ['an unknown option', doc({ key: doc({ a: 1 }), name: 'x', nonsense: true }), 197],
  ['sparse and partial', doc({ key: doc({ a: 1 }), name: 'x', sparse: true, partialFilterExpression: doc({ a: 1 }) }), 67],
  ['a compound TTL index', doc({ key: doc({ a: 1, b: 1 }), name: 'x', expireAfterSeconds: 1 }), 67],
  ['a negative TTL', doc({ key: doc({ a: 1 }), name: 'x', expireAfterSeconds: -1 }), 67],
  ['the name of the _id index and another key', doc({ key: doc({ _id: -1 }), name: '_id_' }), 2],
  ['texts of all fields below one', doc({ key: doc({ 'a.$**': 'text' }), name: 'x' }), 67],
  ['an option of the _id index', doc({ key: doc({ _id: 1 }), name: 'x', sparse: true }), 197],
];
for (const [what, given, code] of refused) {
  test(`an index specification with ${what} is refused with ${code}`, async () => {
    const { catalog } = await openForTest();
    await assert.rejects(catalog.createIndexes(people, [given]), refusal(code));
  });
}

test('indexes are dropped by name, by key, by names and all at once; not the one on _id', async () => {
  const { catalog } = await openForTest();
  const drop = (which: Parameters<typeof catalog.dropIndexes>[2]): Promise<{ nIndexesWas: number }> =>
    catalog.run((txn) => catalog.dropIndexes(txn, people, which));
  await catalog.createIndexes(people, ['a', 'b', 'c', 'd', 'e'].map((path) => spec({ [path]: 1 })));
  await insertAll(catalog, [doc({ _id: 1, a: BsonArray.of([1, 2]) })]);
  assert.equal((await drop('a_1')).nIndexesWas, 6);
  assert.equal((await drop(doc({ b: 1 }))).nIndexesWas, 5);
  await drop(['c_1', 'd_1']);
  await assert.rejects(drop('a_1'), refusal(27, /index not found with name \[a_1\]/));
  await assert.rejects(drop(doc({ a: 1 })), refusal(27));
  await assert.rejects(drop('_id_'), refusal(72));
  await drop('*');
  assert.equal((await reading(catalog)).collection.indexes.length, 1);
  await catalog.createIndexes(people, [spec({ a: 1 })]);
  await assertWhole(catalog);
  assert.equal((await reading(catalog)).collection.indexes[1]?.isMultikey, true);
});

test('a build that the end of the program cuts off leaves nothing: the next opening drops what it had', async () => {
  const { catalog, engine, beforeAndAfterReopening } = await openForTest();
  await insertAll(catalog, many(3000));
  const before = engine.statistics().dictionaries;
  let closing: Promise<void> | undefined;
  const build = catalog.createIndexes(people, [spec({ a: 1 })], {
    checkInterrupt: () => {
      if ((catalog.builds()[0]?.documentsDone ?? 0) > 1000) closing ??= engine.close();
    },
  });
  await assert.rejects(build);
  await closing;
  await beforeAndAfterReopening(async (opened, environment) => {
    if (opened === catalog) return;
    await assertWhole(opened);
    const { txn, collection } = await reading(opened);
    assert.equal(collection.indexes.length, 1);
    txn.abort();
    // Dropped trees are taken apart in the background.
    for (let turn = 0; turn < 1000 && environment.statistics().dictionaries > before; turn++) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(environment.statistics().dictionaries, before);
  });
});
