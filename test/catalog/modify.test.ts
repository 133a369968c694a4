import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BsonArray, Document } from '../../src/bson/index.ts';
import type { Catalog } from '../../src/catalog/index.ts';
import { assertWhole, doc, insertAll, openForTest, people, reading, refusal, spec } from './catalog-for-test.ts';

const modify = (catalog: Catalog, changes: Document): Promise<Document> => catalog.run((txn) => catalog.modify(txn, people, changes));

test('an index is hidden and shown again, and its time to live changed, with old and new values in the reply', async () => {
  const { catalog, beforeAndAfterReopening } = await openForTest();
  await catalog.createIndexes(people, [spec({ a: 1 }), spec({ t: 1 }, { expireAfterSeconds: 10 })]);
  await insertAll(catalog, [doc({ _id: 1, a: BsonArray.of([1, 2]) })]);
  assert.deepEqual((await modify(catalog, doc({ index: doc({ name: 'a_1', hidden: true }) }))).fields, [['hidden_old', false], ['hidden_new', true]]);
  const changed = await modify(catalog, doc({ index: doc({ keyPattern: doc({ t: 1 }), expireAfterSeconds: 60 }) }));
  assert.deepEqual(changed.fields, [['expireAfterSeconds_old', 10n], ['expireAfterSeconds_new', 60n]]);
  await beforeAndAfterReopening(async (opened) => {
    const { collection } = await reading(opened);
    assert.deepEqual(collection.indexes.map((index) => [index.hidden, index.expireAfterSeconds, index.isMultikey]), [
      [false, undefined, false],
      [true, undefined, true],
      [false, 60, false],
    ]);
    await assertWhole(opened);
  });
});

test('a validator set later holds for what is written later', async () => {
  const { catalog } = await openForTest();
  await insertAll(catalog, [doc({ _id: 1, age: 1 })]);
  await modify(catalog, doc({ validator: doc({ age: doc({ $gte: 18 }) }), validationLevel: 'moderate' }));
  await assert.rejects(insertAll(catalog, [doc({ _id: 2, age: 2 })]), refusal(121));
  await catalog.run(async (txn) => {
    const collection = await catalog.ensureCollection(txn, people);
    const key = collection.keyOf(1);
    await collection.lock(txn, key);
    await collection.update(txn, key, { before: doc({ _id: 1, age: 1 }), after: doc({ _id: 1, age: 3 }) });
  });
  await modify(catalog, doc({ validationAction: 'warn' }));
  await insertAll(catalog, [doc({ _id: 2, age: 2 })]);
});

test('what cannot be modified is refused', async () => {
  const { catalog } = await openForTest();
  await assert.rejects(modify(catalog, Document.empty), refusal(26));
  await insertAll(catalog, [doc({ _id: 1 })]);
  await assert.rejects(modify(catalog, doc({ index: doc({ name: 'nope', hidden: true }) })), refusal(27));
  await assert.rejects(modify(catalog, doc({ index: doc({ name: '_id_', hidden: true }) })), refusal(2));
  await assert.rejects(modify(catalog, doc({ index: doc({ name: 'a', keyPattern: doc({ a: 1 }) }) })), refusal(72));
  await assert.rejects(modify(catalog, doc({ viewOn: 'x' })), refusal(72));
  await assert.rejects(modify(catalog, doc({ nonsense: 1 })), refusal(40415));
});

test('a capped collection takes a new size and number, which hold from the next document on', async () => {
  const { catalog } = await openForTest();
  await catalog.run((txn) => catalog.create(txn, people, doc({ capped: true, size: 100_000 })));
  for (let id = 1; id <= 6; id++) await insertAll(catalog, [doc({ _id: id })]);
  await modify(catalog, doc({ cappedMax: 2 }));
  await insertAll(catalog, [doc({ _id: 7 })]);
  const { txn, collection } = await reading(catalog);
  assert.equal(collection.totals(txn).rows, 2);
  assert.equal(collection.options.capped?.documentsMax, 2);
});
