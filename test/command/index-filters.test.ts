import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Document } from 'mongodb';
import { openServerForTest } from '../support/open-server-for-test.ts';

test('an index filter decides which indexes queries of its shape may use, whatever a hint says', async () => {
  const server = await openServerForTest();
  try {
    const db = (await server.driver()).db('d');
    const c = db.collection('c');
    await c.insertMany([{ a: 1, b: 1 }, { a: 2, b: 2 }]);
    await c.createIndexes([{ key: { a: 1 } }, { key: { a: 1, b: 1 } }]);
    const used = async (options: Document = {}): Promise<unknown> => {
      const { queryPlanner } = (await c.find({ a: 1 }, options).explain('queryPlanner')) as { queryPlanner: Document };
      const plan = queryPlanner['winningPlan'] as Document;
      return [queryPlanner['indexFilterSet'] as boolean, ((plan['inputStage'] as Document | undefined)?.['indexName'] as string | undefined) ?? (plan['stage'] as string)];
    };
    assert.deepEqual(await used(), [false, 'a_1']);
    await db.command({ planCacheSetFilter: 'c', query: { a: 7 }, indexes: [{ a: 1, b: 1 }] });
    assert.deepEqual(await used(), [true, 'a_1_b_1']);
    assert.deepEqual(await used({ hint: 'a_1' }), [true, 'a_1_b_1']);
    await db.command({ planCacheSetFilter: 'c', query: { a: 7 }, indexes: ['gone'] });
    assert.deepEqual(await used(), [true, 'COLLSCAN']);
    assert.deepEqual((await db.command({ planCacheListFilters: 'c' }))['filters'], [{ query: { a: 7 }, sort: {}, projection: {}, indexes: ['gone'] }]);
    await db.command({ planCacheClearFilters: 'c', query: { b: 1 } });
    assert.deepEqual(await used(), [true, 'COLLSCAN']);
    await db.command({ planCacheClearFilters: 'c' });
    assert.deepEqual(await used(), [false, 'a_1']);
    await assert.rejects(db.command({ planCacheSetFilter: 'c', query: { a: 1 }, indexes: [] }), { code: 2 });
    await assert.rejects(db.command({ planCacheClear: 'c', sort: { a: 1 } }), { code: 2 });
  } finally {
    await server.close();
  }
});
