import assert from 'node:assert/strict';
import { test } from 'node:test';
import { find } from '../plan/plan-for-test.ts';
import { assertWhole, doc, insertAll, openForTest, people, reading, refusal, spec } from './catalog-for-test.ts';
import type { Catalog } from '../../src/catalog/index.ts';

async function capped(size: number, max?: number): ReturnType<typeof openForTest> {
  const opened = await openForTest();
  await opened.catalog.run((txn) => opened.catalog.create(txn, people, doc({ capped: true, size, ...(max === undefined ? {} : { max }) })));
  return opened;
}

const ids = async (catalog: Catalog, hint?: number): Promise<unknown[]> =>
  (await find(catalog, hint === undefined ? {} : { hint: doc({ $natural: hint }) })).map((each) => each.get('_id'));

test('a capped collection gives its documents in the order of insertion, both ways, also after reopening', async () => {
  const { catalog, beforeAndAfterReopening } = await capped(100_000);
  for (const id of [5, 3, 9, 1]) await insertAll(catalog, [doc({ _id: id })]);
  await beforeAndAfterReopening(async (opened) => {
    assert.deepEqual((await ids(opened)).slice(0, 4), [5, 3, 9, 1]);
    await insertAll(opened, [doc({ _id: (await ids(opened)).length + 100 })]);
    assert.equal((await ids(opened, -1))[0], (await ids(opened)).length + 99);
    await assertWhole(opened);
  });
});

test('the oldest documents of a capped collection go when there are too many or too many bytes', async () => {
  const { catalog } = await capped(100_000, 3);
  await catalog.createIndexes(people, [spec({ a: 1 })]);
  for (let id = 1; id <= 10; id++) await insertAll(catalog, [doc({ _id: id, a: id % 2 })]);
  assert.deepEqual(await ids(catalog), [8, 9, 10]);
  await assertWhole(catalog);
  const small = await capped(500);
  for (let id = 1; id <= 30; id++) await insertAll(small.catalog, [doc({ _id: id, text: 'x'.repeat(70) })]);
  const left = await ids(small.catalog);
  assert.equal(left.at(-1), 30);
  assert.ok(left.length > 1 && left.length < 6);
  await assertWhole(small.catalog);
});

test('_id is unique in a capped collection, and finds, changes and removes its document', async () => {
  const { catalog } = await capped(100_000);
  await insertAll(catalog, [doc({ _id: 2, a: 1 }), doc({ _id: 1, a: 1 })]);
  await assert.rejects(insertAll(catalog, [doc({ _id: 2 })]), refusal(11000, /index: _id_ dup key: \{ _id: 2 \}/));
  assert.deepEqual((await find(catalog, { filter: doc({ _id: 1 }) })).map((each) => each.get('_id')), [1]);
  await catalog.run(async (txn) => {
    const collection = await catalog.ensureCollection(txn, people);
    const cursor = collection.scan(txn, {}, 1);
    const batch = await cursor.nextBatch({ rows: 1, bytes: 1 });
    const key = batch.key(0).slice();
    cursor.close();
    await collection.lock(txn, key);
    const before = await collection.getLatest(txn, key);
    assert(before !== undefined);
    await assert.rejects(async () => collection.update(txn, key, { before, after: doc({ _id: 7 }) }), refusal(66));
    await collection.update(txn, key, { before, after: doc({ _id: 2, a: 5 }) });
  });
  assert.deepEqual((await find(catalog, { filter: doc({ a: 5 }) })).map((each) => each.get('_id')), [2]);
  await assertWhole(catalog);
  const { collection } = await reading(catalog);
  await assert.rejects(catalog.run((txn) => catalog.dropIndexes(txn, people, '_id_')), refusal(72));
  assert.equal(collection.isKeyedById, false);
});
