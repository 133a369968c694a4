// What tools read of explain (manual: "Explain Results"): trees of stages, counts of those that ran, and the plans that lost.

import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { Document } from 'mongodb';
import { openServerForTest } from '../support/open-server-for-test.ts';

describe('explain', async () => {
  const server = await openServerForTest();
  const client = await server.driver();
  const things = client.db('explains').collection<{ _id: number; a: number; b: number }>('things');
  after(() => server.close());
  await things.insertMany(Array.from({ length: 60 }, (_, i) => ({ _id: i, a: i % 3, b: i % 20 })));
  await things.createIndexes([{ key: { a: 1 } }, { key: { b: 1 } }]);

  test('tells of every plan that there was to choose from, with what each read', async () => {
    const explained = (await things.find({ a: 1, b: 4 }).explain('allPlansExecution')) as { queryPlanner: { rejectedPlans: Document[] }; executionStats: { allPlansExecution: Document[] } };
    const tried = explained.executionStats.allPlansExecution;
    assert.equal(tried.length, explained.queryPlanner.rejectedPlans.length + 1);
    assert.ok(tried.length > 1);
    assert.ok(tried.every(({ nReturned, totalKeysExamined }) => nReturned === 1 && Number(totalKeysExamined) > 0));
    const alone = (await things.find({ a: 1 }).explain('allPlansExecution')) as { executionStats: { allPlansExecution: Document[] } };
    assert.deepEqual(alone.executionStats.allPlansExecution, []);
  });

  test('counts what each stage of a pipeline gave, where it is run', async () => {
    const pipeline = [{ $match: { a: 1 } }, { $group: { _id: '$b', n: { $sum: 1 } } }, { $match: { n: 1 } }];
    const counted = (await things.aggregate(pipeline).explain('executionStats')) as { queryShapeHash: string; stages: Document[] };
    assert.deepEqual(counted.stages.map((stage) => [Object.keys(stage)[0], Number(stage['nReturned'])]), [['$cursor', 20], ['$group', 20], ['$match', 20]]);
    assert.match(counted.queryShapeHash, /^[0-9A-F]{64}$/);
    const planned = (await things.aggregate(pipeline).explain('queryPlanner')) as { stages: Document[] };
    assert.ok(planned.stages.every((stage) => !('nReturned' in stage)));
    const written = (await things.aggregate([{ $match: { a: 1 } }, { $out: 'copy' }]).explain('executionStats')) as { stages: Document[] };
    assert.equal('nReturned' in (written.stages[0] ?? {}), false);
    assert.equal(await client.db('explains').collection('copy').countDocuments(), 0);
  });

  test('of a count tells what was counted and what left out, of a distinct that equal entries are passed over', async () => {
    const db = client.db('explains');
    const explained = async (explain: Document): Promise<Document> => ((await db.command({ explain, verbosity: 'executionStats' }))['executionStats'] as Document)['executionStages'] as Document;
    const { stage, nReturned, nCounted, nSkipped } = await explained({ count: 'things', query: { a: 1 }, skip: 3 });
    assert.deepEqual([stage, nReturned, Number(nCounted), Number(nSkipped)], ['COUNT', 0, 17, 3]);
    const { stage: outer, inputStage } = await explained({ distinct: 'things', key: 'a', query: { a: { $gte: 1 } } });
    assert.deepEqual([outer, (inputStage as Document)['stage']], ['PROJECTION_COVERED', 'DISTINCT_SCAN']);
    const { stage: only, nReturned: given } = await explained({ find: 'things', filter: { a: { $lt: 1 } }, hint: { $natural: 1 } });
    assert.deepEqual([only, given], ['COLLSCAN', 20]);
    await assert.rejects(db.command({ explain: { find: 'things', $db: 'other' } }), { code: 73 });
  });

  test('of a write shows what would be changed and changes nothing', async () => {
    const db = client.db('explained');
    await db.collection('w').insertMany([0, 1, 2, 3, 4, 5].map((_id) => ({ _id: _id as never, a: _id % 2, b: _id })));
    await db.collection('w').createIndex({ a: 1 });
    const stages = async (command: Document): Promise<Document> => {
      const reply = await db.command({ explain: command, verbosity: 'executionStats' });
      const { executionStages } = reply['executionStats'] as { executionStages: Document };
      const plan = (reply['queryPlanner'] as { winningPlan: Document }).winningPlan;
      assert.equal(plan['stage'], executionStages['stage']);
      return executionStages;
    };
    const update = (u: Document, more: Document = {}): Document => ({ update: 'w', updates: [{ q: { a: 1 }, u, ...more }] });
    const many = await stages(update({ $set: { b: 3 } }, { multi: true }));
    assert.deepEqual([many['stage'], many['nMatched'], many['nWouldModify'], many['nWouldUpsert'], many['nReturned']], ['UPDATE', 3, 2, 0, 0]);
    assert.equal((many['inputStage'] as Document)['stage'], 'FETCH');
    const one = await stages(update({ $set: { b: 9 } }));
    assert.deepEqual([one['nMatched'], one['nWouldModify'], (one['inputStage'] as Document)['stage']], [1, 1, 'FETCH']);
    const none = await stages({ update: 'w', updates: [{ q: { a: 7 }, u: { $set: { b: 1 } }, upsert: true }] });
    assert.deepEqual([none['nMatched'], none['nWouldUpsert']], [0, 1]);
    const gone = await stages({ delete: 'w', deletes: [{ q: { a: 1 }, limit: 0 }] });
    assert.deepEqual([gone['stage'], gone['nWouldDelete']], ['DELETE', 3]);
    assert.equal((await stages({ findAndModify: 'w', query: { a: 1 }, remove: true }))['nWouldDelete'], 1);
    assert.deepEqual((await db.collection('w').find({}, { sort: { _id: 1 } }).toArray()).map(({ b }) => b as number), [0, 1, 2, 3, 4, 5]);
    await assert.rejects(db.command({ explain: { insert: 'w', documents: [{}] } }), { code: 20 });
    await assert.rejects(db.command({ explain: { nothing: 1 } }), { code: 59 });
  });
});
