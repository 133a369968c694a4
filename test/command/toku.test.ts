import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BsonArray, Document } from '../../src/bson/index.ts';
import { openServerForTest, type ServerForTest } from '../support/open-server-for-test.ts';
import type { WireClient } from '../support/wire-client.ts';

async function served(work: (mine: WireClient, other: WireClient, server: ServerForTest) => Promise<void>): Promise<void> {
  const server = await openServerForTest();
  try {
    await work(await server.wire(), await server.wire(), server);
  } finally {
    await server.close();
  }
}

function insert(client: WireClient, id: number): Promise<Document> {
  return client.command('d', { insert: 'c', documents: BsonArray.of([Document.of({ _id: id })]) });
}

async function count(client: WireClient): Promise<unknown> {
  return (await client.command('d', { count: 'c' })).get('n');
}

async function codeOf(reply: Promise<Document>): Promise<unknown> {
  return (await reply).get('code');
}

test('a transaction of a connection is seen by it alone until it commits', async () => {
  await served(async (mine, other) => {
    await insert(mine, 1);
    assert.equal((await mine.command('d', { beginTransaction: 1, isolation: 'mvcc' })).get('status'), 'transaction began');
    await insert(mine, 2);
    const found = (await mine.command('d', { find: 'c', filter: Document.empty })).get('cursor');
    assert.ok(found instanceof Document);
    const batch = found.get('firstBatch');
    assert.ok(batch instanceof BsonArray);
    assert.equal(batch.items().length, 2);
    assert.equal(await count(other), 1);
    assert.equal(await codeOf(mine.command('d', { beginTransaction: 1 })), 16787);
    const live = (await other.command('admin', { showLiveTransactions: 1 })).get('transactions');
    assert.ok(live instanceof BsonArray);
    assert.equal(live.items().length, 1);
    assert.equal((await mine.command('d', { commitTransaction: 1 })).get('status'), 'transaction committed');
    assert.equal(await count(other), 2);
  });
});

test('rolled back, or with its connection gone, it never was', async () => {
  await served(async (mine, other, server) => {
    await insert(other, 1);
    await mine.command('d', { beginTransaction: 1 });
    await insert(mine, 2);
    assert.equal((await mine.command('d', { rollbackTransaction: 1 })).get('status'), 'transaction rolled back');
    assert.equal(await codeOf(mine.command('d', { rollbackTransaction: 1 })), 16789);
    const third = await server.wire();
    await third.command('d', { beginTransaction: 1 });
    await insert(third, 3);
    third.close();
    // The lock of document 3 goes with the connection; the insert of another waits until then.
    await insert(other, 3);
    assert.equal(await count(other), 2);
  });
});

test('a conflict is told at once and ends the transaction', async () => {
  await served(async (mine, other) => {
    await insert(mine, 1);
    await mine.command('d', { beginTransaction: 1 });
    const change = (client: WireClient): Promise<Document> =>
      client.command('d', { update: 'c', updates: BsonArray.of([Document.of({ q: Document.of({ _id: 1 }), u: Document.of({ $set: Document.of({ x: 1 }) }) })]) });
    await insert(mine, 2);
    await change(other);
    assert.equal(await codeOf(change(mine)), 112);
    assert.equal(await count(mine), 1);
  });
});

test('the engine tells its counters and writes a checkpoint when asked', async () => {
  await served(async (mine) => {
    const before = (await mine.command('admin', { engineStatus: 1 })).get('checkpoints');
    assert.equal((await mine.command('admin', { checkpoint: 1 })).get('code'), undefined);
    const after = (await mine.command('admin', { engineStatus: 1 })).get('checkpoints');
    assert.ok(typeof before === 'bigint' && typeof after === 'bigint' && after > before);
  });
});

