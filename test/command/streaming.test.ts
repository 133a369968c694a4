import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { BsonArray, Document, ObjectId, type Value } from '../../src/bson/index.ts';
import { encodeMessage, type WireMessage } from '../../src/wire/index.ts';
import { openServerForTest } from '../support/open-server-for-test.ts';
import type { WireClient } from '../support/wire-client.ts';

async function received(client: WireClient): Promise<WireMessage> {
  const message = await client.receive();
  assert.ok(message !== undefined, 'the server closed the connection');
  return message;
}

function sendStreaming(client: WireClient, requestId: number, command: Record<string, Value>): void {
  client.send(...encodeMessage({ requestId, responseTo: 0 }, Document.of(command), { exhaustAllowed: true }));
}

describe('hello', async () => {
  const server = await openServerForTest();
  after(() => server.close());

  async function version(client: WireClient): Promise<Document> {
    const found = (await client.command('admin', { hello: 1 })).get('topologyVersion');
    assert.ok(found instanceof Document);
    return found;
  }

  test('answers again and again, each time to its last answer, when the client takes that', async () => {
    const client = await server.wire();
    const topologyVersion = await version(client);
    sendStreaming(client, 77, { hello: 1, topologyVersion, maxAwaitTimeMS: 5, $db: 'admin' });
    let answered = 77;
    for (let i = 0; i < 3; i++) {
      const message = await received(client);
      assert.equal(message.responseTo, answered);
      assert.equal(message.moreToCome, true);
      assert.equal(message.body.get('isWritablePrimary'), true);
      answered = message.requestId;
    }
    client.close();
    assert.equal((await (await server.wire()).command('admin', { ping: 1 })).get('code'), undefined);
  });

  test('answers at once a client that knows another process', async () => {
    const client = await server.wire();
    const stale = Document.of({ processId: ObjectId.from('0123456789abcdef01234567'), counter: 6n });
    const reply = await client.command('admin', { hello: 1, topologyVersion: stale, maxAwaitTimeMS: 600_000 });
    assert.ok(reply.get('topologyVersion') instanceof Document);
  });

  test('waits, once, for a client that takes one answer', async () => {
    const client = await server.wire();
    const topologyVersion = await version(client);
    sendStreaming(client, 1, { ping: 1, $db: 'admin' });
    assert.equal((await received(client)).moreToCome, false);
    const reply = await client.command('admin', { hello: 1, topologyVersion, maxAwaitTimeMS: 5 });
    assert.equal(reply.get('isWritablePrimary'), true);
  });

  const refused: [string, Record<string, Value>, number][] = [
    ['a version without a time', { topologyVersion: Document.of({ processId: ObjectId.from('0123456789abcdef01234567'), counter: 6n }) }, 31368],
    ['a time without a version', { maxAwaitTimeMS: 5 }, 51758],
    ['a negative time', { topologyVersion: Document.of({ processId: ObjectId.from('0123456789abcdef01234567'), counter: 6n }), maxAwaitTimeMS: -1 }, 31373],
    ['a negative counter', { topologyVersion: Document.of({ processId: ObjectId.from('0123456789abcdef01234567'), counter: -6n }), maxAwaitTimeMS: 1 }, 31372],
  ];
  for (const [what, fields, code] of refused) {
    test(`refuses ${what}`, async () => {
      const client = await server.wire();
      assert.equal((await client.command('admin', { hello: 1, ...fields })).get('code'), code);
    });
  }
});

test('a server that closes does not wait for those who wait for news', async () => {
  const server = await openServerForTest();
  const client = await server.wire();
  const topologyVersion = (await client.command('admin', { hello: 1 })).get('topologyVersion') ?? null;
  sendStreaming(client, 1, { hello: 1, topologyVersion, maxAwaitTimeMS: 600_000, $db: 'admin' });
  await (await server.wire()).command('admin', { ping: 1 });
  const started = server.env.clock.monotonicMs();
  await server.close();
  assert.ok(server.env.clock.monotonicMs() - started < 4000);
});

test('getMore goes on to the end of the cursor without being asked again, when the client takes that', async () => {
  const server = await openServerForTest();
  const client = await server.wire();
  const documents = BsonArray.of(Array.from({ length: 10 }, (_, i) => Document.of({ _id: i })));
  await client.command('test', { insert: 'c', documents });
  const opened = (await client.command('test', { find: 'c', batchSize: 2 })).get('cursor');
  assert.ok(opened instanceof Document);
  sendStreaming(client, 5, { getMore: opened.get('id') ?? null, collection: 'c', batchSize: 3, $db: 'test' });
  const ids: Value[] = [];
  const more: boolean[] = [];
  for (;;) {
    const message = await received(client);
    const cursor = message.body.get('cursor');
    assert.ok(cursor instanceof Document);
    const batch = cursor.get('nextBatch');
    assert.ok(batch instanceof BsonArray);
    for (const document of batch.items()) if (document instanceof Document) ids.push(document.get('_id') ?? null);
    more.push(message.moreToCome);
    if (!message.moreToCome) break;
  }
  assert.deepEqual(ids, [2, 3, 4, 5, 6, 7, 8, 9]);
  assert.deepEqual(more, [true, true, false]);
  assert.equal((await client.command('admin', { ping: 1 })).get('code'), undefined);
  await server.close();
});
