import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BsonArray, bsonUndefined, Double, ObjectId, Regex, Timestamp } from '../../src/bson/index.ts';
import type { Value , Document} from '../../src/bson/index.ts';
import { CommandError } from '../../src/base/errors.ts';
import { assertWhole, conflict, doc, insertAll, openForTest, people, reading, refusal, spec } from './catalog-for-test.ts';

test('_id moves to the front, and is made where there is none', async () => {
  const { catalog } = await openForTest();
  await insertAll(catalog, [doc({ a: 1, _id: 7, b: 2 })]);
  const { txn, collection } = await reading(catalog);
  assert.deepEqual((await collection.get(txn, collection.keyOf(7)))?.keys(), ['_id', 'a', 'b']);
  const made = collection.prepare(doc({ a: 1 })).document;
  assert.deepEqual(made.keys(), ['_id', 'a']);
  assert(made.get('_id') instanceof ObjectId);
});

for (const [what, id] of [
  ['an array', BsonArray.of([1])],
  ['a regex', new Regex('a')],
  ['undefined', bsonUndefined],
] as readonly [string, Value][]) {
  test(`_id cannot be ${what}`, async () => {
    const { catalog } = await openForTest();
    await assert.rejects(insertAll(catalog, [doc({ _id: id })]), refusal(53));
  });
}

test('a document deeper than a hundred levels or larger than 16 MiB is refused', async () => {
  const { catalog } = await openForTest();
  let deep = doc({ _id: 1 });
  for (let level = 0; level < 100; level++) deep = doc({ _id: 1, a: deep });
  await assert.rejects(insertAll(catalog, [deep]), refusal(15));
  await assert.rejects(insertAll(catalog, [doc({ _id: 1, a: 'x'.repeat(16 * 1024 * 1024) })]), refusal(10334, /too large/));
});

test('a zero timestamp at the top level is filled in', async () => {
  const { catalog } = await openForTest();
  await insertAll(catalog, [doc({ _id: 1, t: new Timestamp(0, 0) })]);
  const { txn, collection } = await reading(catalog);
  const stamped = (await collection.get(txn, collection.keyOf(1)))?.get('t');
  assert(stamped instanceof Timestamp && stamped.seconds > 0);
});

