// Many clients at once: statements by themselves wait for each other and never fail; transactions that conflict fail at once and are tried
// again by the driver.

import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { MongoServerError } from 'mongodb';
import { openServerForTest } from '../support/open-server-for-test.ts';

describe('clients at once', async () => {
  const server = await openServerForTest();
  const clients = await Promise.all(Array.from({ length: 8 }, () => server.driver()));
  const [client] = clients;
  assert.ok(client !== undefined);
  const db = client.db('test');
  after(() => server.close());

  test('update one document without an error and without losing an update', async () => {
    const c = db.collection<{ _id: number; n: number; l: string[] }>('one');
    await c.insertOne({ _id: 1, n: 0, l: [] });
    await Promise.all(
      clients.map(async (each, index) => {
        const mine = each.db('test').collection<{ _id: number; n: number; l: string[] }>('one');
        for (let i = 0; i < 25; i++) await mine.updateOne({ _id: 1 }, { $inc: { n: 1 }, $push: { l: `${String(index)}-${String(i)}` } });
      }),
    );
    const found = await c.findOne({ _id: 1 });
    assert.equal(found?.n, 200);
    assert.equal(new Set(found.l).size, 200);
  });

  test('upsert one document once', async () => {
    await Promise.all(
      clients.map((each) => each.db('test').collection<{ _id: string; n: number }>('up').updateOne({ _id: 'x' }, { $inc: { n: 1 } }, { upsert: true })),
    );
    assert.deepEqual(await db.collection('up').find().toArray(), [{ _id: 'x', n: 8 }]);
    const unique = db.collection<{ k: number; n: number }>('unique');
    await unique.createIndex({ k: 1 }, { unique: true }, {});
    await Promise.all(
      clients.map((each) => each.db('test').collection<{ k: number; n: number }>('unique').updateOne({ k: 1 }, { $inc: { n: 1 } }, { upsert: true })),
    );
    assert.equal((await unique.findOne({ k: 1 }))?.n, 8);
  });

  test('take each job of a queue once', async () => {
    const jobs = db.collection<{ _id: number; state: string }>('jobs');
    await jobs.insertMany(Array.from({ length: 40 }, (_, i) => ({ _id: i, state: 'ready' })));
    const taken = await Promise.all(
      clients.map(async (each) => {
        const mine: number[] = [];
        for (;;) {
          const job = await each
            .db('test')
            .collection<{ _id: number; state: string }>('jobs')
            .findOneAndUpdate({ state: 'ready' }, { $set: { state: 'taken' } }, { sort: { _id: 1 } });
          if (job === null) return mine;
          mine.push(job._id);
        }
      }),
    );
    assert.deepEqual(taken.flat().sort((a, b) => a - b), Array.from({ length: 40 }, (_, i) => i));
  });

  test('update overlapping sets of documents in opposite orders without an error', async () => {
    const c = db.collection<{ _id: number; n: number }>('many');
    await c.insertMany(Array.from({ length: 20 }, (_, i) => ({ _id: i, n: 0 })));
    await Promise.all(
      clients.map(async (each, index) => {
        const mine = each.db('test').collection<{ _id: number; n: number }>('many');
        const ids = Array.from({ length: 20 }, (_, i) => (index % 2 === 0 ? i : 19 - i));
        for (let round = 0; round < 3; round++) await mine.bulkWrite(ids.map((_id) => ({ updateOne: { filter: { _id }, update: { $inc: { n: 1 } } } })));
        await mine.updateMany({}, { $inc: { n: 1 } });
      }),
    );
    assert.deepEqual(await c.distinct('n'), [32]);
  });

  test('add to one document in transactions, tried again by the driver', async () => {
    const c = db.collection<{ _id: number; n: number }>('counter');
    await c.insertOne({ _id: 1, n: 0 });
    await Promise.all(
      clients.map(async (each) => {
        const mine = each.db('test').collection<{ _id: number; n: number }>('counter');
        for (let i = 0; i < 5; i++) {
          await each.withSession((session) =>
            session.withTransaction(async () => {
              const found = await mine.findOne({ _id: 1 }, { session });
              await mine.updateOne({ _id: 1 }, { $set: { n: (found?.n ?? 0) + 1 } }, { session });
            }),
          );
        }
      }),
    );
    assert.equal((await c.findOne({ _id: 1 }))?.n, 40);
  });

  test('that are refused for a duplicate are told the index, the pattern and the value', async () => {
    const c = db.collection('dup');
    await c.createIndex({ a: 1, b: -1 }, { unique: true }, {});
    await c.insertOne({ a: 1, b: 'x' });
    await assert.rejects(c.insertOne({ a: 1, b: 'x' }), (error) => {
      assert.ok(error instanceof MongoServerError);
      assert.equal(error.code, 11000);
      assert.equal(error.message, 'E11000 duplicate key error collection: test.dup index: a_1_b_-1 dup key: { a: 1, b: "x" }');
      assert.deepEqual(error['keyPattern'], { a: 1, b: -1 });
      assert.deepEqual(error['keyValue'], { a: 1, b: 'x' });
      return true;
    });
  });
});
