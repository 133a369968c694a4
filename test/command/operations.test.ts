import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Document, MongoClient } from 'mongodb';
import { openServerForTest, type ServerForTest } from '../support/open-server-for-test.ts';

async function served(work: (client: MongoClient, server: ServerForTest) => Promise<void>): Promise<void> {
  const server = await openServerForTest();
  try {
    await work(await server.driver(), server);
  } finally {
    await server.close();
  }
}

test('writers wait while fsync holds the lock, readers do not, and each lock needs its unlock', async () => {
  await served(async (client) => {
    const admin = client.db('admin');
    const c = client.db('d').collection<{ _id: number }>('c');
    await c.insertOne({ _id: 1 });
    const { info, lockCount } = await admin.command({ fsync: 1, lock: true });
    assert.equal(info, 'now locked against writes, use db.fsyncUnlock() to unlock');
    assert.equal(Number(lockCount), 1);
    await admin.command({ fsync: 1, lock: true });
    let written = false;
    const write = c.insertOne({ _id: 2 }).then(() => {
      written = true;
    });
    await assert.rejects(c.insertOne({ _id: 3 }, { maxTimeMS: 50 }), { code: 50 });
    assert.equal(await c.countDocuments(), 1);
    const waiting = (await admin.command({ currentOp: 1, waitingForLock: true })) as { inprog: Document[] };
    assert.deepEqual(waiting.inprog.map(({ ns, op }) => ({ ns: ns as string, op: op as string })), [{ ns: 'd.c', op: 'insert' }]);
    assert.equal(Number((await admin.command({ fsyncUnlock: 1 }))['lockCount']), 1);
    assert.equal(written, false);
    assert.equal(Number((await admin.command({ fsyncUnlock: 1 }))['lockCount']), 0);
    await write;
    await assert.rejects(admin.command({ fsyncUnlock: 1 }), { code: 20 });
  });
});

test('a blocked user write is refused with 371, and reading goes on', async () => {
  await served(async (client) => {
    const admin = client.db('admin');
    const c = client.db('d').collection<{ _id: number }>('c');
    await c.insertOne({ _id: 1 });
    await admin.command({ setUserWriteBlockMode: 1, global: true });
    await assert.rejects(c.insertOne({ _id: 2 }), { code: 371 });
    await assert.rejects(c.aggregate([{ $out: 'copy' }]).toArray(), { code: 371 });
    assert.equal(await c.countDocuments(), 1);
    await admin.command({ setUserWriteBlockMode: 1, global: false });
    await c.insertOne({ _id: 2 });
  });
});

test('a slow operation is shown by currentOp and ended by killOp', async () => {
  await served(async (client) => {
    const admin = client.db('admin');
    await admin.command({ fsync: 1, lock: true });
    const write = client.db('d').collection('c').insertOne({ a: 1 }, { comment: 'mine' });
    const ended = assert.rejects(write, { code: 11601 });
    let opid: unknown;
    while (opid === undefined) {
      const { inprog } = (await admin.command({ currentOp: 1, 'command.comment': 'mine' })) as { inprog: Document[] };
      opid = inprog[0]?.['opid'];
    }
    await admin.command({ killOp: 1, op: opid });
    await ended;
    await admin.command({ fsyncUnlock: 1 });
    await assert.rejects(admin.command({ killOp: 1 }), { code: 4 });
    await assert.rejects(admin.command({ killOp: 1, op: 1.5 }), { code: 2 });
  });
});

