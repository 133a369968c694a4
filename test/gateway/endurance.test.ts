// Slow, paused and vanishing clients (gateway.md, section 3 "Reading"; P2, P11, P13): nothing is held for them that costs others, and all of it is
// given back when they go.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Gateway } from '../../src/gateway/index.ts';
import { EngineError } from '../../src/base/errors.ts';
import type { ReadRoom } from '../../src/gridfs/index.ts';
import { patternBytes } from '../support/file-store.ts';
import { jsonOf, requestHead, withGateway } from './gateway-for-test.ts';
import type { GatewayForTest } from './gateway-for-test.ts';

const N = 24_000_000;
const bytes = patternBytes(N);

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

/** A client that has asked for the file, has read a little, and reads no more. */
async function pausedClient(opened: GatewayForTest): Promise<ReturnType<GatewayForTest['client']>> {
  const client = opened.client();
  client.send(requestHead('GET', '/files/movie.mp4'));
  await client.has(1000);
  client.socket.pause();
  return client;
}

/** Until nothing moves any more: everything that fits into the sockets is in them. */
async function settled(opened: GatewayForTest): Promise<void> {
  for (let still = 0, last = -1; still < 200; ) {
    await new Promise((resolve) => setImmediate(resolve));
    const { dataBytesRead, commits } = opened.opened.engine.statistics();
    const now = dataBytesRead + commits;
    still = now === last ? still + 1 : 0;
    last = now;
  }
}

describe('a client that stops reading', () => {
  test('holds no snapshot, transaction or cursor, and gets every byte when it reads on (P2, P13)', () => withGateway(async (opened) => {
    await opened.opened.upload('movie.mp4', bytes);
    const client = await pausedClient(opened);
    await settled(opened);
    const { openTransactions, openSnapshots } = opened.opened.engine.statistics();
    assert.deepEqual([openTransactions, openSnapshots], [0, 0]);
    assert.equal(opened.gateway.counters.openStreams, 1);
    client.socket.resume();
    const answer = await client.answer();
    assert.equal(answer.whole, true);
    assert.deepEqual(answer.body, bytes);
    client.destroy();
  }));

  test('is read for no further than its sockets and one window take (back-pressure)', () => withGateway(async (opened) => {
    const file = await opened.opened.upload('movie.mp4', bytes);
    const { bucket } = opened.opened;
    let given = 0;
    const open = bucket.open.bind(bucket);
    const store = { ...opened.opened.store, bucket: () => Object.assign(Object.create(bucket) as typeof bucket, {
      open: (asked: typeof file) => {
        const reader = open(asked);
        return { fills: reader.fills, read: async (first: number, last: number, room: ReadRoom) => {
          const slices = await reader.read(first, last, room);
          for (const { length } of slices) given += length;
          return slices;
        } };
      },
      byName: () => Promise.resolve(file),
    }), ping: () => Promise.resolve(), close: () => Promise.resolve() };
    const { clock, random } = opened.opened.env;
    const gateway = await Gateway.listen({ host: '127.0.0.1', port: 0, store, db: 'test', clock, random, page: new Map(), limits: { closeGraceMs: 0 }, onEvent: () => undefined });
    const client = opened.client();
    client.destroy();
    const paused = new (client.constructor as new (port: number) => typeof client)(gateway.address.port);
    paused.send(requestHead('GET', '/files/movie.mp4'));
    await paused.has(1000);
    paused.socket.pause();
    await settled(opened);
    assert.ok(given < N / 2, `${given} bytes were read for a client that takes none`);
    paused.destroy();
    await until(() => gateway.counters.openStreams === 0);
    await gateway.close();
  }));

  test('is cut when nothing moves for the stall time, and only then', () => withGateway(async (opened) => {
    await opened.opened.upload('movie.mp4', bytes);
    const client = await pausedClient(opened);
    const keepsAlive = setInterval(() => undefined, 1000);
    await until(() => opened.gateway.counters.openStreams === 0);
    clearInterval(keepsAlive);
    client.socket.resume();
    assert.equal((await client.answer()).whole, false);
    assert.equal(opened.gateway.counters.aborts, 1);
  }, { stallMs: 300 }));
});

