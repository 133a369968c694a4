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
});
