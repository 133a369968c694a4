// Collation through a driver: what commands, indexes, views and refusals make of it. Expectations are those of the manual's page "Collation".

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Collection, Db, MongoClient } from 'mongodb';
import { openServerForTest } from '../support/open-server-for-test.ts';

interface Word {
  _id: number | string;
  w?: string;
  tags?: string[];
  n?: number;
}

const insensitive = { locale: 'en', strength: 2 } as const;

async function withServer(work: (db: Db, client: MongoClient) => Promise<void>): Promise<void> {
  const server = await openServerForTest();
  try {
    const client = await server.driver();
    await work(client.db('test'), client);
  } finally {
    await server.close();
  }
}

async function words(db: Db, name = 'words'): Promise<Collection<Word>> {
  const collection = db.collection<Word>(name);
  await collection.insertMany([
    { _id: 1, w: 'apple' },
    { _id: 2, w: 'Banana' },
    { _id: 3, w: 'APPLE' },
    { _id: 4, w: 'Äpfel' },
    { _id: 5, n: 1 },
  ]);
  return collection;
}
const ids = (documents: readonly Word[]): (number | string)[] => documents.map(({ _id }) => _id);

test('a command takes a collation, and without one compares bytes', async () => {
  await withServer(async (db) => {
    const c = await words(db);
    assert.deepEqual(ids(await c.find({ w: 'apple' }).toArray()), [1]);
    assert.deepEqual(ids(await c.find({ w: 'apple' }, { collation: insensitive }).sort({ _id: 1 }).toArray()), [1, 3]);
    assert.deepEqual(ids(await c.find({ w: { $gt: 'apple' } }, { collation: insensitive }).sort({ _id: 1 }).toArray()), [2]);
    assert.deepEqual(ids(await c.find({ w: { $exists: true } }, { collation: { locale: 'de' } }).sort({ w: 1 }).toArray()), [4, 1, 3, 2], 'pf before pp');
    assert.equal(await c.countDocuments({ w: { $in: ['BANANA', 'apple'] } }, { collation: insensitive }), 3);
    assert.deepEqual((await c.distinct('w', { n: { $exists: false } }, { collation: insensitive })).length, 3);
    assert.equal((await c.updateMany({ w: 'aPPle' }, { $set: { n: 7 } }, { collation: insensitive })).modifiedCount, 2);
    assert.equal((await c.findOneAndUpdate({ w: 'BANANA' }, { $inc: { n: 1 } }, { collation: insensitive }))?._id, 2);
    assert.equal((await c.deleteMany({ w: 'APPLE' }, { collation: insensitive })).deletedCount, 2);
    await assert.rejects(c.find({}, { collation: { locale: 'nowhere' } }).toArray(), { code: 2 });
  });
});

test('pipelines compare, group, sort and join under the collation', async () => {
  await withServer(async (db) => {
    const c = await words(db);
    const run = (pipeline: object[]): Promise<Record<string, unknown>[]> => c.aggregate(pipeline, { collation: insensitive }).toArray();
    assert.deepEqual(await run([{ $match: { w: { $exists: true } } }, { $group: { _id: '$w', n: { $sum: 1 } } }, { $sort: { n: -1, _id: 1 } }]), [
      { _id: 'apple', n: 2 },
      { _id: 'Äpfel', n: 1 },
      { _id: 'Banana', n: 1 },
    ]);
    assert.deepEqual(await run([{ $match: { _id: 1 } }, { $project: { e: { $eq: ['$w', 'APPLE'] }, s: { $setUnion: [['a', 'A'], ['b']] }, m: { $max: ['a', 'B'] } } }]), [
      { _id: 1, e: true, s: ['a', 'b'], m: 'B' },
    ]);
    await db.collection('other').insertOne({ k: 'aPPLE' });
    assert.deepEqual(await run([{ $match: { _id: 3 } }, { $lookup: { from: 'other', localField: 'w', foreignField: 'k', as: 'o' } }, { $project: { n: { $size: '$o' } } }]), [{ _id: 3, n: 1 }]);
  });
});

test('a collection hands its collation on: to queries, indexes, its _id, and shows it whole', async () => {
  await withServer(async (db) => {
    const c = await db.createCollection<Word>('named', { collation: insensitive });
    await c.insertMany([{ _id: 'a', w: 'x' }, { _id: 'b', w: 'Y' }]);
    await assert.rejects(c.insertOne({ _id: 'A' }), { code: 11000 });
    assert.equal((await c.findOne({ _id: 'B' }))?.w, 'Y');
    assert.equal(await c.findOne({ _id: 'B' }, { collation: { locale: 'simple' } }), null);
    assert.equal((await c.updateOne({ _id: 'B' }, { $set: { w: 'z' } })).modifiedCount, 1);
    await c.createIndex({ w: 1 });
    await c.createIndex({ w: 1 }, { name: 'plain', collation: { locale: 'simple' } }, {});
    const whole = {
      locale: 'en',
      caseLevel: false,
      caseFirst: 'off',
      strength: 2,
      numericOrdering: false,
      alternate: 'non-ignorable',
      maxVariable: 'punct',
      normalization: false,
      backwards: false,
      version: '57.1',
    };
    assert.deepEqual(
      (await c.indexes()).map(({ name, collation }) => [name, collation]),
      [['_id_', whole], ['w_1', whole], ['plain', undefined]],
    );
    const [listed] = await db.listCollections({ name: 'named' }).toArray();
    assert.deepEqual((listed as { options?: { collation?: object } }).options?.collation, whole);
  });
});

