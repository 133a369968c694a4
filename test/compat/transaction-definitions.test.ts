// What a transaction may define (manual: "Transactions", "Create Collections and Indexes in a Transaction").

import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { ClientSession, Db, MongoClient } from 'mongodb';
import { openServerForTest } from '../support/open-server-for-test.ts';

async function within(client: MongoClient, work: (session: ClientSession) => Promise<unknown>): Promise<void> {
  const session = client.startSession();
  try {
    session.startTransaction();
    await work(session);
    await session.commitTransaction();
  } finally {
    if (session.inTransaction()) await session.abortTransaction();
    await session.endSession();
  }
}

describe('definitions in a transaction', async () => {
  const server = await openServerForTest();
  const client = await server.driver();
  const db: Db = client.db('defined');
  after(() => server.close());

  test('a collection that exists is not created again, and gets no index unless it is there already', async () => {
    await db.createCollection('old');
    await db.collection('old').createIndex({ a: 1 });
    await assert.rejects(within(client, (session) => db.createCollection('old', { session })), { code: 48 });
    await assert.rejects(within(client, (session) => db.collection('old').createIndexes([{ key: { b: 1 } }], { session })), { code: 263 });
    await within(client, (session) => db.collection('old').createIndexes([{ key: { a: 1 } }], { session }));
    await db.command({ create: 'old' });
  });

  test('a collection that it makes itself gets indexes while it is empty', async () => {
    await within(client, async (session) => {
      await db.createCollection('new', { session });
      await db.collection('new').createIndexes([{ key: { a: 1 } }], { session });
      await db.collection('new').insertOne({ a: 1 }, { session });
    });
    assert.equal((await db.collection('new').indexes()).length, 2);
  });

  test('a change stream reads what a majority has, and refuses any other read concern', async () => {
    for (const level of ['local', 'available', 'linearizable']) {
      await assert.rejects(db.command({ aggregate: 'old', pipeline: [{ $changeStream: {} }], cursor: {}, readConcern: { level } }), { code: 72 });
    }
    await db.command({ aggregate: 'old', pipeline: [{ $changeStream: {} }], cursor: {}, readConcern: { level: 'majority' } });
  });
});
