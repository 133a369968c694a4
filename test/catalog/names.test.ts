import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BsonArray, Document } from '../../src/bson/index.ts';
import { checkCreatable, checkDatabaseName, namespaceOf, parseNamespace } from '../../src/catalog/index.ts';
import { assertWhole, conflict, doc, insertAll, openForTest, people, reading, refusal } from './catalog-for-test.ts';

test('a namespace ends its database at the first dot', () => {
  const ns = parseNamespace('shop.orders.2024');
  assert.deepEqual([ns.db, ns.collection, ns.text], ['shop', 'orders.2024', 'shop.orders.2024']);
});

for (const text of ['', 'shop', '.orders', 'shop.', 'a b.c', 'a/b.c', 'shop..x', `${'x'.repeat(64)}.c`]) {
  test(`the namespace ${JSON.stringify(text)} is refused with 73`, () => {
    assert.throws(() => parseNamespace(text), refusal(73));
  });
}

test('names that may be read but not created are refused at creation', () => {
  assert.throws(() => checkCreatable(namespaceOf('shop', 'system.indexes')), refusal(73, /Invalid system namespace: shop\.system\.indexes/));
  assert.throws(() => checkCreatable(namespaceOf('shop', 'a$b')), refusal(73));
  assert.throws(() => checkCreatable(namespaceOf('shop', 'x'.repeat(251))), refusal(73, /too long/));
  assert.throws(() => checkDatabaseName('a.b'), refusal(73));
});

test('a created collection is listed with its UUID and options, also after reopening', async () => {
  const { catalog, beforeAndAfterReopening } = await openForTest();
  await catalog.run((txn) => catalog.create(txn, people, doc({ capped: true, size: 4096 })));
  await beforeAndAfterReopening(async (opened) => {
    const txn = opened.begin('read');
    assert.deepEqual(await opened.databases(txn), ['test']);
    const [entry] = await opened.collections(txn, 'test');
    const row = entry?.describe() ?? Document.empty;
    assert.equal(row.get('name'), 'people');
    assert.equal((row.get('options') as Document).get('capped'), true);
    assert.equal((row.get('info') as Document).has('uuid'), true);
  });
});

test('a name that is taken is refused with 48 if the options differ, an option that is unknown with 40415', async () => {
  const { catalog } = await openForTest();
  await catalog.run((txn) => catalog.create(txn, people, Document.empty));
  await catalog.run((txn) => catalog.create(txn, people, Document.empty));
  await assert.rejects(catalog.run((txn) => catalog.create(txn, people, doc({ capped: true, size: 4096 }))), refusal(48, /already exists/));
  await assert.rejects(catalog.run((txn) => catalog.create(txn, namespaceOf('test', 'x'), doc({ nonsense: 1 }))), refusal(40415));
});

test('a view is kept, found as a view, and refused where a collection is wanted', async () => {
  const { catalog, beforeAndAfterReopening } = await openForTest();
  const ns = namespaceOf('test', 'adults');
  const pipeline = BsonArray.of([doc({ $match: doc({ age: doc({ $gte: 18 }) }) })]);
  await catalog.run((txn) => catalog.create(txn, ns, doc({ viewOn: 'people', pipeline })));
  await beforeAndAfterReopening(async (opened) => {
    const txn = opened.begin('read');
    const view = await opened.lookup(txn, ns);
    assert(view?.kind === 'view');
    assert.equal(view.viewOn, 'people');
    assert.equal(view.pipeline.length, 1);
    assert.throws(() => opened.collection(txn, ns), refusal(166));
  });
});

test('dropping forgets the collection and its database; an unknown one is 26', async () => {
  const { catalog } = await openForTest();
  await insertAll(catalog, [doc({ _id: 1 })]);
  const dropped = await catalog.run((txn) => catalog.drop(txn, people));
  assert.equal(dropped.nIndexesWas, 1);
  assert.deepEqual(await catalog.databases(catalog.begin('read')), []);
  await assert.rejects(catalog.run((txn) => catalog.drop(txn, people)), refusal(26));
});

test('a reader whose snapshot is older than a drop goes on reading', async () => {
  const { catalog } = await openForTest();
  await insertAll(catalog, [doc({ _id: 1, a: 'kept' })]);
  const { txn } = await reading(catalog);
  await catalog.run((other) => catalog.drop(other, people));
  const collection = await catalog.collection(txn, people);
  assert.equal((await collection?.get(txn, collection.keyOf(1)))?.get('a'), 'kept');
});

test('a transaction that meets a collection changed after its snapshot is a write-conflict', async () => {
  const { catalog } = await openForTest();
  await insertAll(catalog, [doc({ _id: 1 })]);
  const txn = catalog.begin('snapshot');
  await catalog.run((other) => catalog.drop(other, people));
  await insertAll(catalog, [doc({ _id: 2 })]);
  await assert.rejects(async () => catalog.collection(txn, people), conflict);
});