test('an atomic statement is done whole or not at all', async () => {
  await served(async (mine, other) => {
    await insert(other, 3);
    const documents = BsonArray.of([1, 2, 3, 4].map((id) => Document.of({ _id: id })));
    const refused = await mine.command('d', { insert: 'c', documents, atomic: true, ordered: false });
    assert.equal(refused.get('n'), 0);
    const errors = refused.get('writeErrors');
    assert.ok(errors instanceof BsonArray);
    assert.equal(errors.items().length, 1);
    assert.equal(await count(other), 1);
    assert.equal((await mine.command('admin', { setParameter: 1, atomicStatements: true })).get('was'), false);
    await insert(mine, 5);
    assert.equal(await codeOf(mine.command('d', { createIndexes: 'c', indexes: BsonArray.of([Document.of({ key: Document.of({ u: 1 }), name: 'u', unique: true, sparse: true })]) })), undefined);
    const updates = BsonArray.of([Document.of({ q: Document.empty, u: Document.of({ $set: Document.of({ u: 1 }) }), multi: true })]);
    assert.equal((await mine.command('d', { update: 'c', updates })).get('nModified'), 0);
    assert.equal((await mine.command('d', { count: 'c', query: Document.of({ u: 1 }) })).get('n'), 0);
    const deletes = BsonArray.of([Document.of({ q: Document.empty, limit: 0 })]);
    assert.equal((await mine.command('d', { delete: 'c', deletes })).get('n'), 2);
  });
});

test('atomic statements that meet on the same documents wait for each other', async () => {
  await served(async (mine, other) => {
    await insert(mine, 1);
    await insert(mine, 2);
    const add = (client: WireClient): Promise<Document> =>
      client.command('d', { update: 'c', updates: BsonArray.of([Document.of({ q: Document.empty, u: Document.of({ $inc: Document.of({ x: 1 }) }), multi: true })]), atomic: true });
    for (let round = 0; round < 10; round++) for (const reply of await Promise.all([add(mine), add(other)])) assert.equal(reply.get('nModified'), 2);
    assert.equal((await mine.command('d', { count: 'c', query: Document.of({ x: 20 }) })).get('n'), 2);
  });
});

test('a refused document ends the transaction of a connection', async () => {
  await served(async (mine, other) => {
    await insert(mine, 1);
    await mine.command('d', { beginTransaction: 1 });
    await insert(mine, 2);
    const errors = (await insert(mine, 1)).get('writeErrors');
    assert.ok(errors instanceof BsonArray);
    assert.equal(await count(other), 1);
    assert.equal(await count(mine), 1);
  });
});

test('counts, and what TokuMX changes transactionally, are part of the transaction of a connection', async () => {
  await served(async (mine, other) => {
    await insert(mine, 1);
    await mine.command('d', { createIndexes: 'c', indexes: BsonArray.of([Document.of({ key: Document.of({ a: 1 }), name: 'a_1' })]) });
    await mine.command('d', { beginTransaction: 1 });
    await insert(mine, 2);
    assert.equal(await count(mine), 2);
    assert.equal((await mine.command('d', { dropIndexes: 'c', index: 'a_1' })).get('nIndexesWas'), 2);
    assert.equal((await mine.command('d', { drop: 'c' })).get('ok') instanceof Object, true);
    assert.equal(await count(mine), 0);
    assert.equal(await count(other), 1);
    await mine.command('d', { rollbackTransaction: 1 });
    assert.equal(await count(mine), 1);
    await mine.command('d', { beginTransaction: 1 });
    await mine.command('d', { drop: 'c' });
    await mine.command('d', { commitTransaction: 1 });
    assert.equal(await count(other), 0);
    assert.equal(await codeOf(mine.command('d', { collMod: 'c' })), 26);
  });
});

function rows(reply: Document, name: string): readonly Document[] {
  const list = reply.get(name);
  assert.ok(list instanceof BsonArray);
  return list.items().filter((item) => item instanceof Document);
}

/** The requests for locks, as soon as there are so many. */
async function pending(client: WireClient, count: number): Promise<readonly Document[]> {
  for (;;) {
    const requests = rows(await client.command('admin', { showPendingLockRequests: 1 }), 'requests');
    if (requests.length === count) return requests;
  }
}

const setX = (client: WireClient, id: number): Promise<Document> =>
  client.command('d', { update: 'c', updates: BsonArray.of([Document.of({ q: Document.of({ _id: id }), u: Document.of({ $set: Document.of({ x: 1 }) }) })]) });

