import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { Binary, BsonArray, Document, type Value } from '../../src/bson/index.ts';
import type { ClientSession } from 'mongodb';
import { openServerForTest } from '../support/open-server-for-test.ts';

/** A session's lsid, different for each number. */
function session(number: number): Document {
  const bytes = new Uint8Array(16);
  bytes[15] = number;
  return Document.of({ id: new Binary(bytes, 4) });
}

function inTransaction(lsid: Document, txnNumber: bigint, start = false): Record<string, Value> {
  return { lsid, txnNumber, autocommit: false, ...(start ? { startTransaction: true } : {}) };
}

function documents(...list: Record<string, Value>[]): BsonArray {
  return BsonArray.of(list.map((fields) => Document.of(fields)));
}

function code(reply: Document): Value | undefined {
  return reply.get('code');
}

function labels(reply: Document): readonly Value[] {
  const list = reply.get('errorLabels');
  return list instanceof BsonArray ? list.items() : [];
}

function found(reply: Document): readonly Value[] {
  const cursor = reply.get('cursor');
  const batch = cursor instanceof Document ? cursor.get('firstBatch') : undefined;
  return batch instanceof BsonArray ? batch.items() : [];
}

describe('a multi-statement transaction', async () => {
  const server = await openServerForTest();
  const client = await server.wire();
  const other = await server.wire();
  after(() => server.close());
  await client.command('test', { create: 'c' });

  test('is seen by others when it has committed, whatever connection it came by', async () => {
    const lsid = session(1);
    await client.command('test', { insert: 'c', documents: documents({ _id: 1 }), ...inTransaction(lsid, 1n, true) });
    await other.command('test', { insert: 'c', documents: documents({ _id: 2 }), ...inTransaction(lsid, 1n) });
    assert.equal(found(await client.command('test', { find: 'c' })).length, 0);
    assert.equal(found(await client.command('test', { find: 'c', ...inTransaction(lsid, 1n) })).length, 2);
    const committed = await other.command('admin', { commitTransaction: 1, ...inTransaction(lsid, 1n) });
    assert.equal(code(committed), undefined);
    assert.equal(found(await client.command('test', { find: 'c' })).length, 2);
    const again = await client.command('admin', { commitTransaction: 1, ...inTransaction(lsid, 1n) });
    assert.equal(code(again), undefined);
  });

  test('leaves nothing when it is aborted, and is then unknown with the label that makes drivers try again', async () => {
    const lsid = session(2);
    await client.command('test', { insert: 'c', documents: documents({ _id: 3 }), ...inTransaction(lsid, 1n, true) });
    assert.equal(code(await client.command('admin', { abortTransaction: 1, ...inTransaction(lsid, 1n) })), undefined);
    const after251 = await client.command('test', { find: 'c', ...inTransaction(lsid, 1n) });
    assert.equal(code(after251), 251);
    assert.deepEqual(labels(after251), ['TransientTransactionError']);
    assert.equal(found(await client.command('test', { find: 'c', filter: Document.of({ _id: 3 }) })).length, 0);
  });

  test('that meets a change of another fails at once with 112 and is over', async () => {
    const first = session(3);
    const second = session(4);
    const update = { update: 'c', updates: documents({ q: Document.of({ _id: 1 }), u: Document.of({ $set: Document.of({ by: 'x' }) }) }) };
    await client.command('test', { ...update, ...inTransaction(first, 1n, true) });
    const conflict = await other.command('test', { ...update, ...inTransaction(second, 1n, true) });
    assert.equal(code(conflict), 112);
    assert.deepEqual(labels(conflict), ['TransientTransactionError']);
    assert.equal(code(await other.command('admin', { commitTransaction: 1, ...inTransaction(second, 1n) })), 251);
    assert.equal(code(await client.command('admin', { commitTransaction: 1, ...inTransaction(first, 1n) })), undefined);
  });

  test('is ended by an error in it', async () => {
    const lsid = session(5);
    const failed = await client.command('test', { insert: 'c', documents: documents({ _id: 9 }, { _id: 1 }), ...inTransaction(lsid, 1n, true) });
    const errors = failed.get('writeErrors');
    assert.ok(errors instanceof BsonArray);
    assert.equal(errors.length, 1);
    assert.equal(code(await client.command('admin', { commitTransaction: 1, ...inTransaction(lsid, 1n) })), 251);
    assert.equal(found(await client.command('test', { find: 'c', filter: Document.of({ _id: 9 }) })).length, 0);
  });

  test('refuses commands that have no place in it, lower numbers, and a second start', async () => {
    const lsid = session(6);
    assert.equal(code(await client.command('test', { count: 'c', ...inTransaction(lsid, 5n, true) })), 263);
    assert.equal(code(await client.command('config', { insert: 'c', documents: documents({}), ...inTransaction(lsid, 5n, true) })), 263);
    await client.command('test', { find: 'c', ...inTransaction(lsid, 5n, true) });
    assert.equal(code(await client.command('test', { find: 'c', ...inTransaction(lsid, 4n, true) })), 225);
    assert.equal(code(await client.command('test', { find: 'c', ...inTransaction(lsid, 5n, true) })), 50911);
    assert.equal(code(await client.command('test', { find: 'c', ...inTransaction(lsid, 6n) })), 251);
    assert.equal(code(await client.command('test', { find: 'c', ...inTransaction(lsid, 5n), readConcern: Document.of({ level: 'local' }) })), 72);
  });

  test('is aborted by killAllSessions', async () => {
    const lsid = session(7);
    await client.command('test', { insert: 'c', documents: documents({ _id: 7 }), ...inTransaction(lsid, 1n, true) });
    await other.command('admin', { killAllSessions: BsonArray.empty });
    assert.equal(code(await client.command('admin', { commitTransaction: 1, ...inTransaction(lsid, 1n) })), 251);
  });

  test('needs the fields that go with it', async () => {
    const lsid = session(8);
    const find = { find: 'c' };
    assert.equal(code(await client.command('test', { ...find, txnNumber: 1n, autocommit: false })), 72);
    assert.equal(code(await client.command('test', { ...find, lsid, autocommit: false })), 72);
    assert.equal(code(await client.command('test', { ...find, lsid, txnNumber: 1n, autocommit: true })), 72);
    assert.equal(code(await client.command('test', { ...find, lsid, txnNumber: 1n, startTransaction: true })), 72);
    assert.equal(code(await client.command('test', { ...find, lsid, txnNumber: 1n })), 50768);
  });
});

