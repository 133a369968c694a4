import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { Document, Double } from '../../src/bson/index.ts';
import { openHostNetwork, openMemoryEnv } from '../../src/env/index.ts';
import { Listener, type Dispatcher } from '../../src/server/index.ts';
import { ServerCounters } from '../../src/session/index.ts';
import { encodeMessage } from '../../src/wire/index.ts';
import { WireClient } from '../support/wire-client.ts';

const env = await openMemoryEnv();

/** Answers with the name of the command and how many requests are being served at once. */
class EchoDispatcher implements Dispatcher {
  running = 0;
  most = 0;
  readonly served: string[] = [];
  gone = 0;
  wait: Promise<void> = Promise.resolve();

  async dispatch(_connection: unknown, request: { body: Document }): Promise<{ document: Document }> {
    this.running += 1;
    this.most = Math.max(this.most, this.running);
    await this.wait;
    this.running -= 1;
    this.served.push(request.body.first?.[0] ?? '');
    return { document: Document.of({ name: request.body.first?.[0] ?? '', ok: new Double(1) }) };
  }

  disconnected(): void {
    this.gone += 1;
  }
}

async function listen(connectionsMax = 100): Promise<{ listener: Listener; dispatcher: EchoDispatcher; bugs: unknown[]; counters: ServerCounters }> {
  const dispatcher = new EchoDispatcher();
  const bugs: unknown[] = [];
  const counters = new ServerCounters(connectionsMax);
  const listener = await Listener.listen({
    address: { host: '127.0.0.1', port: 0 },
    network: openHostNetwork(),
    codecs: env.codecs,
    clock: env.clock,
    tasks: env.tasks,
    dispatcher,
    counters,
    onBug: (error) => bugs.push(error),
  });
  return { listener, dispatcher, bugs, counters };
}

describe('a listener', async () => {
  const { listener, dispatcher, bugs, counters } = await listen();
  const { port } = listener.address;
  after(() => listener.close());

  test('answers OP_MSG by OP_MSG and OP_QUERY by OP_REPLY', async () => {
    const client = await WireClient.open(port);
    assert.equal((await client.command('admin', { ping: 1 })).get('name'), 'ping');
    const reply = await client.query('admin.$cmd', { isMaster: 1 });
    assert.equal(reply?.kind, 'reply');
    assert.equal(reply.body.get('name'), 'isMaster');
    client.close();
  });

  test('refuses OP_QUERY on a collection with 352 and goes on', async () => {
    const client = await WireClient.open(port);
    const reply = await client.query('test.things', { a: 1 });
    assert.equal(reply?.body.get('code'), 352);
    assert.equal((await client.command('admin', { ping: 1 })).get('name'), 'ping');
    client.close();
  });

  test('sends no reply to a request with moreToCome, and serves it before the next', async () => {
    const client = await WireClient.open(port);
    dispatcher.served.length = 0;
    client.send(...encodeMessage({ requestId: 1, responseTo: 0 }, Document.of({ first: 1 }), { moreToCome: true }));
    assert.equal((await client.command('admin', { second: 1 })).get('name'), 'second');
    assert.deepEqual(dispatcher.served, ['first', 'second']);
    client.close();
  });

  test('serves one request of a connection at a time, in order', async () => {
    const client = await WireClient.open(port);
    dispatcher.served.length = 0;
    dispatcher.most = 0;
    const names = Array.from({ length: 20 }, (_, i) => `c${String(i)}`);
    const replies = await Promise.all(names.map((name) => client.command('admin', { [name]: 1 })));
    assert.deepEqual(replies.map((reply) => reply.get('name')), names);
    assert.deepEqual(dispatcher.served, names);
    assert.equal(dispatcher.most, 1);
    client.close();
  });

  test('closes a connection that sends what is no message, while a bystander is served', async () => {
    const bystander = await WireClient.open(port);
    const hostile = await WireClient.open(port);
    hostile.send(Uint8Array.from([255, 255, 255, 255, 1, 2, 3, 4]));
    assert.equal(await hostile.receive(), undefined);
    const unsupported = await WireClient.open(port);
    unsupported.send(Uint8Array.from([16, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 210, 4, 0, 0]));
    assert.equal(await unsupported.receive(), undefined);
    assert.equal((await bystander.command('admin', { ping: 1 })).get('name'), 'ping');
    assert.deepEqual(bugs, []);
    bystander.close();
  });

  test('answers a body that is not valid BSON with 22 and goes on', async () => {
    const client = await WireClient.open(port);
    const content = [0, 0, 0, 0, 0, 9, 0, 0, 0, 0x77, 0x61, 0, 0, 0];
    client.send(Uint8Array.from([16 + content.length, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0xdd, 7, 0, 0, ...content]));
    const reply = await client.receive();
    assert.equal(reply?.body.get('code'), 22);
    assert.equal(reply.responseTo, 5);
    assert.equal((await client.command('admin', { ping: 1 })).get('name'), 'ping');
    client.close();
  });

  test('counts requests, bytes and connections', () => {
    assert.ok(counters.requests >= 25);
    assert.ok(counters.bytesIn > 0 && counters.bytesOut > 0);
    assert.ok(counters.connectionsCreated >= 7);
  });
});

test('a listener takes no more connections than it is allowed', async () => {
  const { listener, counters } = await listen(1);
  const first = await WireClient.open(listener.address.port);
  assert.equal((await first.command('admin', { ping: 1 })).get('name'), 'ping');
  const second = await WireClient.open(listener.address.port);
  assert.equal(await second.receive(), undefined);
  assert.equal(counters.connectionsRejected, 1);
  await listener.close();
  first.close();
});

test('closing a listener lets the request that is being served finish', async () => {
  const { listener, dispatcher } = await listen();
  const client = await WireClient.open(listener.address.port);
  let release = (): void => undefined;
  dispatcher.wait = new Promise((resolve) => {
    release = resolve;
  });
  const reply = client.command('admin', { slow: 1 });
  while (dispatcher.running === 0) await env.tasks.pause();
  const closed = listener.close();
  release();
  assert.equal((await reply).get('name'), 'slow');
  await closed;
  assert.equal(await client.receive(), undefined);
});

test('a port in use is said by name', async () => {
  const { listener } = await listen();
  const { port } = listener.address;
  const network = openHostNetwork();
  await assert.rejects(network.listen({ host: '127.0.0.1', port }, () => undefined), new RegExp(`127.0.0.1:${String(port)} is in use`));
  await listener.close();
});
