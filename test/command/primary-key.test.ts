// TokuMX's `primaryKey`: expected values are those of its manual ("primaryKey" of `create`) and of its own tests of primary keys.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import type { Db, Document } from 'mongodb';

import { openServerForTest } from '../support/open-server-for-test.ts';
import type { ServerForTest } from '../support/open-server-for-test.ts';

let server: ServerForTest;
let db: Db;

before(async () => {
  server = await openServerForTest();
  db = (await server.driver()).db('keys');
});
after(() => server.close());

const create = (name: string, primaryKey: Document): Promise<Document> => db.command({ create: name, primaryKey });

async function codeOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 0,
    (error: unknown) => (error as { code?: unknown }).code,
  );
}

async function isValid(name: string): Promise<boolean> {
  const { valid, errors } = await db.command({ validate: name });
  assert.deepEqual(errors, []);
  return valid as boolean;
}

test('documents lie in the order of the primary key, which is an index shown first, unique and clustering', async () => {
  await create('order', { a: 1, _id: 1 });
  const c = db.collection<{ _id: number; a?: number | null; b?: number }>('order');
  const [first, second] = await c.indexes();
  assert.deepEqual(first, { v: 2, key: { a: 1, _id: 1 }, name: 'primaryKey', unique: true, clustering: true });
  assert.deepEqual(second, { v: 2, key: { _id: 1 }, name: '_id_' });
  await c.insertMany([{ _id: 1, a: 3 }, { _id: 2, a: 1 }, { _id: 3, a: 2 }, { _id: 4 }, { _id: 5, a: 1 }]);
  assert.deepEqual((await c.find().toArray()).map(({ _id }) => _id), [4, 2, 5, 3, 1]);
  assert.deepEqual((await c.find({ a: 1 }).toArray()).map(({ _id }) => _id), [2, 5]);
  const { queryPlanner } = (await c.find({ a: { $gte: 2 } }).explain('queryPlanner')) as { queryPlanner: { winningPlan: { stage: string; indexName: string } } };
  assert.equal(queryPlanner.winningPlan.stage, 'IXSCAN');
  assert.equal(queryPlanner.winningPlan.indexName, 'primaryKey');
  assert.equal((await c.findOne({ _id: 3 }))?.a, 2);
  const { options } = (await db.listCollections({ name: 'order' }).toArray())[0] as { options?: Document };
  assert.deepEqual(options, { primaryKey: { a: 1, _id: 1 } });
  assert.ok(await isValid('order'));
});

test('a primary key ends in _id: 1 and has no other kinds of fields', async () => {
  const refused: readonly [Document, number][] = [
    [{ _id: -1 }, 17203],
    [{ _id: 'hashed' }, 17203],
    [{ a: 1, _id: -1 }, 17203],
    [{ a: 1, b: 1, _id: 1, z: 1 }, 17203],
    [{ _id: 1, a: 1 }, 17203],
    [{ a: 1 }, 17203],
    [{ a: 'hashed', _id: 1 }, 72],
  ];
  for (const [key, code] of refused) assert.equal(await codeOf(create('refused', key)), code, JSON.stringify(key));
  await create('plain', { _id: 1 });
  assert.equal((await db.collection('plain').indexes()).length, 1);
  assert.equal(await codeOf(db.command({ create: 'refused', primaryKey: { a: 1, _id: 1 }, capped: true, size: 1000 })), 72);
});

test('no field of a primary key is an array, a regular expression or undefined', async () => {
  await create('types', { 'a.b': -1, _id: 1 });
  const c = db.collection<{ _id: number; a?: unknown }>('types');
  assert.equal(await codeOf(c.insertOne({ _id: 1, a: { b: [1] } })), 17205);
  assert.equal(await codeOf(c.insertOne({ _id: 1, a: [{ b: 1 }] })), 17205);
  assert.equal(await codeOf(c.insertOne({ _id: 1, a: { b: /x/ } })), 17208);
  await c.insertMany([{ _id: 1, a: { b: 1 } }, { _id: 2, a: { b: 2 } }]);
  assert.deepEqual((await c.find().toArray()).map(({ _id }) => _id), [2, 1]);
  assert.equal(await codeOf(c.updateOne({ _id: 1 }, { $set: { a: { b: [1] } } })), 17205);
  assert.deepEqual(await c.findOne({ _id: 1 }), { _id: 1, a: { b: 1 } });
});