describe('a transaction of a session', async () => {
  const server = await openServerForTest();
  const client = await server.wire();
  after(() => server.close());

  test('reads and writes nothing of the server itself', async () => {
    const lsid = session(9);
    await client.command('test', { insert: 'system.js', documents: documents({ _id: 'f' }) });
    let number = 0n;
    const first = async (db: string, command: Record<string, Value>): Promise<Value | undefined> => code(await client.command(db, { ...command, ...inTransaction(lsid, ++number, true) }));
    for (const db of ['admin', 'config', 'local']) assert.equal(await first(db, { find: 'c' }), 263);
    assert.equal(await first('test', { find: 'system.js' }), undefined);
    assert.equal(await first('test', { insert: 'system.js', documents: documents({ a: 1 }) }), 50791);
    assert.equal(await first('test', { delete: 'system.js', deletes: documents({ q: Document.empty, limit: 1 }) }), 50791);
    assert.equal(await first('test', { findAndModify: 'system.js', remove: true }), 50781);
  });
});

describe('a retryable write', async () => {
  let server = await openServerForTest();
  let client = await server.wire();
  after(() => server.close());

  test('is answered and not done again when it is repeated', async () => {
    const lsid = session(1);
    const insert = { insert: 'r', documents: documents({ _id: 1 }, { _id: 2 }), lsid, txnNumber: 1n };
    assert.equal((await client.command('test', insert)).get('n'), 2);
    const repeated = await client.command('test', insert);
    assert.equal(repeated.get('n'), 2);
    assert.equal(repeated.get('writeErrors'), undefined);
    const retried = repeated.get('retriedStmtIds');
    assert.ok(retried instanceof BsonArray);
    assert.deepEqual(retried.items(), [0, 1]);
    const increment = { update: 'r', updates: documents({ q: Document.of({ _id: 1 }), u: Document.of({ $inc: Document.of({ n: 1 }) }) }), lsid, txnNumber: 2n };
    assert.equal((await client.command('test', increment)).get('nModified'), 1);
    assert.equal((await client.command('test', increment)).get('nModified'), 1);
    assert.deepEqual(found(await client.command('test', { find: 'r', filter: Document.of({ _id: 1 }) })).map((value) => (value instanceof Document ? value.get('n') : 0)), [1]);
  });

  test('of a lower number is refused with 225', async () => {
    const insert = { insert: 'r', documents: documents({ _id: 8 }), lsid: session(1), txnNumber: 1n };
    assert.equal(code(await client.command('test', insert)), 225);
  });

  test('gives the same document again for findAndModify', async () => {
    const modify = {
      findAndModify: 'r',
      query: Document.of({ _id: 2 }),
      update: Document.of({ $inc: Document.of({ n: 5 }) }),
      new: true,
      lsid: session(1),
      txnNumber: 3n,
    };
    const first = (await client.command('test', modify)).get('value');
    const second = (await client.command('test', modify)).get('value');
    assert.ok(first instanceof Document && second instanceof Document);
    assert.deepEqual(first.toBytes(), second.toBytes());
    assert.equal(second.get('n'), 5);
  });

  test('is refused when another statement comes under its number', async () => {
    const lsid = session(1);
    const increment = Document.of({ $inc: Document.of({ n: 1 }) });
    const changing = { findAndModify: 'r', query: Document.of({ _id: 2 }), update: increment, lsid, txnNumber: 4n };
    const removing = { findAndModify: 'r', query: Document.of({ _id: 'none' }), remove: true, lsid };
    assert.equal(code(await client.command('test', changing)), undefined);
    assert.equal(code(await client.command('test', { ...changing, new: true })), 40611);
    assert.equal(code(await client.command('test', { ...changing, new: true, txnNumber: 5n })), undefined);
    assert.equal(code(await client.command('test', { ...changing, txnNumber: 5n })), 40612);
    await client.command('test', { insert: 'r', documents: documents({ _id: 'none' }), lsid, txnNumber: 6n });
    assert.equal(code(await client.command('test', { ...changing, txnNumber: 6n })), 40608);
    assert.equal(code(await client.command('test', { ...removing, txnNumber: 7n })), undefined);
    assert.equal(code(await client.command('test', { ...changing, txnNumber: 7n })), 40606);
    assert.equal(code(await client.command('test', { update: 'r', updates: documents({ q: Document.empty, u: increment }), lsid, txnNumber: 7n })), 40638);
    assert.deepEqual(found(await client.command('test', { find: 'r', filter: Document.of({ _id: 2 }) })).map((value) => (value instanceof Document ? value.get('n') : 0)), [7]);
  });

  test('is known after the server was started again', async () => {
    const lsid = session(2);
    const insert = { insert: 'r', documents: documents({ _id: 'after' }), lsid, txnNumber: 7n };
    await client.command('test', insert);
    const { env } = server;
    await server.close();
    server = await openServerForTest({ env });
    client = await server.wire();
    const repeated = await client.command('test', insert);
    assert.equal(repeated.get('n'), 1);
    assert.equal(repeated.get('writeErrors'), undefined);
    assert.equal(code(await client.command('test', { ...insert, txnNumber: 6n })), 225);
  });

  test('may not change many documents', async () => {
    const updates = documents({ q: Document.empty, u: Document.of({ $set: Document.of({ a: 1 }) }), multi: true });
    const reply = await client.command('test', { update: 'r', updates, lsid: session(3), txnNumber: 1n });
    const errors = reply.get('writeErrors');
    const error = errors instanceof BsonArray ? errors.at(0) : undefined;
    assert.equal(error instanceof Document ? error.get('code') : code(reply), 72);
  });
});

test('a transaction writes to no capped collection, and reads no union', async () => {
  const server = await openServerForTest();
  const driver = await server.driver();
  const db = driver.db('kept');
  await db.createCollection('log', { capped: true, size: 4096 });
  await db.collection<{ _id: number }>('plain').insertOne({ _id: 1 });
  for (const work of [
    async (session: ClientSession) => db.collection('log').insertOne({ a: 1 }, { session }),
    async (session: ClientSession) => db.collection('plain').aggregate([{ $unionWith: 'plain' }], { session }).toArray(),
  ]) {
    const session = driver.startSession();
    session.startTransaction();
    await assert.rejects(work(session), { code: 263 });
    await session.abortTransaction();
    await session.endSession();
  }
  await server.close();
});