test('the profiler writes down what its level asks for', async () => {
  await served(async (client) => {
    const db = client.db('d');
    const c = db.collection('c');
    await c.insertOne({ a: 1 });
    assert.deepEqual(await db.command({ profile: 2 }).then(({ was, slowms, sampleRate }) => ({ was: was as number, slowms: slowms as number, sampleRate: sampleRate as number })), { was: 0, slowms: 100, sampleRate: 1 });
    await c.find({ a: 1 }).toArray();
    await c.updateOne({ a: 1 }, { $set: { a: 2 } });
    await db.command({ profile: 0 });
    await c.find({ a: 5 }).toArray();
    const lines = await db.collection('system.profile').find({}, { projection: { _id: 0, op: 1, ns: 1, nreturned: 1, nModified: 1, planSummary: 1, docsExamined: 1, 'command.filter': 1, nMatched: 1, cursorExhausted: 1, 'execStats.stage': 1, 'execStats.nReturned': 1 } }).toArray();
    assert.deepEqual(lines, [
      { op: 'query', ns: 'd.c', command: { filter: { a: 1 } }, planSummary: 'COLLSCAN', docsExamined: 1, cursorExhausted: true, nreturned: 1, execStats: { stage: 'COLLSCAN', nReturned: 1 } },
      { op: 'update', ns: 'd.c', command: {}, planSummary: 'COLLSCAN', docsExamined: 1, nMatched: 1, nModified: 1, execStats: { stage: 'COLLSCAN', nReturned: 1 } },
    ]);
    await db.command({ profile: 1, slowms: 0, filter: { op: 'query' } });
    await c.insertOne({ a: 3 });
    await c.find({ a: 3 }).toArray();
    await db.command({ profile: 0, filter: 'unset' });
    assert.equal(await db.collection('system.profile').countDocuments(), 3);
    await assert.rejects(db.command({ profile: 0, sampleRate: 2 }), { code: 2 });
  });
});

test('slow commands stand in the log, without secrets', async () => {
  await served(async (client, server) => {
    await client.db('d').command({ profile: 0, slowms: 0 });
    await client.db('d').collection('c').find({ a: 1 }).toArray();
    await client.db('d').command({ createUser: 'u', pwd: 'secret', roles: [] });
    const lines = server.log.recent().map((line) => JSON.parse(line) as Document);
    const slow = lines.filter(({ id }) => id === 51803).map(({ attr }) => attr as Document);
    assert.ok(slow.some(({ ns, command }) => ns === 'd.c' && (command as Document)['find'] === 'c'));
    assert.ok(!server.log.recent().some((line) => line.includes('secret')));
    const { log } = (await client.db('admin').command({ getLog: 'global' })) as { log: string[] };
    assert.ok(log.some((line) => line.includes('Slow query')));
  });
});

test('an index tells how often it was used, and explain does not count', async () => {
  await served(async (client) => {
    const c = client.db('d').collection('c');
    await c.insertMany([{ a: 1 }, { a: 2 }]);
    await c.createIndex({ a: 1 });
    await c.find({ a: 1 }).toArray();
    await c.updateOne({ a: 2 }, { $set: { b: 1 } });
    await c.find({ a: 1 }).explain();
    const uses = await c.aggregate([{ $indexStats: {} }]).map((row) => [row['name'] as string, Number((row['accesses'] as Document)['ops'])]).toArray();
    assert.deepEqual(uses.sort(), [['_id_', 0], ['a_1', 2]]);
    await client.db('d').command({ collMod: 'c', index: { keyPattern: { a: 1 }, hidden: true } });
    const fresh = await c.aggregate([{ $indexStats: {} }, { $match: { name: 'a_1' } }]).toArray();
    assert.equal(Number((fresh[0]?.['accesses'] as Document)['ops']), 0);
  });
});

test('top adds up time and number by collection', async () => {
  await served(async (client) => {
    const c = client.db('d').collection('c');
    await c.insertMany([{ a: 1 }, { a: 2 }]);
    await c.find().toArray();
    await c.updateOne({ a: 1 }, { $set: { b: 1 } });
    await c.deleteOne({ a: 2 });
    // A name that no field can have is refused, and the reply goes on being one.
    await assert.rejects(client.db('shop').command({ find: 'a\0b' }), { code: 73 });
    const { totals } = (await client.db('admin').command({ top: 1 })) as { totals: Record<string, Record<string, { count: number; time: number }>> };
    const row = totals['d.c']!;
    assert.deepEqual(['insert', 'queries', 'update', 'remove', 'readLock', 'writeLock', 'total'].map((kind) => row[kind]!.count), [1, 1, 1, 1, 1, 3, 4]);
    assert.ok(row['total']!.time >= row['insert']!.time);
  });
});

