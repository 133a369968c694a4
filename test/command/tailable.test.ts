// Capped collections and the cursors that stay at their end (manual: "Capped Collections", "Tailable Cursors").

import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { Timestamp } from 'mongodb';
import { BsonArray, Document, type Value } from '../../src/bson/index.ts';
import { openServerForTest } from '../support/open-server-for-test.ts';

const doc = (fields: Record<string, Value>): Document => Document.of(fields);

function cursorOf(reply: Document): { id: Value; ids: Value[] } {
  const cursor = reply.get('cursor');
  assert.ok(cursor instanceof Document);
  const batch = cursor.get('firstBatch') ?? cursor.get('nextBatch');
  assert.ok(batch instanceof BsonArray);
  return { id: cursor.get('id') ?? null, ids: batch.items().map((item) => (item instanceof Document ? (item.get('_id') ?? null) : null)) };
}

describe('a capped collection', async () => {
  const server = await openServerForTest();
  const client = await server.wire();
  after(() => server.close());
  let number = 0;

  async function capped(options: Record<string, Value> = { size: 100_000 }): Promise<string> {
    const name = `c${String(++number)}`;
    await client.command('test', { create: name, capped: true, ...options });
    return name;
  }

  async function insert(name: string, ...ids: number[]): Promise<void> {
    await client.command('test', { insert: name, documents: BsonArray.of(ids.map((_id) => doc({ _id }))) });
  }

  const tail = (name: string, more: Record<string, Value> = {}): Promise<Document> => client.command('test', { find: name, tailable: true, ...more });
  const more = (name: string, id: Value, fields: Record<string, Value> = {}): Promise<Document> => client.command('test', { getMore: id, collection: name, ...fields });

  test('gives its documents in the order they came, and a tailable cursor those that come later', async () => {
    const name = await capped();
    await insert(name, 3, 1, 2);
    const first = cursorOf(await tail(name));
    assert.deepEqual(first.ids, [3, 1, 2]);
    assert.notEqual(first.id, 0n);
    assert.deepEqual(cursorOf(await more(name, first.id)), { id: first.id, ids: [] });
    await insert(name, 9, 8);
    assert.deepEqual(cursorOf(await more(name, first.id)).ids, [9, 8]);
  });

  test('wakes a cursor that waits when something comes', async () => {
    const name = await capped();
    await insert(name, 1);
    const { id } = cursorOf(await tail(name, { awaitData: true }));
    const waiting = more(name, id, { maxTimeMS: 60_000 });
    const other = await server.wire();
    await other.command('test', { insert: name, documents: BsonArray.of([doc({ _id: 2 })]) });
    assert.deepEqual(cursorOf(await waiting).ids, [2]);
    assert.deepEqual(cursorOf(await more(name, id, { maxTimeMS: 5 })).ids, []);
  });

  test('keeps no more than its number of documents; a cursor that was left behind is told', async () => {
    const name = await capped({ size: 100_000, max: 3 });
    await insert(name, 1);
    const { id } = cursorOf(await tail(name));
    await insert(name, 2, 3, 4, 5);
    assert.deepEqual(cursorOf(await client.command('test', { find: name })).ids, [3, 4, 5]);
    assert.equal((await more(name, id)).get('code'), 136);
  });

  test('has no cursor at its end while it is empty', async () => {
    assert.deepEqual(cursorOf(await tail(await capped())), { id: 0n, ids: [] });
    assert.deepEqual(cursorOf(await tail('nothing')), { id: 0n, ids: [] });
  });

  test('ends the cursors on it when it is dropped', async () => {
    const name = await capped();
    await insert(name, 1);
    const { id } = cursorOf(await tail(name));
    await client.command('test', { drop: name });
    assert.equal((await more(name, id)).get('code'), 175);
  });

  test('is made of another one, in its place or beside it', async () => {
    await client.command('test', { insert: 'plain', documents: BsonArray.of([2, 1, 3].map((_id) => doc({ _id }))) });
    assert.equal((await client.command('test', { cloneCollectionAsCapped: 'plain', toCollection: 'copy', size: 4096 })).get('ok') !== undefined, true);
    assert.equal((await client.command('test', { convertToCapped: 'plain', size: 4096 })).get('errmsg'), undefined);
    for (const name of ['plain', 'copy']) {
      assert.deepEqual(cursorOf(await client.command('test', { find: name })).ids, [1, 2, 3]);
      assert.notEqual(cursorOf(await tail(name)).id, 0n);
    }
  });

  const refused: [string, Record<string, Value>, number][] = [
    ['a tailable cursor on another collection', { find: 'any', tailable: true }, 2],
    ['a tailable cursor with a sort', { find: 'c1', tailable: true, sort: doc({ a: 1 }) }, 2],
    ['waiting without being tailable', { find: 'c1', awaitData: true }, 9],
    ['making nothing capped', { convertToCapped: 'none', size: 10 }, 26],
    ['a size of nothing', { convertToCapped: 'any', size: 0 }, 72],
    ['a copy over something', { cloneCollectionAsCapped: 'any', toCollection: 'c1', size: 10 }, 48],
  ];
  for (const [what, command, code] of refused) {
    test(`refuses ${what}`, async () => {
      await client.command('test', { insert: 'any', documents: BsonArray.of([doc({})]) });
      assert.equal((await client.command('test', command)).get('code'), code);
    });
  }

  test('the oplog can be tailed', async () => {
    const { id } = cursorOf(await client.command('local', { find: 'oplog.rs', tailable: true, awaitData: true, filter: doc({ ns: 'test.logged' }) }));
    assert.notEqual(id, 0n);
    await client.command('test', { insert: 'logged', documents: BsonArray.of([doc({ _id: 1 })]) });
    const reply = await client.command('local', { getMore: id, collection: 'oplog.rs', maxTimeMS: 1000 });
    assert.equal(cursorOf(reply).ids.length, 1);
  });

  test('the log is read from the time that is asked for', async () => {
    const driver = await server.driver();
    const log = driver.db('local').collection('oplog.rs');
    const things = driver.db('test').collection<{ _id: number }>('times');
    for (let _id = 0; _id < 50; _id++) await things.insertOne({ _id });
    const [last] = await log.find({ ns: 'test.times' }).sort({ $natural: -1 }).skip(1).limit(1).toArray();
    const at = last?.['ts'] as Timestamp;
    for (const [ts, count] of [[{ $gt: at }, 1], [{ $gte: at }, 2], [{ $gt: at, $lt: at }, 0], [at, 1]] as const) {
      const { executionStats } = (await log.find({ ts, ns: 'test.times' }).explain('executionStats')) as { executionStats: { nReturned: number; totalDocsExamined: number } };
      assert.equal(executionStats.nReturned, count);
      assert.ok(executionStats.totalDocsExamined < 5);
    }
    const tail = log.find({ ts: { $gt: at } }, { tailable: true, awaitData: true });
    assert.deepEqual(((await tail.next())?.['o'] as { _id: number })._id, 49);
    await driver.db('admin').command({ appendOplogNote: 1, data: { msg: 'hello' } });
    const { op, ns, o } = (await tail.next()) as Record<string, unknown>;
    assert.deepEqual({ op, ns, o }, { op: 'n', ns: '', o: { msg: 'hello' } });
    await tail.close();
  });
});