test('who waits for a lock, which one, and who has it, is told while it is so', async () => {
  await served(async (mine, other, server) => {
    const third = await server.wire();
    await insert(mine, 1);
    await mine.command('d', { beginTransaction: 1 });
    await setX(mine, 1);
    const [holder] = rows(await third.command('admin', { showLiveTransactions: 1 }), 'transactions').filter((row) => row.get('client') !== undefined);
    assert.ok(holder !== undefined);
    assert.equal(holder.get('isolation'), 'mvcc');
    const [lock] = rows(holder, 'rowLocks');
    assert.equal(lock?.get('index'), 'd.c.$_id_');
    assert.deepEqual(await pending(third, 0), []);
    const waiting = setX(other, 1);
    const [request] = await pending(third, 1);
    assert.equal(request?.get('index'), 'd.c.$_id_');
    assert.deepEqual(request.get('bounds'), BsonArray.of([Document.of({ _id: 1 }), Document.of({ _id: 1 })]));
    assert.equal(request.get('blockingTxnid'), holder.get('txnid'));
    assert.notEqual(request.get('requestingTxnid'), holder.get('txnid'));
    await mine.command('d', { commitTransaction: 1 });
    assert.equal((await waiting).get('n'), 1);
    assert.deepEqual(await pending(third, 0), []);
  });
});

test('what a serializable transaction has looked at nobody else changes until it ends', async () => {
  await served(async (mine, other, server) => {
    const third = await server.wire();
    await insert(mine, 1);
    await mine.command('d', { beginTransaction: 1, isolation: 'serializable' });
    assert.equal(await count(mine), 1);
    assert.equal((await mine.command('d', { count: 'missing' })).get('n'), 0);
    const waiting = insert(other, 2);
    const [request] = await pending(third, 1);
    assert.equal(request?.get('index'), 'd.c.$_id_');
    // Others read what they like, and write elsewhere.
    assert.equal(await count(third), 1);
    await third.command('d', { insert: 'elsewhere', documents: BsonArray.of([Document.of({ _id: 1 })]) });
    await insert(mine, 3);
    await mine.command('d', { commitTransaction: 1 });
    assert.equal((await waiting).get('n'), 1);
    assert.equal(await count(third), 3);
    // What others have written since it began it cannot have.
    await mine.command('d', { beginTransaction: 1, isolation: 'serializable' });
    await insert(other, 4);
    assert.equal(await codeOf(mine.command('d', { count: 'c' })), 112);
  });
});

test('a transaction is mvcc, serializable or readUncommitted', async () => {
  await served(async (mine) => {
    assert.equal(await codeOf(mine.command('d', { beginTransaction: 1, isolation: 'other' })), 16739);
    assert.equal(await codeOf(mine.command('d', { beginTransaction: 1, isolation: 5 })), 16738);
    for (const isolation of ['mvcc', 'serializable', 'readUncommitted']) {
      await mine.command('d', { beginTransaction: 1, isolation });
      const [own] = rows(await mine.command('admin', { showLiveTransactions: 1 }), 'transactions').filter((row) => row.get('client') !== undefined);
      assert.equal(own?.get('isolation'), isolation);
      await mine.command('d', { rollbackTransaction: 1 });
    }
  });
});

test('a driver, which numbers every commit and abort, ends the transaction of its one connection', async () => {
  await served(async (_mine, other, server) => {
    const client = await server.driver({ maxPoolSize: 1 });
    const c = client.db('d').collection<{ _id: number }>('c');
    await c.insertOne({ _id: 1 });
    await client.db('d').command({ beginTransaction: 1 });
    await c.insertOne({ _id: 2 });
    assert.equal(await count(other), 1);
    assert.equal((await client.db('d').command({ commitTransaction: 1 }))['status'], 'transaction committed');
    assert.equal(await count(other), 2);
    await client.db('d').command({ beginTransaction: 1 });
    await c.insertOne({ _id: 3 });
    assert.equal((await client.db('d').command({ abortTransaction: 1 }))['status'], 'transaction rolled back');
    assert.equal(await count(other), 2);
    // Sessions go on as they did.
    const session = client.startSession();
    session.startTransaction();
    await c.insertOne({ _id: 4 }, { session });
    await session.commitTransaction();
    await session.endSession();
    assert.equal(await count(other), 3);
  });
});
