// TokuMX's partitioned collections: expected values are those of its manual and of its own tests of partitions (which numbers parts get, what
// is refused and with which codes).

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import type { Db, Document, MongoClient } from 'mongodb';
import { MaxKey, MinKey } from 'mongodb';

import { openServerForTest } from '../support/open-server-for-test.ts';
import type { ServerForTest } from '../support/open-server-for-test.ts';

let server: ServerForTest;
let client: MongoClient;
let db: Db;

before(async () => {
  server = await openServerForTest();
  client = await server.driver();
  db = client.db('parts');
});
after(() => server.close());

interface Part {
  readonly _id: number;
  readonly max: Document;
}

const create = (name: string, options: Document = {}): Promise<Document> => db.command({ create: name, partitioned: 1, ...options });
const add = (name: string, newMax?: Document): Promise<Document> => db.command(newMax === undefined ? { addPartition: name } : { addPartition: name, newMax });
const drop = (name: string, id: number): Promise<Document> => db.command({ dropPartition: name, id });
const infoOf = (reply: Document): readonly Part[] => reply['partitions'] as readonly Part[];
const info = async (name: string): Promise<readonly Part[]> => infoOf(await db.command({ getPartitionInfo: name }));
const ids = async (name: string): Promise<number[]> => (await info(name)).map(({ _id }) => _id);
const evens = (from: number, to: number): { _id: number }[] => Array.from({ length: (to - from) / 2 }, (_, i) => ({ _id: from + 2 * i }));

async function codeOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 0,
    (error: unknown) => (error as { code?: unknown }).code,
  );
}

async function assertWhole(name: string): Promise<void> {
  const { errors, valid } = await db.command({ validate: name });
  assert.deepEqual(errors, []);
  assert.equal(valid, true);
}

test('parts are added behind a bound, which is the largest key where none is given, and numbered on', async () => {
  await create('added');
  const c = db.collection<{ _id: number }>('added');
  const [first] = await info('added');
  assert.equal(first?._id, 0);
  assert.ok(first.max['_id'] instanceof MaxKey);
  assert.equal(await codeOf(drop('added', 0)), 17252);
  assert.equal(await codeOf(add('added')), 17248);
  await c.insertMany(evens(0, 20));
  await add('added');
  assert.deepEqual((await info('added')).map(({ max }) => max['_id'] as unknown).slice(0, 1), [18]);
  await drop('added', 1);
  assert.ok((await info('added'))[0]?.max['_id'] instanceof MaxKey);
  await add('added');
  assert.deepEqual(await ids('added'), [0, 1]);
  for (const low of [12, 18]) assert.equal(await codeOf(add('added', { _id: low })), 17249);
  assert.equal(await codeOf(add('added')), 17248);
  await add('added', { _id: 24 });
  await c.insertMany(evens(20, 40));
  assert.equal(await codeOf(add('added', { _id: 18 })), 17249);
  assert.equal(await codeOf(add('added', { _id: 37 })), 17250);
  assert.equal(await codeOf(add('added', { a: 37 })), 72);
  await add('added', { _id: 38 });
  assert.deepEqual((await info('added')).slice(0, 3).map(({ max }) => max['_id'] as unknown), [18, 24, 38]);
  assert.deepEqual(await ids('added'), [0, 1, 2, 3]);
  await assertWhole('added');
});

