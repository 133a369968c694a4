import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Document } from 'mongodb';
import { openServerForTest } from '../support/open-server-for-test.ts';

test('a driver asks for a clustering index under storageEngine, and it answers alone', async () => {
  const server = await openServerForTest();
  try {
    const db = (await server.driver()).db('d');
    const storageEngine = { frond: { compression: 'lz4', readPageSize: 4096 } };
    const c = await db.createCollection('c', { storageEngine });
    await c.insertMany([{ _id: 1 as never, born: 1815, name: 'Ada' }, { _id: 2 as never, born: 1906, name: 'Grace' }]);
    await c.createIndexes([{ key: { born: 1 }, storageEngine: { frond: { clustering: true, compression: 'none' } } }]);
    const { queryPlanner } = (await c.find({ born: { $gt: 1900 } }).explain('queryPlanner')) as { queryPlanner: { winningPlan: Document } };
    assert.equal(queryPlanner.winningPlan['stage'], 'IXSCAN');
    assert.deepEqual((await c.find({ born: { $gt: 1900 } }).toArray()).map((person) => person['name'] as string), ['Grace']);
    const [, index] = await c.indexes();
    assert.deepEqual(index?.['storageEngine'], { frond: { clustering: true, compression: 'none' } });
    const [info] = await db.listCollections({ name: 'c' }).toArray();
    assert.deepEqual((info as { options?: Document }).options?.['storageEngine'], storageEngine);
    await assert.rejects(c.createIndexes([{ key: { x: 1 }, storageEngine: { frond: { flying: true } } }]), { code: 72 });
    await assert.rejects(c.createIndexes([{ key: { x: 1 }, storageEngine: { mmapv1: {} } }]), { code: 72 });
    await assert.rejects(c.createIndexes([{ key: { x: 1 }, storageEngine: { frond: { compression: 'best' } } }]), { code: 2 });
  } finally {
    await server.close();
  }
});
