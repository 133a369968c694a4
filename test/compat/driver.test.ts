import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { openServerForTest } from '../support/open-server-for-test.ts';

describe('the official driver', async () => {
  const server = await openServerForTest();
  const client = await server.driver();
  after(() => server.close());

  test('finds what it inserted', async () => {
    const things = client.db('test').collection('things');
    const { insertedId } = await things.insertOne({ name: 'one', n: 1 });
    assert.deepEqual(await things.findOne({ name: 'one' }), { _id: insertedId, name: 'one', n: 1 });
    const { insertedCount } = await things.insertMany(Array.from({ length: 1000 }, (_, i) => ({ i, even: i % 2 === 0 })));
    assert.equal(insertedCount, 1000);
    assert.equal(await things.estimatedDocumentCount(), 1001);
    assert.equal(await things.countDocuments({ even: true }), 500);
    assert.equal((await things.find({ even: true }).toArray()).length, 500);
  });
});
