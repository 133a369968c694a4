import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { test } from 'node:test';
import { MongoClient } from 'mongodb';
import { start } from '../../src/index.ts';
import type { InProcessServer } from '../../src/index.ts';

async function using<T>(server: InProcessServer, work: (client: MongoClient) => Promise<T>): Promise<T> {
  const client = await MongoClient.connect(server.uri, { serverSelectionTimeoutMS: 5000 });
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

/** How many things of these kinds keep the event loop alive; sockets that are closing get a while to do so. */
async function heldOpen(kinds: readonly string[], wanted: number): Promise<number> {
  let held = Infinity;
  for (let turn = 0; turn < 5000 && held > wanted; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    held = process.getActiveResourcesInfo().filter((kind) => kinds.includes(kind)).length;
  }
  return held;
}

test('a server in memory does transactions with no further set-up, and leaves nothing behind', async () => {
  const kinds = ['TCPServerWrap', 'TCPSocketWrap', 'PipeWrap', 'Timeout', 'FSReqPromise'];
  const before = process.getActiveResourcesInfo().filter((kind) => kinds.includes(kind)).length;
  const server = await start({ memory: true });
  await using(server, async (client) => {
    const accounts = client.db('bank').collection<{ _id: string; sum: number }>('accounts');
    await accounts.insertMany([{ _id: 'a', sum: 10 }, { _id: 'b', sum: 0 }]);
    await client.withSession((session) =>
      session.withTransaction(async () => {
        await accounts.updateOne({ _id: 'a' }, { $inc: { sum: -4 } }, { session });
        await accounts.updateOne({ _id: 'b' }, { $inc: { sum: 4 } }, { session });
      }),
    );
    assert.deepEqual(await accounts.find().sort({ _id: 1 }).toArray(), [{ _id: 'a', sum: 6 }, { _id: 'b', sum: 4 }]);
  });
  await server.stop();
  await server.stop();
  assert.ok((await heldOpen(kinds, before)) <= before);
  await assert.rejects(MongoClient.connect(server.uri, { serverSelectionTimeoutMS: 50 }));
});

test('a server answers its first ping within half a second, and twenty live side by side', async () => {
  const startedMs = performance.now();
  const first = await start({ memory: true });
  await using(first, (client) => client.db('admin').command({ ping: 1 }));
  const readyMs = performance.now() - startedMs;
  const servers = [first, ...(await Promise.all(Array.from({ length: 19 }, () => start({ memory: true }))))];
  try {
    assert.equal(new Set(servers.map(({ port }) => port)).size, 20);
    await Promise.all(
      servers.map((server, number) =>
        using(server, async (client) => {
          await client.db('d').collection('c').insertOne({ number });
          assert.deepEqual(await client.db('d').collection('c').find({}, { projection: { _id: 0 } }).toArray(), [{ number }]);
        }),
      ),
    );
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
  // On a quiet core; a busy machine is given four times as long.
  assert.ok(readyMs < 2000, `ready in ${String(Math.round(readyMs))} ms`);
});

test('a server on a path keeps its data over a stop, and nobody else is let in meanwhile', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'frond-start-'));
  const path = join(folder, 'data');
  try {
    const server = await start({ path });
    await using(server, (client) => client.db('d').collection('c').insertOne({ kept: true }));
    await assert.rejects(start({ path }), { name: 'EngineError', code: 'locked' });
    await server.stop();
    assert.deepEqual((await readdir(path)).filter((name) => name.startsWith('LOCK')), []);
    const again = await start({ path });
    await using(again, async (client) => {
      assert.equal(await client.db('d').collection('c').countDocuments({ kept: true }), 1);
    });
    await again.stop();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('a start that fails says why and leaves the data directory free', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const address = taken.address();
  assert.ok(address !== null && typeof address === 'object');
  const folder = await mkdtemp(join(tmpdir(), 'frond-start-'));
  try {
    await assert.rejects(start({ path: folder, port: address.port }), /is in use by another process/);
    const server = await start({ path: folder });
    await server.stop();
  } finally {
    taken.close();
    await rm(folder, { recursive: true, force: true });
  }
});

test('where the data is must be said, and only once', async () => {
  await assert.rejects(start({}), /memory: true/);
  await assert.rejects(start({ memory: true, path: '/somewhere' }), /memory: true/);
});

test('a connection string names the database and the set', async () => {
  const server = await start({ memory: true, replicaSet: 'rs0' });
  try {
    assert.equal(server.getUri('shop'), `mongodb://127.0.0.1:${String(server.port)}/shop?replicaSet=rs0`);
    const hello = await using(server, (client) => client.db('admin').command({ hello: 1 }));
    assert.equal(hello['setName'], 'rs0');
  } finally {
    await server.stop();
  }
});
