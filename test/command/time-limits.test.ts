// maxTimeMS (manual: "Cursor.maxTimeMS"): a cursor's time is that of all its batches together; the fail point of tests takes it away.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openServerForTest } from '../support/open-server-for-test.ts';

test('a limit of time holds for a command and for all batches of its cursor; a fail point lets it run out', async () => {
  const server = await openServerForTest({ testCommands: true });
  try {
    const client = await server.driver();
    const [db, admin] = [client.db('d'), client.db('admin')];
    const c = db.collection('c');
    await c.insertMany(Array.from({ length: 10 }, (_, i) => ({ i })));
    const limited = c.find({}, { batchSize: 2, maxTimeMS: 100_000 });
    await limited.next();
    await limited.next();
    const free = c.find({}, { batchSize: 2 });
    await free.next();
    await free.next();
    await admin.command({ configureFailPoint: 'maxTimeAlwaysTimeOut', mode: 'alwaysOn' });
    await assert.rejects(limited.next(), { code: 50, codeName: 'MaxTimeMSExpired' });
    assert.equal((await free.next())?.['i'], 2);
    await assert.rejects(db.command({ ping: 1, maxTimeMS: 10_000 }), { code: 50 });
    await admin.command({ configureFailPoint: 'maxTimeAlwaysTimeOut', mode: 'off' });
    await db.command({ ping: 1, maxTimeMS: 10_000 });
  } finally {
    await server.close();
  }
});

test('a write whose time is over keeps what was done and leaves nothing locked', async () => {
  const server = await openServerForTest();
  try {
    const db = (await server.driver()).db('d');
    const count = 30_000;
    const ids = [0, 1, 10, 100, 1000, count - 1];
    const over = { code: 50, codeName: 'MaxTimeMSExpired' };
    const documents = Array.from({ length: count }, (_, _id) => ({ _id, n: 0 }));
    await assert.rejects(db.command({ insert: 'c', documents, maxTimeMS: 5 }), over);
    for (const _id of ids) await db.command({ update: 'c', updates: [{ q: { _id }, u: { $set: { n: 0 } }, upsert: true }], maxTimeMS: 2000 });
    await db.command({ insert: 'c', documents, ordered: false });
    assert.equal((await db.command({ count: 'c' }))['n'], count);
    await assert.rejects(db.command({ update: 'c', updates: [{ q: {}, u: { $inc: { n: 1 } }, multi: true }], maxTimeMS: 5 }), over);
    await assert.rejects(db.command({ delete: 'c', deletes: [...ids.map((_id) => ({ q: { _id }, limit: 1 })), { q: { n: -1 }, limit: 0 }], maxTimeMS: 5 }), over);
    for (const _id of ids) await db.command({ update: 'c', updates: [{ q: { _id }, u: { $set: { n: 9 } }, upsert: true }], maxTimeMS: 2000 });
    assert.equal((await db.command({ count: 'c', query: { n: 9 } }))['n'], ids.length);
  } finally {
    await server.close();
  }
});

test('what clients of other times send is taken: scandata of validate, the read concern of a getMore, background of an index', async () => {
  const server = await openServerForTest();
  try {
    const db = (await server.driver()).db('d');
    const c = db.collection('c');
    await c.insertMany([{ a: 1 }, { a: 2 }, { a: 3 }]);
    assert.equal((await db.command({ validate: 'c', scandata: true, full: false }))['valid'], true);
    const { cursor } = (await db.command({ find: 'c', batchSize: 1, readConcern: { level: 'snapshot' } })) as { cursor: { id: unknown } };
    const more = await db.command({ getMore: cursor.id, collection: 'c', readConcern: { level: 'snapshot' } }, { promoteLongs: false });
    assert.equal((more['cursor'] as { nextBatch: unknown[] }).nextBatch.length, 2);
    await c.createIndexes([{ key: { a: 1 }, background: false }, { key: { b: 1 }, background: true }, { key: { d: 1 } }]);
    assert.deepEqual((await c.listIndexes().toArray()).slice(1).map((index: { background?: boolean }) => index.background), [false, true, undefined]);
  } finally {
    await server.close();
  }
});

test('a retried write is remembered whatever it answered: documents of 16 MiB, keys of 8', async () => {
  const server = await openServerForTest();
  try {
    const client = await server.driver();
    const c = client.db('d').collection('large');
    const big = 'x'.repeat(16 * 1024 * 1024 - 200);
    await c.insertOne({ _id: 1 as never, big });
    for (const n of [1, 2]) assert.equal((await c.findOneAndUpdate({ _id: 1 as never }, { $set: { n } }))?.['big'], big);
    const ids = ['a', 'b'].map((letter) => letter.repeat(8 * 1024 * 1024));
    const operations = ids.map((_id) => ({ name: 'updateOne', namespace: 'd.keys', filter: { _id: _id as never }, update: { $set: { x: 1 } }, upsert: true }) as const);
    assert.equal((await client.bulkWrite(operations)).upsertedCount, 2);
  } finally {
    await server.close();
  }
});
