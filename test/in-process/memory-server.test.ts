import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MongoClient, WriteConcern } from 'mongodb';
import { MongoMemoryReplSet, MongoMemoryServer } from '../../src/index.ts';

test('a suite written for mongodb-memory-server gets its server, its string and its end', async () => {
  const server = await MongoMemoryServer.create({ binary: { version: '7.0.14' }, instance: { storageEngine: 'wiredTiger', args: ['--quiet'] } });
  assert.equal(server.state, 'running');
  const info = server.instanceInfo;
  assert.ok(info !== undefined);
  assert.equal(server.getUri(), `mongodb://127.0.0.1:${String(info.port)}/`);
  assert.equal(server.getUri('jest'), `mongodb://127.0.0.1:${String(info.port)}/jest`);
  assert.equal(server.getUri('jest', 'localhost'), `mongodb://localhost:${String(info.port)}/jest`);
  const client = await MongoClient.connect(server.getUri('jest'));
  await client.db().collection('c').insertOne({ a: 1 });
  assert.equal(await client.db().collection('c').countDocuments(), 1);
  await client.close();
  assert.equal(await server.stop({ doCleanup: true, force: true }), true);
  assert.equal(server.state, 'stopped');
  assert.equal(server.instanceInfo, undefined);
  assert.throws(() => server.getUri(), /Incorrect State for operation: "stopped"/);
});

test('a server is made first and started later, and comes back empty at its port', async () => {
  const server = new MongoMemoryServer({ instance: { dbName: 'named' } });
  const states: string[] = [];
  server.on('stateChange', (state) => states.push(state));
  assert.equal(server.state, 'new');
  assert.throws(() => server.getUri(), /Incorrect State for operation: "new"/);
  const { port } = await server.ensureInstance();
  await assert.rejects(server.start(), /Incorrect State for operation: "running", allowed States: "\[new, stopped\]"/);
  assert.equal(server.getUri(), `mongodb://127.0.0.1:${String(port)}/named`);
  const client = await MongoClient.connect(server.getUri());
  await client.db().collection('c').insertOne({ a: 1 });
  await client.close();
  await server.stop();
  await server.start(true);
  assert.equal(server.instanceInfo?.port, port);
  const again = await MongoClient.connect(server.getUri());
  assert.equal(await again.db().collection('c').countDocuments(), 0);
  await again.close();
  await server.stop();
  assert.deepEqual(states, ['starting', 'running', 'stopped', 'starting', 'running', 'stopped']);
});

test('a replica set has a primary under the name that was asked for, and takes majority writes', async () => {
  const set = await MongoMemoryReplSet.create({ replSet: { count: 3, name: 'rs1' } });
  await set.waitUntilRunning();
  assert.equal(set.state, 'running');
  assert.equal(set.servers.length, 1);
  assert.match(set.getUri('shop'), /^mongodb:\/\/127\.0\.0\.1:\d+\/shop\?replicaSet=rs1$/);
  const client = await MongoClient.connect(set.getUri('shop'));
  const session = client.startSession();
  session.startTransaction({ writeConcern: new WriteConcern('majority') });
  await client.db().collection('c').insertOne({ a: 1 }, { session });
  await session.commitTransaction();
  await session.endSession();
  assert.equal(await client.db().collection('c').countDocuments(), 1);
  await client.close();
  await set.stop();
  assert.equal(set.state, 'stopped');
  assert.throws(() => set.getUri(), /Incorrect State/);
});

test('a set that starts can be waited for', async () => {
  const set = new MongoMemoryReplSet();
  await assert.rejects(set.waitUntilRunning(), /Incorrect State/);
  const starting = set.start();
  await set.waitUntilRunning();
  assert.match(set.getUri(), /\?replicaSet=testset$/);
  await starting;
  await set.stop();
});

test('a server with users makes them and lets nobody else in', async () => {
  const auth = { enable: true, extraUsers: [{ createUser: 'clerk', pwd: 'pw', roles: ['read'], database: 'shop' }] };
  const server = await MongoMemoryServer.create({ auth });
  try {
    const root = await MongoClient.connect(server.getUri(), { auth: { username: 'mongodb-memory-server-root', password: 'rootuser' } });
    await root.db('shop').collection('c').insertOne({ a: 1 });
    await root.close();
    const clerk = await MongoClient.connect(server.getUri(), { auth: { username: 'clerk', password: 'pw' }, authSource: 'shop' });
    assert.equal(await clerk.db('shop').collection('c').countDocuments(), 1);
    await assert.rejects(clerk.db('shop').collection('c').insertOne({ a: 2 }), { code: 13 });
    await clerk.close();
    const nobody = await MongoClient.connect(server.getUri());
    await assert.rejects(nobody.db('shop').collection('c').findOne(), { code: 13 });
    await nobody.close();
  } finally {
    await server.stop();
  }
});
