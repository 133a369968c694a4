// Batches, limits and ends of cursors, as the manual ("find", "Iterate a Cursor") and the drivers' texts on find and getMore say.

import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { Long, type Document } from 'mongodb';
import { openServerForTest } from '../support/open-server-for-test.ts';

interface CursorReply extends Document {
  readonly cursor: { readonly id: Long; readonly firstBatch?: Document[]; readonly nextBatch?: Document[]; readonly ns: string };
}

describe('a cursor', async () => {
  const server = await openServerForTest();
  const client = await server.driver();
  const db = client.db('test');
  const c = db.collection<{ _id: number }>('c');
  after(() => server.close());
  await c.insertMany(Array.from({ length: 250 }, (_, i) => ({ _id: i })));

  async function run(command: Document): Promise<CursorReply> {
    const reply = await db.command(command, { promoteLongs: false });
    return { ...reply, cursor: reply['cursor'] as CursorReply['cursor'] };
  }

  test('has 101 documents in its first batch, and the rest in the next', async () => {
    const first = await run({ find: 'c' });
    assert.equal(first.cursor.firstBatch?.length, 101);
    assert.equal(first.cursor.ns, 'test.c');
    assert.equal(first.cursor.id.isZero(), false);
    const next = await run({ getMore: first.cursor.id, collection: 'c' });
    assert.equal(next.cursor.nextBatch?.length, 149);
    assert.equal(next.cursor.id.isZero(), true);
  });

  test('with batchSize 0 has an empty first batch, then as many as getMore asks for', async () => {
    const first = await run({ find: 'c', batchSize: 0 });
    assert.equal(first.cursor.firstBatch?.length, 0);
    const next = await run({ getMore: first.cursor.id, collection: 'c', batchSize: 7 });
    assert.equal(next.cursor.nextBatch?.length, 7);
    assert.equal(next.cursor.id.equals(first.cursor.id), true);
  });

  test('that its limit ends says so at once', async () => {
    const first = await run({ find: 'c', limit: 5, batchSize: 5 });
    assert.equal(first.cursor.firstBatch?.length, 5);
    assert.equal(first.cursor.id.isZero(), true);
    assert.equal((await c.find().limit(-5).toArray()).length, 5);
    assert.equal((await c.find().skip(245).toArray()).length, 5);
    assert.equal((await c.find().skip(300).toArray()).length, 0);
  });

  test('that was killed is not found, and one of another collection is refused', async () => {
    const first = await run({ find: 'c', batchSize: 1 });
    await assert.rejects(run({ getMore: first.cursor.id, collection: 'd' }), { code: 13 });
    const killed = await db.command({ killCursors: 'c', cursors: [first.cursor.id, Long.fromNumber(99)] }, { promoteLongs: false });
    assert.deepEqual(killed['cursorsKilled'], [first.cursor.id]);
    assert.deepEqual(killed['cursorsNotFound'], [Long.fromNumber(99)]);
    await assert.rejects(run({ getMore: first.cursor.id, collection: 'c' }), { code: 43 });
  });

  test('keeps to the state that it began with', async () => {
    const cursor = c.find({}, { batchSize: 10 }).sort({ _id: 1 });
    assert.equal((await cursor.next())?._id, 0);
    await c.insertOne({ _id: 1000 });
    let count = 1;
    let last = 0;
    for await (const document of cursor) {
      count += 1;
      last = document._id;
    }
    assert.equal(count, 250);
    assert.equal(last, 249);
    await c.deleteOne({ _id: 1000 });
  });

  test('has no batch above 16 MiB', async () => {
    const large = db.collection('large');
    for (let i = 0; i < 4; i++) await large.insertOne({ text: 'x'.repeat(6 * 1024 * 1024) });
    const first = await run({ find: 'large' });
    assert.equal(first.cursor.firstBatch?.length, 2);
    assert.equal((await large.find().toArray()).length, 4);
  });

  test('ends with its collection', async () => {
    await db.collection('gone').insertMany([{}, {}, {}]);
    const first = await run({ find: 'gone', batchSize: 1 });
    await db.collection('gone').drop();
    await assert.rejects(run({ getMore: first.cursor.id, collection: 'gone' }), { code: 175 });
  });
});