describe('many clients that read slowly', () => {
  const pieceBytes = 256 * 1024;

  test('cost one piece each when they pause, however large the chunks are, and get every byte when they read on', () => withGateway(async (opened) => {
    await opened.opened.upload('movie.mp4', bytes, { chunkSize: 8 * 1024 * 1024 });
    const clients = await Promise.all(Array.from({ length: 10 }, () => pausedClient(opened)));
    await until(() => opened.gateway.counters.heldBytes <= clients.length * pieceBytes);
    assert.deepEqual(opened.opened.engine.statistics().openSnapshots, 0);
    for (const client of clients) {
      client.socket.resume();
      const { whole, body } = await client.answer();
      assert.ok(whole && Buffer.from(body).equals(bytes));
      client.destroy();
    }
    await until(() => opened.gateway.counters.heldBytes === 0);
  }, { letGoMs: 20 }));

  test('hold together no more than they may, and one piece each, while others are answered', () => withGateway(async (opened) => {
    await opened.opened.upload('movie.mp4', bytes, { chunkSize: 4 * 1024 * 1024 });
    let most = 0;
    const clients = [];
    for (let i = 0; i < 40; i++) {
      clients.push(await pausedClient(opened));
      most = Math.max(most, opened.gateway.counters.heldBytes);
    }
    assert.ok(most <= 8 * 1024 * 1024 + 4 * 1024 * 1024 + 40 * pieceBytes, `${most} bytes are held`);
    assert.equal((await opened.ask('GET', '/files/movie.mp4', { Range: 'bytes=5000000-5000009' })).status, 206);
    for (const client of clients) client.socket.resetAndDestroy();
    await until(() => opened.gateway.counters.openStreams === 0 && opened.gateway.counters.heldBytes === 0);
  }, { letGoMs: 60_000, heldBytesMax: 8 * 1024 * 1024 }));
});

describe('a client that goes away', () => {
  test('is forgotten at once: streams, transactions and snapshots are as before (P11)', () => withGateway(async (opened) => {
    await opened.opened.upload('movie.mp4', bytes);
    for (let round = 0; round < 4; round++) {
      const clients = await Promise.all(Array.from({ length: 25 }, () => pausedClient(opened)));
      assert.equal(opened.gateway.counters.openStreams, 25);
      for (const client of clients) client.socket.resetAndDestroy();
      await until(() => opened.gateway.counters.openStreams === 0);
    }
    const { openTransactions, openSnapshots } = opened.opened.engine.statistics();
    assert.deepEqual([openTransactions, openSnapshots, opened.gateway.counters.aborts], [0, 0, 100]);
    assert.deepEqual(opened.events, []);
    assert.equal((await opened.ask('GET', '/files/movie.mp4', { Range: 'bytes=-5' })).body.length, 5);
  }));

  test('with answers still waiting behind one another on its connection leaves none of them', () => withGateway(async (opened) => {
    await opened.opened.upload('movie.mp4', bytes);
    const client = opened.client();
    client.send(requestHead('GET', '/files/movie.mp4').repeat(20));
    await client.has(1000);
    client.socket.pause();
    await until(() => opened.gateway.counters.openStreams === 20);
    client.socket.resetAndDestroy();
    await until(() => opened.gateway.counters.openStreams === 0);
  }));
});

test('a file that is deleted while it is sent is a cut connection, and 404 from then on', () => withGateway(async (opened) => {
  const { id } = await opened.opened.upload('movie.mp4', bytes);
  const client = await pausedClient(opened);
  await settled(opened);
  assert.equal((await opened.ask('DELETE', `/b/fs/files/${id.text}`)).status, 204);
  client.socket.resume();
  const answer = await client.answer();
  assert.deepEqual([answer.status, answer.whole], [200, false]);
  assert.deepEqual(answer.body, bytes.subarray(0, answer.body.length));
  assert.equal((await opened.ask('GET', '/files/movie.mp4')).status, 404);
}));

test('bytes that are no request are 400, and a head that is too large is 431', () => withGateway(async (opened) => {
  for (const [head, status] of [['nonsense\r\n\r\n', 400], [requestHead('GET', '/', { 'X-Long': 'x'.repeat(17_000) }), 431], ['GET / HTTP/1.1\r\n\r\n', 400]] as const) {
    const client = opened.client();
    client.send(head);
    assert.equal((await client.answer()).status, status);
    client.destroy();
  }
}));

test('storage that does not answer any more is 503 with Retry-After, and the page files live on', () => withGateway(async (opened) => {
  await opened.opened.upload('movie.mp4', bytes.subarray(0, 1000));
  await opened.opened.store.close();
  await opened.opened.engine.close();
  for (const path of ['/files/movie.mp4', '/healthz', '/b/fs/files']) {
    const answer = await opened.ask('GET', path);
    assert.deepEqual([answer.status, jsonOf(answer)['code'], answer.fields['retry-after']], [503, 'database_unavailable', '5'], path);
    assert.equal(/data|stack|closed/.test(String(jsonOf(answer)['detail']).replace('database', '')), false);
  }
  assert.equal((await opened.ask('GET', '/assets/app.css')).status, 200);
  assert.deepEqual(opened.events.map(({ message, cause }) => [message.slice(0, 25), cause]), [['requests are answered 503', undefined]]);
}));

test('a port in use is told by its address; without accounts only this machine is listened at', () => withGateway(async (opened) => {
  const { clock, random } = opened.opened.env;
  const options = { store: opened.opened.store, db: 'test', clock, random, page: new Map(), onEvent: () => undefined };
  await assert.rejects(Gateway.listen({ ...options, host: '127.0.0.1', port: opened.port }), (error: unknown) => error instanceof EngineError && error.code === 'locked' && error.message.includes(String(opened.port)));
  await assert.rejects(Gateway.listen({ ...options, host: '0.0.0.0', port: 0 }));
}));