test('_id stays unique whatever the rest of the key is', async () => {
  await create('unique', { a: 1, _id: 1 });
  const c = db.collection<{ _id: number; a: number }>('unique');
  await c.insertOne({ _id: 1, a: 1 });
  for (const a of [1, 2]) {
    const error: unknown = await c.insertOne({ _id: 1, a }).catch((cause: unknown) => cause);
    assert.ok(error instanceof Error && 'keyPattern' in error);
    assert.deepEqual(error.keyPattern, { _id: 1 });
  }
  assert.equal(await codeOf(db.command({ dropIndexes: 'unique', index: { a: 1, _id: 1 } })), 72);
  assert.equal(await codeOf(db.command({ dropIndexes: 'unique', index: 'primaryKey' })), 72);
  await c.createIndex({ a: 1, _id: 1 });
  assert.equal((await c.indexes()).length, 2);
  await c.dropIndexes();
  assert.equal((await c.indexes()).length, 2);
});

test('an update that changes the primary key moves the document, with all its entries', async () => {
  await create('moves', { c: 1, _id: 1 });
  const c = db.collection<{ _id: number; b: number; c: number; z?: number }>('moves');
  await c.createIndex({ b: 1 });
  await c.createIndex({ z: 1 }, { unique: true, sparse: true }, {});
  await c.insertMany([{ _id: 1, b: 1, c: 1, z: 7 }, { _id: 2, b: 1, c: 5 }]);
  await c.updateOne({ _id: 1 }, { $set: { c: 9 } });
  assert.deepEqual((await c.find().toArray()).map(({ _id }) => _id), [2, 1]);
  assert.deepEqual((await c.find({ b: 1 }).hint({ b: 1 }).toArray()).map(({ _id }) => _id), [2, 1]);
  assert.equal((await c.findOne({ z: 7 }))?.c, 9);
  assert.equal((await c.find({ c: 1 }).toArray()).length, 0);
  assert.equal((await c.find({ c: 9 }).hint({ c: 1, _id: 1 }).toArray()).length, 1);
  // Each document once, though the new keys lie before the scan.
  const { modifiedCount } = await c.updateMany({}, { $inc: { c: 100 } });
  assert.equal(modifiedCount, 2);
  assert.deepEqual((await c.find().toArray()).map((row) => row.c), [105, 109]);
  await c.replaceOne({ _id: 2 }, { b: 3, c: 200 });
  assert.equal((await c.findOneAndUpdate({ b: 3 }, { $set: { c: 0 } }, { returnDocument: 'after' }))?.c, 0);
  await c.deleteOne({ c: 109 });
  assert.deepEqual(await c.find().toArray(), [{ _id: 2, b: 3, c: 0 }]);
  assert.ok(await isValid('moves'));
});

test('a transaction moves a document or does not', async () => {
  await create('held', { c: 1, _id: 1 });
  const client = await server.driver();
  const c = client.db('keys').collection<{ _id: number; c: number }>('held');
  await c.insertMany([{ _id: 1, c: 1 }, { _id: 2, c: 2 }]);
  const session = client.startSession();
  session.startTransaction();
  await c.updateOne({ _id: 1 }, { $set: { c: 3 } }, { session });
  assert.deepEqual((await c.find({}, { session }).toArray()).map(({ _id }) => _id), [2, 1]);
  assert.deepEqual((await c.find().toArray()).map(({ _id }) => _id), [1, 2]);
  await session.abortTransaction();
  await session.endSession();
  assert.deepEqual((await c.find().toArray()).map(({ _id }) => _id), [1, 2]);
  assert.ok(await isValid('held'));
});

test('an index on a collection with documents, a rename and an output into it keep the primary key', async () => {
  await create('builds', { a: -1, _id: 1 });
  const c = db.collection<{ _id: number; a: number }>('builds');
  await c.insertMany(Array.from({ length: 1500 }, (_, i) => ({ _id: i, a: i % 10 })));
  await c.createIndex({ a: 1 });
  assert.equal(await c.countDocuments({ a: 3 }, { hint: 'a_1' }), 150);
  assert.equal(await c.countDocuments({ a: 3 }), 150);
  const renamed = await c.rename('built');
  assert.equal((await renamed.findOne({}))?.['a'], 9);
  await db.collection('source').insertOne({ a: 4 });
  await db.collection('source').aggregate([{ $out: 'built' }]).toArray();
  assert.deepEqual((await renamed.indexes()).map(({ name }) => name), ['primaryKey', '_id_', 'a_1']);
  assert.ok(await isValid('built'));
});

test('change streams look documents up by _id', async () => {
  await create('watched', { a: 1, _id: 1 });
  const c = db.collection<{ _id: number; a: number }>('watched');
  const stream = c.watch([], { fullDocument: 'updateLookup' });
  await stream.tryNext();
  await c.insertOne({ _id: 1, a: 1 });
  assert.equal((await stream.next()).operationType, 'insert');
  await c.updateOne({ _id: 1 }, { $set: { a: 2 } });
  const change = await stream.next();
  await stream.close();
  assert.equal(change.operationType, 'update');
  assert.deepEqual(change.fullDocument, { _id: 1, a: 2 });
  assert.deepEqual(change.documentKey, { _id: 1 });
});
