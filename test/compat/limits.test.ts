// What has a limit: time, the size of a transaction, the life of a transaction, a client that does not read.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BsonArray, Document } from '../../src/bson/index.ts';
import { encodeMessage } from '../../src/wire/index.ts';
import { openServerForTest } from '../support/open-server-for-test.ts';

test('an operation ends with 50 when its time is over, and the server goes on', async () => {
  const server = await openServerForTest();
  const client = await server.driver();
  const c = client.db('test').collection<{ _id: number }>('c');
  await c.insertMany(Array.from({ length: 3000 }, (_, i) => ({ _id: i })));
  const product = [
    { $lookup: { from: 'c', pipeline: [{ $match: { _id: { $gte: 0 } } }], as: 'all' } },
    { $unwind: '$all' },
    { $group: { _id: '$all._id', n: { $sum: '$_id' } } },
  ];
  await assert.rejects(c.aggregate(product, { maxTimeMS: 20 }).toArray(), { code: 50 });
  assert.equal(await c.countDocuments({ _id: { $lt: 10 } }), 10);
  await server.close();
});

test('a statement waits for a transaction that holds its document, and then does its work', async () => {
  const server = await openServerForTest();
  const client = await server.driver();
  const c = client.db('test').collection<{ _id: number; n: number }>('c');
  await c.insertOne({ _id: 1, n: 0 });
  const session = client.startSession();
  session.startTransaction();
  await c.updateOne({ _id: 1 }, { $inc: { n: 1 } }, { session });
  const waiting = c.updateOne({ _id: 1 }, { $inc: { n: 10 } });
  await session.commitTransaction();
  await session.endSession();
  assert.equal((await waiting).modifiedCount, 1);
  assert.equal((await c.findOne({ _id: 1 }))?.n, 11);
  await server.close();
});

test('a transaction larger than the cache commits, and nothing of it is seen before', async () => {
  const server = await openServerForTest({ cacheBytes: 16 * 1024 * 1024 });
  const client = await server.driver();
  const c = client.db('test').collection('c');
  await c.insertOne({ small: true });
  const session = client.startSession();
  session.startTransaction();
  for (let i = 0; i < 40; i++) await c.insertOne({ text: 'x'.repeat(1024 * 1024) }, { session });
  assert.equal(await c.countDocuments(), 1);
  await session.commitTransaction();
  await session.endSession();
  assert.equal(await c.countDocuments(), 41);
  // The same by itself is cut into parts.
  await c.insertMany(Array.from({ length: 40 }, () => ({ text: 'x'.repeat(1024 * 1024) })));
  assert.equal(await c.countDocuments(), 81);
  await server.close();
});

test('a transaction that has lived too long is aborted', async () => {
  const server = await openServerForTest();
  const client = await server.driver();
  await client.db('admin').command({ setParameter: 1, transactionLifetimeLimitSeconds: 1 });
  const c = client.db('test').collection<{ _id: number }>('c');
  await c.insertOne({ _id: 1 });
  const session = client.startSession();
  session.startTransaction();
  await c.insertOne({ _id: 2 }, { session });
  // Waits, by itself, until the transaction that holds the key is gone.
  await c.insertOne({ _id: 2 });
  await assert.rejects(session.commitTransaction(), { code: 251 });
  await session.endSession();
  await server.close();
});

test('a client that does not read its replies makes only itself wait', async () => {
  const server = await openServerForTest();
  const writer = await server.wire();
  await writer.command('test', { insert: 'large', documents: BsonArray.of([Document.of({ _id: 1, text: 'x'.repeat(8 * 1024 * 1024) })]) });
  const deaf = await server.deaf();
  const find = encodeMessage({ requestId: 1, responseTo: 0 }, Document.of({ find: 'large', $db: 'test' }));
  for (let i = 0; i < 50; i++) for (const chunk of find) deaf.write(chunk);
  for (let i = 0; i < 20; i++) assert.equal((await writer.command('test', { ping: 1 })).get('errmsg'), undefined);
  assert.ok(server.counters.bytesOut < 10 * 8 * 1024 * 1024, 'replies pile up for a client that does not read');
  deaf.destroy();
  await server.close();
});