test('a part is dropped with its documents and no others; the last one left has no bound', async () => {
  await create('dropped');
  const c = db.collection<{ _id: number; a: number }>('dropped');
  await c.createIndex({ a: 1 });
  for (const max of [18, 24, 39, 60]) await add('dropped', { _id: max });
  await c.insertMany(evens(0, 80).map(({ _id }) => ({ _id, a: _id % 5 })));
  const left = async (): Promise<number[]> => [await c.countDocuments({}), await c.estimatedDocumentCount(), await c.countDocuments({ a: { $gte: 0 } }, { hint: { a: 1 } })];
  assert.deepEqual(await left(), [40, 40, 40]);
  await drop('dropped', 0);
  assert.deepEqual(await left(), [30, 30, 30]);
  assert.equal(await c.countDocuments({ _id: { $lte: 18 } }), 0);
  await drop('dropped', 4);
  assert.deepEqual(await ids('dropped'), [1, 2, 3]);
  assert.ok((await info('dropped'))[2]?.max['_id'] instanceof MaxKey);
  assert.deepEqual(await left(), [21, 21, 21]);
  await drop('dropped', 2);
  assert.deepEqual(await left(), [14, 14, 14]);
  assert.deepEqual((await c.find({}, { sort: { _id: -1 } }).toArray()).map(({ _id }) => _id).slice(0, 2), [60, 58]);
  assert.equal(await codeOf(drop('dropped', 34)), 17253);
  assert.equal(await codeOf(db.command({ dropPartition: 'dropped', id: 'asdf' })), 14);
  await c.insertOne({ _id: 30, a: 1 });
  await c.insertOne({ _id: 1000, a: 1 });
  assert.deepEqual((await c.find({ _id: { $in: [30, 1000] } }).toArray()).length, 2);
  await assertWhole('dropped');
});

test('what is no partitioned collection, or cannot be one, is refused', async () => {
  await db.collection('plain').insertOne({ a: 1 });
  assert.equal(await codeOf(db.command({ getPartitionInfo: 'plain' })), 17298);
  assert.equal(await codeOf(db.command({ getPartitionInfo: 'nothing' })), 17297);
  assert.equal(await codeOf(add('plain')), 17307);
  assert.equal(await codeOf(add('nothing')), 17306);
  assert.equal(await codeOf(drop('plain', 0)), 17307);
  assert.equal(await codeOf(create('refused', { capped: true, size: 1000 })), 17266);
  assert.equal(await codeOf(create('refused', { timeseries: { timeField: 't' } })), 72);
  await create('notunique');
  assert.equal(await codeOf(db.collection('notunique').createIndex({ a: 1 }, { unique: true }, {})), 17351);
  const [listed] = await db.listCollections({ name: 'notunique' }).toArray();
  assert.deepEqual((listed as { options?: Document }).options, { partitioned: true });
});

test('an index gives its order over all parts, forwards and backwards, by batches', async () => {
  await create('sorted');
  const c = db.collection<{ _id: number; a: number; b?: number | number[] }>('sorted');
  for (const max of [99, 199, 299]) await add('sorted', { _id: max });
  const documents = Array.from({ length: 1000 }, (_, i) => ({ _id: i, a: (i * 7919) % 1000 }));
  await c.insertMany(documents);
  await c.createIndex({ a: 1 });
  await c.createIndex({ b: 1 });
  const up = (await c.find({ a: { $gte: 300 } }).sort({ a: 1 }).batchSize(90).toArray()).map(({ a }) => a);
  assert.deepEqual(up, Array.from({ length: 700 }, (_, i) => 300 + i));
  const down = (await c.find().sort({ a: -1 }).hint({ a: 1 }).limit(250).toArray()).map(({ a }) => a);
  assert.deepEqual(down, Array.from({ length: 250 }, (_, i) => 999 - i));
  const plan = JSON.stringify(await c.find().sort({ a: -1 }).explain('queryPlanner'));
  assert.ok(plan.includes('IXSCAN') && !plan.includes('"SORT"'));
  assert.deepEqual((await c.find().toArray()).map(({ _id }) => _id), documents.map(({ _id }) => _id));
  // An array in one part makes the index multikey, for all parts, those that come too.
  await c.updateOne({ _id: 150 }, { $set: { b: [1, 2] } });
  await add('sorted', { _id: 2000 });
  await c.insertOne({ _id: 3000, a: 1, b: 1 });
  assert.deepEqual((await c.find({ b: 1 }).hint({ b: 1 }).toArray()).map(({ _id }) => _id), [150, 3000]);
  assert.equal(await c.countDocuments({ b: { $gte: 1 } }), 2);
  await assertWhole('sorted');
  await c.dropIndex('a_1');
  assert.deepEqual((await c.indexes()).map(({ name }) => name), ['_id_', 'b_1']);
  await assertWhole('sorted');
});

