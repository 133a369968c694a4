// `system.views` (manual: "System Collections"): the definitions of views, read as a collection.

import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { openServerForTest } from '../support/open-server-for-test.ts';

describe('system.views', async () => {
  const server = await openServerForTest();
  const client = await server.driver();
  const db = client.db('seen');
  after(() => server.close());

  test('is there while there are views, and gives their definitions whatever asks', async () => {
    assert.deepEqual(await db.listCollections({ name: 'system.views' }).toArray(), []);
    assert.deepEqual(await db.collection('system.views').find().toArray(), []);
    await db.collection('c').insertOne({ a: 1 });
    await db.createCollection('v', { viewOn: 'c', pipeline: [{ $match: { a: { $gt: 1 } } }] });
    await db.createCollection('w', { viewOn: 'v', pipeline: [], collation: { locale: 'fr' } });
    const views = db.collection('system.views');
    const [v] = await views.find({ _id: 'seen.v' as never }).toArray();
    assert.deepEqual(v, { _id: 'seen.v', viewOn: 'c', pipeline: [{ $match: { a: { $gt: 1 } } }] });
    const [w] = await views.aggregate([{ $match: { viewOn: 'v' } }, { $project: { locale: '$collation.locale' } }]).toArray();
    assert.deepEqual(w, { _id: 'seen.w', locale: 'fr' });
    assert.equal(await views.countDocuments(), 2);
    assert.deepEqual((await views.distinct('viewOn')).sort(), ['c', 'v']);
    assert.deepEqual((await views.listIndexes().toArray()).map(({ name }: { name: string }) => name), ['_id_']);
    const [row] = await db.listCollections({ name: 'system.views' }).toArray();
    assert.equal(row?.type, 'collection');
    const { collections, views: count } = await db.stats();
    assert.deepEqual([collections, count], [2, 2]);
    await db.collection('w').drop();
    await db.collection('v').drop();
    assert.deepEqual(await db.listCollections({ name: 'system.views' }).toArray(), []);
  });
});