test('default concerns are set, told, heeded and kept over a restart', async () => {
  const server = await openServerForTest();
  const client = await server.driver();
  const admin = client.db('admin');
  await assert.rejects(admin.command({ setDefaultRWConcern: 1 }), { code: 2 });
  await assert.rejects(admin.command({ setDefaultRWConcern: 1, defaultReadConcern: { level: 'snapshot' } }), { code: 2 });
  await admin.command({ setDefaultRWConcern: 1, defaultWriteConcern: { w: 3 }, defaultReadConcern: { level: 'majority' } });
  await assert.rejects(client.db('d').command({ insert: 'c', documents: [{ a: 1 }] }), { code: 100 });
  await assert.rejects(admin.command({ setDefaultRWConcern: 1, defaultWriteConcern: {} }), { code: 20 });
  await server.close();
  const again = await openServerForTest({ env: server.env });
  const told = await (await again.driver()).db('admin').command({ getDefaultRWConcern: 1 });
  assert.deepEqual([told['defaultReadConcern'], told['defaultWriteConcern'], told['defaultWriteConcernSource']], [{ level: 'majority' }, { w: 3, wtimeout: 0 }, 'global']);
  await again.close();
});

test('dbHash is the same for the same documents and another for others', async () => {
  await served(async (client) => {
    const hash = async (db: string): Promise<unknown> => ((await client.db(db).command({ dbHash: 1 })) as { collections: Document }).collections['c'];
    await client.db('a').collection('c').insertMany([{ _id: 1 as never, x: 1 }, { _id: 2 as never, x: 2 }]);
    await client.db('b').collection('c').insertMany([{ _id: 2 as never, x: 2 }, { _id: 1 as never, x: 1 }]);
    assert.equal(await hash('a'), await hash('b'));
    await client.db('b').collection('c').updateOne({ x: 2 }, { $set: { x: 3 } });
    assert.notEqual(await hash('a'), await hash('b'));
  });
});

test('compact does nothing where less than the target could be freed, and names a collection that is not there', async () => {
  await served(async (client) => {
    const db = client.db('d');
    await db.collection('c').insertOne({ a: 1 });
    assert.deepEqual(await db.command({ compact: 'c', dryRun: true }).then(({ estimatedBytesFreed }) => estimatedBytesFreed as number), 0);
    assert.deepEqual(await db.command({ compact: 'c' }).then(({ bytesFreed }) => bytesFreed as number), 0);
    await assert.rejects(db.command({ compact: 'none' }), { code: 26 });
  });
});

test('what waits for its client is listed: an open transaction, a cursor between two batches, a connection', async () => {
  await served(async (client) => {
    const admin = client.db('admin');
    const c = client.db('d').collection<{ _id: number; a?: number }>('c');
    await c.insertMany([{ _id: 1 }, { _id: 2 }, { _id: 3 }]);
    const session = client.startSession();
    session.startTransaction();
    await c.updateOne({ _id: 1 }, { $set: { a: 1 } }, { session });
    const cursor = c.find({}, { batchSize: 2 });
    await cursor.next();
    const rows = async (options: Document): Promise<Document[]> => admin.aggregate([{ $currentOp: options }]).toArray();
    const [open] = (await rows({})).filter(({ type }) => type === 'idleSession');
    assert.equal((open?.['transaction'] as { parameters: Document }).parameters['autocommit'], false);
    assert.equal(String((open?.['lsid'] as Document)['id']), String(session.id?.id.toUUID()));
    assert.ok(((await admin.command({ currentOp: 1 })) as { inprog: Document[] }).inprog.some(({ type }) => type === 'idleSession'));
    const [idle] = (await rows({ idleCursors: true, idleSessions: false })).filter(({ type }) => type !== 'op');
    assert.equal(idle?.['ns'], 'd.c');
    const { originatingCommand } = idle['cursor'] as { originatingCommand: Document };
    assert.equal(originatingCommand['find'], 'c');
    assert.ok((await rows({ idleConnections: true })).some(({ type, active }) => type === 'op' && active === false));
    assert.equal((await rows({})).filter(({ active }) => active === false).length, 1);
    await cursor.close();
    await session.abortTransaction();
    assert.deepEqual((await rows({ idleCursors: true })).filter(({ type }) => type !== 'op'), []);
  });
});
