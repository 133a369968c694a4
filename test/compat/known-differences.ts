// Where a client can tell this server from MongoDB 8, one by one. Each has a number that stays, and a test that shows it: when the difference
// goes, its test fails and the row goes too.

import assert from 'node:assert/strict';
import type { Db } from 'mongodb';

/** One known difference. `show` fails when it is no more. */
export interface KnownDifference {
  readonly number: number;
  readonly title: string;
  readonly text: string;
  readonly show: (db: Db) => Promise<void>;
}

const large = (letter: string): string => letter.repeat(9 * 1024 * 1024);

export const knownDifferences: readonly KnownDifference[] = [
  {
    number: 1,
    title: 'Documents without an order come in the order of `_id`',
    text: 'MongoDB gives them as they lie on its disk, which is often the order of insertion. A collection here lies in the order of `_id`, as a clustered collection of MongoDB does. Capped collections keep the order of insertion.',
    show: async (db) => {
      await db.collection<{ _id: number }>('order').insertMany([{ _id: 2 }, { _id: 1 }]);
      assert.deepEqual(await db.collection('order').find().toArray(), [{ _id: 1 }, { _id: 2 }]);
    },
  },
  {
    number: 2,
    title: 'No JavaScript runs in the server',
    text: '`$where`, `$function`, `$accumulator` and `mapReduce` are refused. `$expr` and pipelines say the same without it.',
    show: async (db) => {
      await assert.rejects(db.collection('js').findOne({ $where: 'true' }), { code: 2 });
      await assert.rejects(db.collection('js').aggregate([{ $set: { a: { $function: { body: 'x', args: [], lang: 'js' } } } }]).toArray(), { code: 168 });
      await assert.rejects(db.command({ mapReduce: 'js', map: 'x', reduce: 'x', out: 'y' }), { code: 59 });
    },
  },
  {
    number: 3,
    title: 'Time series are kept document by document',
    text: 'There are no buckets and no collection `system.buckets`, and `_id` stands first. What may be stored and changed is as in MongoDB. To read the buckets of a series is refused (115), so `mongodump`, which copies them, says so and leaves nothing out in silence; `mongoexport` takes the documents.',
    show: async (db) => {
      await db.createCollection('series', { timeseries: { timeField: 't' } });
      await db.collection('series').insertOne({ t: new Date(0) });
      assert.deepEqual(await db.listCollections({ name: /^system/ }).toArray(), []);
      await assert.rejects(db.collection('system.buckets.series').find().toArray(), { code: 115 });
      assert.deepEqual(await db.collection('system.buckets.none').find().toArray(), []);
    },
  },
  {
    number: 4,
    title: 'A cursor reads one state of the data',
    text: 'What is written after a `find` began is not seen by its later batches. MongoDB shows some of it outside of snapshot reads.',
    show: async (db) => {
      const numbers = db.collection<{ _id: number }>('states');
      await numbers.insertMany([{ _id: 1 }, { _id: 2 }, { _id: 3 }]);
      const cursor = numbers.find().batchSize(2);
      await cursor.next();
      await numbers.insertOne({ _id: 4 });
      assert.equal((await cursor.toArray()).length, 2);
    },
  },
  {
    number: 5,
    title: 'Documents nest 100 levels deep',
    text: 'This is the limit of the manual. The server of MongoDB lets documents of some 180 levels pass.',
    show: async (db) => {
      let deep: object = {};
      for (let level = 0; level < 110; level++) deep = { a: deep };
      await assert.rejects(db.collection('deep').insertOne(deep), { code: 15 });
    },
  },
  {
    number: 7,
    title: 'Plans are chosen anew for every query',
    text: 'The planner counts a little of each candidate. `$planCacheStats` shows the plan that each shape with several candidates took, and `planCacheClear` forgets it, but no entry is ever active: none is used to plan. Index filters and query settings are obeyed.',
    show: async (db) => {
      const plans = db.collection('plans');
      await plans.createIndexes([{ key: { a: 1 } }, { key: { b: 1 } }]);
      await plans.insertMany([{ a: 1, b: 1 }, { a: 2, b: 1 }]);
      for (let i = 0; i < 3; i++) await plans.find({ a: i, b: 1 }).toArray();
      const entries = await plans.aggregate([{ $planCacheStats: {} }, { $project: { _id: 0, isActive: 1, createdFromQuery: 1 } }]).toArray();
      assert.deepEqual(entries, [
        { isActive: false, createdFromQuery: { query: { a: 0, b: 1 }, sort: {}, projection: {} } },
      ]);
      await db.command({ planCacheClear: 'plans', query: { b: 1, a: 7 } });
      assert.deepEqual(await plans.aggregate([{ $planCacheStats: {} }]).toArray(), []);
    },
  },
  {
    number: 8,
    title: 'An update may ask not to be read for',
    text: '`update` takes `fastUpdate`, and there is a parameter `fastUpdates`, both as in TokuMX and off by themselves: then `n` and `nModified` say 1 without a look ([tokumx.md](tokumx.md), `test/command/fast-updates.test.ts`).',
    show: async (db) => {
      const reply = await db.command({ update: 'unread', updates: [{ q: { _id: 1 }, u: { $inc: { n: 1 } } }], fastUpdate: true });
      assert.equal(reply['ok'], 1);
      assert.equal((await db.admin().command({ getParameter: 1, fastUpdates: 1 }))['fastUpdates'], false);
    },
  },
  {
    number: 9,
    title: 'Of a very large replacement the document before it is not kept',
    text: 'Where a collection keeps pre- and post-images, a replacement whose document before and after it are together more than 16.5 MiB has no image before it. A pipeline update of such a size that only moves fields shows them in their old order in its image after.',
    show: async (db) => {
      const c = await db.createCollection<{ _id: number; a: string }>('large', { changeStreamPreAndPostImages: { enabled: true } });
      await c.insertOne({ _id: 1, a: large('a') });
      const stream = c.watch([{ $project: { fullDocumentBeforeChange: 1 } }], { fullDocumentBeforeChange: 'whenAvailable', maxAwaitTimeMS: 20 });
      assert.equal(await stream.tryNext(), null);
      await c.replaceOne({ _id: 1 }, { a: large('b') });
      const event = (await stream.next()) as { fullDocumentBeforeChange?: unknown };
      await stream.close();
      assert.equal(event.fullDocumentBeforeChange, null);
    },
  },
  {
    number: 10,
    title: 'A second NaN or infinity as `_id` of a clustered collection is 11000, as any other duplicate is',
    text: 'MongoDB fails to describe such a key and answers 50819 or 50826.',
    show: async (db) => {
      const c = await db.createCollection<{ _id: number }>('clustered', { clusteredIndex: { key: { _id: 1 }, unique: true } });
      await c.insertOne({ _id: Number.NaN });
      await assert.rejects(c.insertOne({ _id: Number.NaN }), { code: 11000 });
    },
  },
];