test('a unique index of a collation refuses what it does not tell apart, and shows the key', async () => {
  await withServer(async (db) => {
    const c = db.collection<Word>('unique');
    await c.createIndex({ w: 1 }, { unique: true, collation: insensitive }, {});
    await c.insertOne({ _id: 1, w: 'abc' });
    await assert.rejects(c.insertOne({ _id: 2, w: 'ABC' }), (error: { code?: number; message: string; keyValue?: object }) => {
      assert.equal(error.code, 11000);
      assert.match(error.message, /^E11000 duplicate key error collection: test\.unique index: w_1 collation: \{ locale: "en", .*\} dup key: \{ w: "0x292b2d0107" \}/);
      assert.deepEqual(error.keyValue, { w: '0x292b2d0107' });
      return true;
    });
    await c.insertOne({ _id: 3, w: 'abç' });
    assert.equal((await c.updateOne({ _id: 1 }, { $set: { w: 'Abc' } })).modifiedCount, 1, 'a document may change its own case');
  });
});

test('an index serves a query of its own collation only, or one without texts, and covers it with the texts as they were', async () => {
  await withServer(async (db) => {
    const c = db.collection<Word>('planned');
    await c.insertMany(Array.from({ length: 50 }, (_, i) => ({ _id: i, w: i % 2 === 0 ? `K${i}` : `k${i}`, n: i })));
    await c.createIndex({ w: 1, n: 1 }, { collation: { ...insensitive, numericOrdering: true } }, {});
    await c.createIndex({ n: 1 }, { collation: insensitive }, {});
    const stageOf = async (filter: object, collation?: object): Promise<string> => {
      const explained = await c.find(filter, collation === undefined ? {} : { collation: collation as { locale: string } }).explain('queryPlanner');
      const plan = (explained as { queryPlanner: { winningPlan: { stage: string; inputStage?: { stage: string } } } }).queryPlanner.winningPlan;
      return plan.inputStage?.stage ?? plan.stage;
    };
    const own = { ...insensitive, numericOrdering: true };
    assert.equal(await stageOf({ w: 'K7' }, own), 'IXSCAN');
    assert.equal(await stageOf({ w: 'K7' }), 'COLLSCAN');
    assert.equal(await stageOf({ w: 'K7' }, { locale: 'fr' }), 'COLLSCAN');
    assert.equal(await stageOf({ n: 7 }), 'IXSCAN');
    assert.equal(await stageOf({ w: /^K7/ }, own), 'COLLSCAN', 'a pattern looks at the text itself');
    const covered = await c.find({ w: { $gte: 'k9', $lte: 'K11' } }, { collation: own }).project({ _id: 0, w: 1 }).sort({ w: 1 }).toArray();
    assert.deepEqual(covered, [{ w: 'k9' }, { w: 'K10' }, { w: 'k11' }]);
  });
});

test('a view has its own collation, and no other', async () => {
  await withServer(async (db) => {
    await words(db);
    await db.createCollection('seen', { viewOn: 'words', pipeline: [], collation: insensitive });
    await db.createCollection('bare', { viewOn: 'words', pipeline: [] });
    const seen = db.collection<Word>('seen');
    assert.equal((await seen.find({ w: 'APPLE' }).toArray()).length, 2);
    assert.equal((await seen.find({ w: 'APPLE' }, { collation: insensitive }).toArray()).length, 2);
    await assert.rejects(seen.find({}, { collation: { locale: 'fr' } }).toArray(), { code: 167 });
    assert.equal((await db.collection<Word>('bare').find({ w: 'APPLE' }).toArray()).length, 1);
    await assert.rejects(db.collection<Word>('words').aggregate([{ $unionWith: 'seen' }]).toArray(), { code: 167 });
  });
});

test('$densify makes what is missing in a partition with the texts of the document behind', async () => {
  await withServer(async (db) => {
    const c = db.collection<{ _id: number; k: string; v: number }>('gaps');
    await c.insertMany([{ _id: 1, k: 'a', v: 0 }, { _id: 2, k: 'A', v: 10 }]);
    const stage = { $densify: { field: 'v', partitionByFields: ['k'], range: { step: 5, bounds: 'partition' } } };
    const made = await c.aggregate([stage], { collation: insensitive }).toArray();
    assert.deepEqual(made, [{ _id: 1, k: 'a', v: 0 }, { k: 'A', v: 5 }, { _id: 2, k: 'A', v: 10 }]);
  });
});
