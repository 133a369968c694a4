import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { BsonArray, bsonUndefined, DateTime, Document, Double, ObjectId, Regex, type Value } from '../../src/bson/index.ts';
import { openServerForTest, type ServerForTest } from '../support/open-server-for-test.ts';
import { WireClient } from '../support/wire-client.ts';

// A find of one `_id` has a short way. An empty projection, which changes nothing, takes the long one: both must say the same.
let server: ServerForTest;
let client: WireClient;

const objectId = new ObjectId(new Uint8Array(12).fill(3));
const ids: readonly Value[] = [1, new Double(2.5), 3n, 'text', objectId, new DateTime(5), true, Document.of({ a: 1 }), Document.empty, null];

before(async () => {
  server = await openServerForTest();
  client = await WireClient.open(server.port);
  await client.command('d', { insert: 'c', documents: BsonArray.of(ids.map((_id) => Document.of({ _id, said: 'yes' }))) });
  await client.command('d', { create: 'v', viewOn: 'c', pipeline: BsonArray.empty });
});

after(async () => {
  client.close();
  await server.close();
});

async function cursorOf(command: Readonly<Record<string, Value>>): Promise<Document> {
  const reply = await client.command('d', command);
  const cursor = reply.get('cursor');
  assert.ok(cursor instanceof Document, JSON.stringify(reply.get('errmsg')));
  return cursor;
}

/** What a cursor says but its number, of which only whether there is one. */
function told(cursor: Document): unknown {
  return cursor.fields.map(([name, value]) => [name, name === 'id' ? value !== 0n : value instanceof BsonArray ? [...value.toBytes()] : value]);
}

const operators = [Document.of({ $gt: 1 }), Document.of({ $in: BsonArray.of([1, 'text']) }), new Regex('te', ''), BsonArray.of([1]), Document.of({ a: 2 }), new Double(1), 'Text', 4];

test('a find by _id answers as one that is planned', async () => {
  for (const id of [...ids, ...operators]) {
    for (const more of [{}, { limit: 1, singleBatch: true, batchSize: 1 }, { limit: 1 }, { batchSize: 1 }, { batchSize: 0 }, { batchSize: 2 }, { limit: 5, singleBatch: true }]) {
      for (const find of ['c', 'v', 'none']) {
        const command = { find, filter: Document.of({ _id: id }), ...more };
        assert.deepEqual(told(await cursorOf(command)), told(await cursorOf({ ...command, projection: Document.empty })), `${find} ${JSON.stringify(more)}`);
      }
    }
  }
});

test('a find by an undefined _id is refused', async () => {
  const reply = await client.command('d', { find: 'c', filter: Document.of({ _id: bsonUndefined }) });
  assert.equal(reply.get('code'), 2);
});

test('a find by _id under a collation compares by it', async () => {
  await client.command('d', { create: 'cased', collation: Document.of({ locale: 'en', strength: 2 }) });
  await client.command('d', { insert: 'cased', documents: BsonArray.of([Document.of({ _id: 'A' })]) });
  for (const [find, collation, count] of [['cased', undefined, 1], ['c', Document.of({ locale: 'en', strength: 2 }), 1], ['c', undefined, 0]] as const) {
    const cursor = await cursorOf({ find, filter: Document.of({ _id: find === 'c' ? 'TEXT' : 'a' }), ...(collation === undefined ? {} : { collation }) });
    const batch = cursor.get('firstBatch');
    assert.equal(batch instanceof BsonArray ? batch.length : -1, count);
  }
});

test('a find by _id counts as a use of its index', async () => {
  const uses = async (): Promise<unknown> => {
    const cursor = await cursorOf({ aggregate: 'c', pipeline: BsonArray.of([Document.of({ $indexStats: Document.empty })]), cursor: Document.empty });
    const [first] = (cursor.get('firstBatch') as BsonArray).items();
    const accesses = first instanceof Document ? first.get('accesses') : undefined;
    return accesses instanceof Document ? Number(accesses.get('ops')) : undefined;
  };
  const already = Number(await uses());
  await cursorOf({ find: 'c', filter: Document.of({ _id: 1 }) });
  assert.equal(await uses(), already + 1);
});

test('statements by _id change what is under the key, and nothing where nothing is', async () => {
  const update = (id: Value): Promise<Document> => client.command('d', { update: 'c', updates: BsonArray.of([Document.of({ q: Document.of({ _id: id }), u: Document.of({ $set: Document.of({ said: 'more' }) }) })]) });
  assert.equal((await update(3n)).get('n'), 1);
  assert.equal((await update(new Double(3))).get('nModified'), 0);
  assert.equal((await update(99)).get('n'), 0);
  const removed = await client.command('d', { delete: 'c', deletes: BsonArray.of([Document.of({ q: Document.of({ _id: new Double(3) }), limit: 1 })]) });
  assert.equal(removed.get('n'), 1);
});