test('a second document with an equal _id, of whatever number type, is 11000 with pattern and value', async () => {
  const { catalog } = await openForTest();
  await insertAll(catalog, [doc({ _id: 1 })]);
  await assert.rejects(insertAll(catalog, [doc({ _id: new Double(1) })]), (error: unknown) => {
    assert(error instanceof CommandError);
    assert.equal(error.code, 11000);
    assert.match(error.message, /^E11000 duplicate key error collection: test\.people index: _id_ dup key: \{ _id: 1/);
    assert.deepEqual((error.details.get('keyPattern') as Document).get('_id'), 1);
    assert.deepEqual((error.details.get('keyValue') as Document).get('_id'), new Double(1));
    return true;
  });
});

test('a unique index refuses what is there, in the same statement and in others, and takes it when it has gone', async () => {
  const { catalog } = await openForTest();
  await catalog.createIndexes(people, [spec({ name: 1 }, { unique: true })]);
  await insertAll(catalog, [doc({ _id: 1, name: 'ann' })]);
  await assert.rejects(
    insertAll(catalog, [doc({ _id: 2, name: 'ann' })]),
    refusal(11000, /^E11000 duplicate key error collection: test\.people index: name_1 dup key: \{ name: "ann" \}$/),
  );
  await assert.rejects(insertAll(catalog, [doc({ _id: 3, name: 'bob' }), doc({ _id: 4, name: 'bob' })]), refusal(11000));
  await catalog.run(async (txn) => {
    const collection = await catalog.ensureCollection(txn, people);
    const key = collection.keyOf(1);
    await collection.lock(txn, key);
    const before = await collection.getLatest(txn, key);
    assert(before !== undefined);
    await collection.remove(txn, key, before);
    await collection.insert(txn, collection.prepare(doc({ _id: 2, name: 'ann' })));
  });
  await assertWhole(catalog);
});

test('a unique index holds one document without the field, a sparse one any number', async () => {
  const { catalog } = await openForTest();
  await catalog.createIndexes(people, [spec({ a: 1 }, { unique: true }), spec({ b: 1 }, { unique: true, sparse: true })]);
  await insertAll(catalog, [doc({ _id: 1, a: 1 }), doc({ _id: 2 })]);
  await assert.rejects(insertAll(catalog, [doc({ _id: 3, a: null })]), refusal(11000, /dup key: \{ a: null \}/));
  await assertWhole(catalog);
});

test('a partial unique index looks at matching documents only', async () => {
  const { catalog } = await openForTest();
  const partialFilterExpression = doc({ active: true });
  await catalog.createIndexes(people, [spec({ a: 1 }, { unique: true, partialFilterExpression })]);
  await insertAll(catalog, [doc({ _id: 1, a: 1, active: true }), doc({ _id: 2, a: 1, active: false }), doc({ _id: 3, a: 1 })]);
  await assert.rejects(insertAll(catalog, [doc({ _id: 4, a: 1, active: true })]), refusal(11000));
  const { txn, collection } = await reading(catalog);
  assert.equal(collection.indexes[1]?.totals(txn).rows, 1);
});

test('a refused document leaves nothing behind in the indexes before the one that refused', async () => {
  const { catalog } = await openForTest();
  await catalog.createIndexes(people, [spec({ a: 1 }), spec({ b: 1 }, { unique: true })]);
  const txn = catalog.begin('statement');
  const collection = await catalog.ensureCollection(txn, people);
  await collection.insert(txn, collection.prepare(doc({ _id: 1, a: 1, b: 1 })));
  await assert.rejects(async () => collection.insert(txn, collection.prepare(doc({ _id: 2, a: 2, b: 1 }))), refusal(11000));
  await txn.commit();
  await assertWhole(catalog);
});

test('an array gives an entry for each element and makes the index multikey, for ever and after reopening', async () => {
  const { catalog, beforeAndAfterReopening } = await openForTest();
  await catalog.createIndexes(people, [spec({ 'a.b': 1, c: 1 })]);
  await insertAll(catalog, [doc({ _id: 1, a: doc({ b: 1 }), c: 1 })]);
  const first = await reading(catalog);
  assert.equal(first.collection.indexes[1]?.isMultikey, false);
  const a = BsonArray.of([doc({ b: 1 }), doc({ b: 2 }), doc({ b: 2 })]);
  await insertAll(catalog, [doc({ _id: 2, a, c: 1 })]);
  await beforeAndAfterReopening(async (opened) => {
    const { txn, collection } = await reading(opened);
    const index = collection.indexes[1];
    assert.equal(index?.isMultikey, true);
    assert.deepEqual(index.multikeyComponents, [[true, false], [false]]);
    assert.equal(index.totals(txn).rows, 3);
    await assertWhole(opened);
  });
});

test('two arrays side by side in one index are 171', async () => {
  const { catalog } = await openForTest();
  await catalog.createIndexes(people, [spec({ a: 1, b: 1 })]);
  const both = doc({ _id: 1, a: BsonArray.of([1]), b: BsonArray.of([2]) });
  await assert.rejects(insertAll(catalog, [both]), refusal(171, /^cannot index parallel arrays \[b\] \[a\]$/));
});

test('an update changes the entries that differ, and the document in a clustering index', async () => {
  const { catalog } = await openForTest();
  await catalog.createIndexes(people, [spec({ a: 1 }), spec({ b: -1 }, { clustering: true }), spec({ c: 1 }, { unique: true, sparse: true })]);
  await insertAll(catalog, [doc({ _id: 1, a: BsonArray.of([1, 2, 3]), b: 1, c: 'x' }), doc({ _id: 2, a: 9, b: 2, c: 'y' })]);
  const change = async (after: Document): Promise<void> =>
    catalog.run(async (txn) => {
      const collection = await catalog.ensureCollection(txn, people);
      const key = collection.keyOf(1);
      await collection.lock(txn, key);
      const before = await collection.getLatest(txn, key);
      assert(before !== undefined);
      await collection.update(txn, key, { before, after });
    });
  await change(doc({ _id: 1, a: BsonArray.of([2, 3, 4]), b: 1, c: 'z', d: 'more' }));
  await assertWhole(catalog);
  await change(doc({ _id: 1, a: new Double(2), b: new Double(1) }));
  await assertWhole(catalog);
  await assert.rejects(change(doc({ _id: 1, c: 'y' })), refusal(11000));
  await assert.rejects(change(doc({ _id: 5 })), refusal(66));
  await assertWhole(catalog);
});

test('a validator refuses what does not match with 121, unless it is bypassed', async () => {
  const { catalog } = await openForTest();
  await catalog.run((txn) => catalog.create(txn, people, doc({ validator: doc({ age: doc({ $gte: 18 }) }) })));
  await assert.rejects(insertAll(catalog, [doc({ _id: 1, age: 17 })]), refusal(121));
  await insertAll(catalog, [doc({ _id: 2, age: 18 })]);
  await catalog.run(async (txn) => {
    const collection = await catalog.ensureCollection(txn, people);
    await collection.insert(txn, collection.prepare(doc({ _id: 3, age: 1 })), { bypassValidation: true });
  });
  const { txn, collection } = await reading(catalog);
  assert.equal(collection.totals(txn).rows, 2);
});

test('the second of two transactions that insert one key is refused at once in snapshot mode', async () => {
  const { catalog } = await openForTest();
  await insertAll(catalog, [doc({ _id: 0 })]);
  const one = catalog.begin('snapshot');
  const two = catalog.begin('snapshot');
  const first = await catalog.ensureCollection(one, people);
  const second = await catalog.ensureCollection(two, people);
  await first.insert(one, first.prepare(doc({ _id: 1 })));
  assert.throws(() => second.insert(two, second.prepare(doc({ _id: 1 }))), conflict);
  await one.commit();
});
