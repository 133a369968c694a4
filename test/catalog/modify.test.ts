import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BsonArray, Document } from '../../src/bson/index.ts';
import { namespaceOf } from '../../src/catalog/index.ts';
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
  await assert.rejects(modify(catalog, doc({ index: doc({ name: '_id_', expireAfterSeconds: 9 }) })), refusal(72));
  await modify(catalog, doc({ index: doc({ name: '_id_', prepareUnique: true }) }));
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

test('a prepared index keeps the duplicates that it has, takes no others, and becomes unique when they are gone', async () => {
  const { catalog, beforeAndAfterReopening } = await openForTest();
  await catalog.createIndexes(people, [spec({ a: 1 })]);
  await insertAll(catalog, [doc({ _id: 1, a: 5 }), doc({ _id: 2, a: 5 }), doc({ _id: 3, a: BsonArray.of([7, 8]) })]);
  const never = (): void => undefined;
  const unique = doc({ index: doc({ name: 'a_1', unique: true }) });
  await assert.rejects(catalog.makeUnique(people, unique, never), refusal(72));
  assert.deepEqual((await modify(catalog, doc({ index: doc({ name: 'a_1', prepareUnique: true }) }))).fields, [['prepareUnique_old', false], ['prepareUnique_new', true]]);
  await assert.rejects(insertAll(catalog, [doc({ _id: 4, a: 5 })]), refusal(11000));
  await assert.rejects(insertAll(catalog, [doc({ _id: 4, a: 9 }), doc({ _id: 5, a: BsonArray.of([1, 9]) })]), refusal(11000));
  await assert.rejects(catalog.makeUnique(people, unique, never), (error: unknown) => {
    const { code, details } = error as { code: number; details: ReadonlyMap<string, BsonArray> };
    const [violation] = details.get('violations')?.items() ?? [];
    return code === 359 && violation instanceof Document && (violation.get('ids') as BsonArray).items().every((id, i) => id === i + 1);
  });
  await catalog.run(async (txn) => {
    const collection = await catalog.ensureCollection(txn, people);
    await collection.lock(txn, collection.keyOf(2));
    await collection.remove(txn, collection.keyOf(2), doc({ _id: 2, a: 5 }));
    await collection.lock(txn, collection.keyOf(1));
    await collection.remove(txn, collection.keyOf(1), doc({ _id: 1, a: 5 }));
    // What the transaction has removed itself does not keep it from coming again.
    await collection.insert(txn, collection.prepare(doc({ _id: 6, a: 5 })));
  });
  assert.deepEqual((await catalog.makeUnique(people, doc({ ...Object.fromEntries(unique.fields), dryRun: true }), never))?.fields, []);
  assert.deepEqual((await catalog.makeUnique(people, unique, never))?.fields, [['unique_new', true]]);
  assert.equal(await catalog.makeUnique(people, unique, never), undefined);
  await beforeAndAfterReopening(async (opened) => {
    const { collection } = await reading(opened);
    assert.deepEqual(collection.indexes.map((index) => [index.name, index.unique, index.preparesUnique]), [['_id_', false, false], ['a_1', true, false]]);
    await assertWhole(opened);
    await assert.rejects(insertAll(opened, [doc({ _id: 9, a: 7 })]), refusal(11000));
  });
});

test('of two transactions that bring a prepared index the same key one is refused', async () => {
  const { catalog } = await openForTest();
  await catalog.createIndexes(people, [spec({ a: 1 }, { prepareUnique: true })]);
  await insertAll(catalog, [doc({ _id: 1, a: 1 })]);
  const insertOne = (id: number): Promise<void> => catalog.run(async (txn) => {
    const collection = await catalog.ensureCollection(txn, people);
    await collection.insert(txn, collection.prepare(doc({ _id: id, a: 2 })));
  });
  const outcomes = await Promise.allSettled([2, 3, 4].map(insertOne));
  assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected', 'rejected']);
  await assertWhole(catalog);
});

test('a validator cannot ask for a text search', async () => {
  const { catalog } = await openForTest();
  const search = doc({ $or: BsonArray.of([doc({ a: 1 }), doc({ $and: BsonArray.of([doc({ $text: doc({ $search: 'x' }) })]) })]) });
  await insertAll(catalog, [doc({ _id: 1 })]);
  await assert.rejects(modify(catalog, doc({ validator: search })), refusal(2));
  await assert.rejects(catalog.run((txn) => catalog.create(txn, namespaceOf('test', 'other'), doc({ validator: search }))), refusal(2));
});

test('a partial index is the same whatever the order of its conditions', async () => {
  const { catalog } = await openForTest();
  const conditions = [doc({ a: 1 }), doc({ b: doc({ $gt: 2 }) })];
  const partial = (list: readonly Document[]): Document => spec({ c: 1 }, { partialFilterExpression: doc({ $and: BsonArray.of(list) }) });
  await catalog.createIndexes(people, [partial(conditions)]);
  assert.equal((await catalog.createIndexes(people, [partial(conditions.toReversed())])).after, 2);
  await assert.rejects(catalog.createIndexes(people, [partial(conditions.slice(1))]), refusal(86));
});
