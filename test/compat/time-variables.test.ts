// `$$NOW` and `$$CLUSTER_TIME` (manual: "Aggregation System Variables"): where they are asked anew, and which commands do not have them.

import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { openServerForTest } from '../support/open-server-for-test.ts';

describe('variables of time', async () => {
  const server = await openServerForTest();
  const db = (await server.driver()).db('times');
  after(() => server.close());

  test('a validator asks for the time at every write', async () => {
    const past = await db.createCollection('past', { validator: { $expr: { $lte: ['$at', '$$NOW'] } } });
    await past.insertOne({ at: new Date() });
    for (const began = Date.now(); Date.now() < began + 5; );
    await past.insertOne({ at: new Date() });
    await assert.rejects(past.insertOne({ at: new Date(Date.now() + 60_000) }), { code: 121 });
    await db.createCollection('clock', { validator: { $expr: { $lt: [{ $type: '$$CLUSTER_TIME' }, 'z'] } } });
    await db.collection('clock').insertOne({});
  });

  test('count, distinct and lists of collections and databases do not have them, find and aggregate do', async () => {
    const c = db.collection('c');
    await c.insertOne({ at: new Date(0) });
    const query = { $expr: { $lt: ['$at', '$$NOW'] } };
    for (const command of [{ count: 'c', query }, { distinct: 'c', key: 'at', query }, { listCollections: 1, filter: query }]) {
      await assert.rejects(db.command(command), { code: 51144 }, JSON.stringify(command));
    }
    assert.equal((await c.find(query).toArray()).length, 1);
    assert.equal(await c.countDocuments(query), 1);
  });
});