test('a primary key of its own says to which part a document belongs, and an update takes it to another', async () => {
  await create('keyed', { primaryKey: { a: 1, _id: 1 } });
  const c = db.collection<{ _id: number; a: number; b?: number }>('keyed');
  assert.equal((await c.indexes()).length, 2);
  await c.insertMany([{ _id: 1, a: 2 }, { _id: 2, a: 1 }]);
  assert.equal(await codeOf(add('keyed', { a: 0, _id: 100 })), 17250);
  await add('keyed');
  assert.deepEqual((await info('keyed'))[0]?.max, { a: 2, _id: 1 });
  await c.createIndex({ b: 1 });
  await c.insertMany([{ _id: 3, a: 3 }, { _id: 100, a: 0, b: 5 }]);
  assert.equal((await c.findOne({ _id: 100 }))?.a, 0);
  await c.updateOne({ _id: 100 }, { $set: { a: 100 } });
  await assertWhole('keyed');
  await drop('keyed', 0);
  assert.deepEqual(await c.find().toArray(), [{ _id: 3, a: 3 }, { _id: 100, a: 100, b: 5 }]);
  assert.deepEqual(await c.find({ b: 5 }).hint({ b: 1 }).toArray(), [{ _id: 100, a: 100, b: 5 }]);
  await assertWhole('keyed');
});

test('a primary key that falls has bounds that fall', async () => {
  await create('falling', { primaryKey: { a: -1, _id: 1 } });
  assert.ok((await info('falling'))[0]?.max['a'] instanceof MinKey);
  await db.collection<{ _id: number; a: number }>('falling').insertMany([3, 2, 1, 0].map((a, _id) => ({ _id, a })));
  assert.equal(await codeOf(add('falling', { a: 4 })), 17250);
  await add('falling');
  assert.deepEqual((await info('falling'))[0]?.max, { a: 0, _id: 3 });
});

test('in a transaction parts come and go with it', async () => {
  await create('held');
  const c = db.collection<{ _id: number }>('held');
  await c.insertMany(evens(0, 40));
  await add('held', { _id: 38 });
  await add('held', { _id: 18 }).catch(() => undefined);
  const session = client.startSession();
  session.startTransaction();
  await db.command({ addPartition: 'held', newMax: { _id: 39 } }, { session });
  await db.command({ dropPartition: 'held', id: 0 }, { session });
  await c.insertOne({ _id: 77 }, { session });
  assert.equal((await c.find({}, { session }).toArray()).length, 1);
  assert.equal((await c.find().toArray()).length, 20);
  assert.deepEqual(infoOf(await db.command({ getPartitionInfo: 'held' }, { session })).map(({ _id }) => _id), [1, 2]);
  await session.abortTransaction();
  assert.deepEqual(await ids('held'), [0, 1]);
  session.startTransaction();
  await db.command({ dropPartition: 'held', id: 0 }, { session });
  await session.commitTransaction();
  await session.endSession();
  assert.equal(await c.countDocuments({}), 0);
  assert.deepEqual(await ids('held'), [1]);
});

test('a reader goes on in its snapshot while parts come and go', async () => {
  await create('read');
  const c = db.collection<{ _id: number }>('read');
  await c.insertMany(evens(0, 400));
  await add('read', { _id: 500 });
  const cursor = c.find().batchSize(50);
  assert.equal((await cursor.next())?._id, 0);
  await drop('read', 0);
  await c.insertOne({ _id: 501 });
  assert.equal((await cursor.toArray()).length, 199);
  assert.deepEqual(await c.find().toArray(), [{ _id: 501 }]);
});

test('writers beside an added part never lose a document or put it into the wrong part', async () => {
  await create('beside');
  const c = db.collection<{ _id: number; a: number }>('beside');
  await c.createIndex({ a: 1 });
  await c.insertOne({ _id: 0, a: 0 });
  const writers = Array.from({ length: 4 }, async (_, writer) => {
    for (let i = 1; i < 60; i++) await c.insertOne({ _id: i * 4 + writer, a: i });
  });
  const adds = (async () => {
    for (let i = 0; i < 8; i++) await add('beside').catch(() => undefined);
  })();
  await Promise.all([...writers, adds]);
  assert.equal(await c.countDocuments({}), 1 + 4 * 59);
  assert.ok((await info('beside')).length > 2);
  await assertWhole('beside');
});