test('a renamed collection keeps documents, indexes and UUID under the new name, in another database too', async () => {
  const { catalog, beforeAndAfterReopening } = await openForTest();
  await insertAll(catalog, [doc({ _id: 1, a: 5 })]);
  const { collection } = await reading(catalog);
  const to = namespaceOf('other', 'folk');
  await catalog.run((txn) => catalog.rename(txn, people, to, { dropTarget: false }));
  await beforeAndAfterReopening(async (opened) => {
    const moved = await reading(opened, to);
    assert.deepEqual(moved.collection.uuid.bytes, collection.uuid.bytes);
    assert.equal((await moved.collection.get(moved.txn, moved.collection.keyOf(1)))?.get('a'), 5);
    assert.equal(await opened.collection(moved.txn, people), undefined);
  });
});

test('renaming onto a name that is taken is 48 unless the target is to be dropped', async () => {
  const { catalog } = await openForTest();
  const to = namespaceOf('test', 'folk');
  await insertAll(catalog, [doc({ _id: 1 })]);
  await insertAll(catalog, [doc({ _id: 2 })], to);
  await assert.rejects(catalog.run((txn) => catalog.rename(txn, people, to, { dropTarget: false })), refusal(48));
  await catalog.run((txn) => catalog.rename(txn, people, to, { dropTarget: true }));
  const { txn, collection } = await reading(catalog, to);
  assert.equal(collection.totals(txn).rows, 1);
  assert.notEqual(await collection.get(txn, collection.keyOf(1)), undefined);
  await assert.rejects(catalog.run((other) => catalog.rename(other, people, to, { dropTarget: true })), refusal(26));
});

test('a transaction sees the names it changed before others do, and taking it back forgets them', async () => {
  const { catalog } = await openForTest();
  const txn = catalog.begin('snapshot');
  const mark = txn.mark();
  const made = await catalog.ensureCollection(txn, people);
  await made.insert(txn, made.prepare(doc({ _id: 1 })));
  assert.notEqual(await catalog.collection(txn, people), undefined);
  assert.equal(await catalog.collection(catalog.begin('read'), people), undefined);
  txn.rollbackTo(mark);
  assert.equal(await catalog.collection(txn, people), undefined);
  await catalog.create(txn, people, Document.empty);
  await txn.commit();
  assert.notEqual(await catalog.collection(catalog.begin('read'), people), undefined);
});

test('two statements that make the same collection at once both succeed', async () => {
  const { catalog } = await openForTest();
  await Promise.all([1, 2, 3, 4].map((id) => insertAll(catalog, [doc({ _id: id })])));
  const { txn, collection } = await reading(catalog);
  assert.equal(collection.totals(txn).rows, 4);
  await assertWhole(catalog);
});

test('what was written under a dropped collection does not commit', async () => {
  const { catalog } = await openForTest();
  await insertAll(catalog, [doc({ _id: 1 })]);
  const txn = catalog.begin('snapshot');
  const collection = await catalog.collection(txn, people);
  assert(collection !== undefined);
  await collection.insert(txn, collection.prepare(doc({ _id: 2 })));
  await catalog.run((other) => catalog.drop(other, people));
  await assert.rejects(txn.commit(), conflict);
});

test('dropping a database drops all its collections and views and no other', async () => {
  const { catalog } = await openForTest();
  await insertAll(catalog, [doc({ _id: 1 })]);
  await insertAll(catalog, [doc({ _id: 1 })], namespaceOf('test2', 'people'));
  await catalog.run((txn) => catalog.dropDatabase(txn, 'test'));
  assert.deepEqual(await catalog.databases(catalog.begin('read')), ['test2']);
});

test('a view does not stand on itself, nor on more than nineteen others', async () => {
  const { catalog } = await openForTest();
  const make = (name: string, viewOn: string): Promise<unknown> =>
    catalog.run((txn) => catalog.create(txn, namespaceOf('test', name), doc({ viewOn })));
  await make('v1', 'people');
  for (let i = 2; i <= 20; i++) await make(`v${i}`, `v${i - 1}`);
  await assert.rejects(make('v21', 'v20'), refusal(165));
  await assert.rejects(make('v', 'v'), refusal(5));
  await assert.rejects(catalog.run((txn) => catalog.modify(txn, namespaceOf('test', 'v1'), doc({ viewOn: 'v3' }))), refusal(5));
  await assert.rejects(catalog.run((txn) => catalog.create(txn, people, doc({ viewOn: 'x', pipeline: BsonArray.of([1]) }))), refusal(14));
});