test('collStats has the figures of each part', async () => {
  const stats = await db.command({ collStats: 'dropped' });
  assert.equal(stats['partitioned'], true);
  const parts = stats['partitions'] as readonly { _id: number; count: number; indexDetails: Document }[];
  assert.deepEqual(parts.map(({ _id }) => _id), [1, 3]);
  assert.equal(parts.reduce((sum, { count }) => sum + count, 0), 16);
  assert.equal(stats['count'], 16);
  assert.deepEqual(Object.keys(parts[0]?.indexDetails ?? {}), ['a_1']);
});

test('a collection becomes a partitioned one where it lies, and a stream that asks for more hears of its parts', async () => {
  const convert = (name: string): Promise<unknown> => codeOf(db.command({ convertToPartitioned: name }));
  assert.equal(await convert('converted'), 17268);
  await db.createCollection('capped', { capped: true, size: 4096 });
  assert.equal(await convert('capped'), 17272);
  assert.equal(await convert('sorted'), 17269);
  const c = db.collection<{ _id: number }>('converted');
  await c.createIndex({ a: 1 });
  assert.equal(await convert('converted'), 17273);
  await c.dropIndex('a_1');
  await c.insertMany(evens(0, 6));
  const stream = c.watch([], { showExpandedEvents: true, maxAwaitTimeMS: 20 });
  assert.equal(await stream.tryNext(), null);
  assert.equal(await convert('converted'), 0);
  assert.ok((await info('converted'))[0]?.max['_id'] instanceof MaxKey);
  await add('converted');
  await c.insertMany(evens(6, 10));
  await c.updateOne({ _id: 2 }, { $set: { a: 1 } });
  assert.deepEqual((await c.find().toArray()).map(({ _id }) => _id), [0, 2, 4, 6, 8]);
  await assertWhole('converted');
  await drop('converted', 0);
  assert.deepEqual((await c.find().toArray()).map(({ _id }) => _id), [6, 8]);
  await assertWhole('converted');
  const told: unknown[] = [];
  while (told.at(-1) !== 'dropPartition') told.push((await stream.next()).operationType);
  assert.deepEqual(told, ['convertToPartitioned', 'addPartition', 'insert', 'insert', 'update', 'dropPartition']);
  await stream.close();
});

test('a part is dropped, a collection renamed and dropped, and a server opened again has what is left', async () => {
  const first = await openServerForTest();
  const names = (await first.driver()).db('again');
  await names.command({ create: 'c', partitioned: true, primaryKey: { t: 1, _id: 1 } });
  const c = names.collection<{ _id: number; t: number; a?: number | number[] }>('c');
  await c.createIndex({ a: 1 });
  await names.command({ addPartition: 'c', newMax: { t: 10 } });
  await c.insertMany([{ _id: 1, t: 5, a: [1, 2] }, { _id: 2, t: 10, a: 1 }, { _id: 3, t: 20, a: 1 }]);
  await names.command({ addPartition: 'c', newMax: { t: 100 } });
  await names.command({ dropPartition: 'c', id: 0 });
  await c.rename('d');
  await first.close();
  const second = await openServerForTest({ env: first.env });
  const again = (await second.driver()).db('again');
  const d = again.collection<{ _id: number; t: number }>('d');
  assert.deepEqual((await d.find({ a: 1 }).hint({ a: 1 }).toArray()).map(({ _id }) => _id), [2, 3]);
  assert.deepEqual(infoOf(await again.command({ getPartitionInfo: 'd' })).map(({ _id }) => _id), [1, 2]);
  assert.deepEqual((await again.command({ validate: 'd' }))['errors'], []);
  await d.drop();
  assert.deepEqual(await again.listCollections().toArray(), []);
  await second.close();
});
