import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { Binary, BsonArray, Document, Double, type Value } from '../../src/bson/index.ts';
import { openServerForTest } from '../support/open-server-for-test.ts';

const NONE = Document.empty;

function words(value: Value | undefined): readonly Value[] {
  return value instanceof BsonArray ? value.items() : [];
}

function failing(commands: readonly string[], data: Record<string, Value>): Document {
  return Document.of({ failCommands: BsonArray.of([...commands]), ...data });
}

describe('a fail point', async () => {
  const server = await openServerForTest({ testCommands: true });
  const client = await server.wire();
  after(() => server.close());

  async function set(name: string, mode: Value, data: Document = NONE): Promise<Document> {
    return client.command('admin', { configureFailPoint: name, mode, data });
  }

  test('fails a command as often as its mode says, and tells how often when it is set again', async () => {
    await set('failCommand', Document.of({ times: 2 }), failing(['ping'], { errorCode: 91 }));
    for (const expected of [91, 91, undefined]) {
      assert.equal((await client.command('admin', { ping: 1 })).get('code'), expected);
    }
    assert.equal((await set('failCommand', 'off')).get('count'), 2);
    assert.equal((await set('failCommand', 'off')).get('count'), 0);
  });

  test('knows a client by the name that its first hello says', async () => {
    await set('failCommand', 'alwaysOn', failing(['hello'], { errorCode: 91, appName: 'shy' }));
    const greet = async (name: string): Promise<Value | undefined> => {
      const one = await server.wire();
      const said = Document.of({ application: Document.of({ name }), driver: Document.of({ name: 'x', version: '1' }), os: Document.of({ type: 'x' }) });
      return (await one.command('admin', { hello: 1, client: said })).get('code');
    };
    assert.equal(await greet('shy'), 91);
    assert.equal(await greet('bold'), undefined);
    await set('failCommand', 'off');
  });

  test('passes over as many commands as its mode says', async () => {
    await set('failCommand', Document.of({ skip: 2 }), failing(['ping'], { errorCode: 50 }));
    for (const expected of [undefined, undefined, 50, 50]) {
      assert.equal((await client.command('admin', { ping: 1 })).get('code'), expected);
    }
    await set('failCommand', 'off');
  });

  test('never fires with a probability of nothing', async () => {
    await set('failCommand', Document.of({ activationProbability: new Double(0) }), failing(['ping'], { errorCode: 50 }));
    assert.equal((await client.command('admin', { ping: 1 })).get('code'), undefined);
    await set('failCommand', 'off');
  });

  test('gives the labels that it was told to, and else those of the place', async () => {
    const retryable = { insert: 'c', documents: BsonArray.of([Document.of({ a: 1 })]), lsid: Document.of({ id: new Binary(new Uint8Array(16), 4) }), txnNumber: 1n };
    await set('failCommand', Document.of({ times: 1 }), failing(['insert'], { errorCode: 91 }));
    assert.deepEqual(words((await client.command('test', retryable)).get('errorLabels')), ['RetryableWriteError']);
    await set('failCommand', Document.of({ times: 1 }), failing(['insert'], { errorCode: 91, errorLabels: BsonArray.of(['X']) }));
    assert.deepEqual(words((await client.command('test', retryable)).get('errorLabels')), ['X']);
    await set('failCommand', Document.of({ times: 1 }), failing(['insert'], { errorCode: 91, errorLabels: BsonArray.empty }));
    assert.equal((await client.command('test', retryable)).get('errorLabels'), undefined);
  });

  test('puts a write concern error on a write that is done', async () => {
    const concern = Document.of({ code: 91, errmsg: 'closing' });
    await set('failCommand', 'alwaysOn', failing(['insert', 'ping'], { writeConcernError: concern }));
    const reply = await client.command('test', { insert: 'done', documents: BsonArray.of([Document.of({ a: 1 })]) });
    assert.equal(reply.get('n'), 1);
    assert.ok(reply.get('writeConcernError') instanceof Document);
    assert.equal((await client.command('admin', { ping: 1 })).get('writeConcernError'), undefined);
    await set('failCommand', 'off');
    assert.equal((await client.command('test', { count: 'done' })).get('n'), 1);
  });

  test('closes the connection without an answer', async () => {
    await set('failCommand', Document.of({ times: 1 }), failing(['ping'], { closeConnection: true }));
    const other = await server.wire();
    await assert.rejects(other.command('admin', { ping: 1 }), /closed the connection/);
    assert.equal((await client.command('admin', { ping: 1 })).get('code'), undefined);
  });

  test('is only for the application and the namespace that it names', async () => {
    await set('failCommand', 'alwaysOn', failing(['find'], { errorCode: 2, appName: 'other' }));
    assert.equal((await client.command('test', { find: 'c' })).get('code'), undefined);
    await set('failCommand', 'alwaysOn', failing(['find'], { errorCode: 2, namespace: 'test.a' }));
    assert.equal((await client.command('test', { find: 'c' })).get('code'), undefined);
    assert.equal((await client.command('test', { find: 'a' })).get('code'), 2);
    await set('failCommand', 'off');
  });

  test('holds a command for as long as it says, and no longer than the client waits', async () => {
    await set('failCommand', Document.of({ times: 1 }), failing(['find'], { blockConnection: true, blockTimeMS: 60_000 }));
    assert.equal((await client.command('test', { find: 'c', maxTimeMS: 1 })).get('code'), 50);
    const refused = await set('failCommand', 'alwaysOn', failing(['find'], { blockConnection: true }));
    assert.equal(refused.get('code'), 72);
  });

  test('makes a retryable write fail before its commit, or keeps its answer from the client', async () => {
    const write = { insert: 'once', documents: BsonArray.of([Document.of({ _id: 1 })]), lsid: Document.of({ id: new Binary(new Uint8Array(16).fill(1), 4) }), txnNumber: 1n };
    const left = async (): Promise<Value | undefined> => (await client.command('test', { count: 'once' })).get('n');
    await set('onPrimaryTransactionalWrite', Document.of({ times: 1 }), Document.of({ failBeforeCommitExceptionCode: 1 }));
    await assert.rejects((await server.wire()).command('test', write), /closed the connection/);
    assert.equal(await left(), 0);
    await set('onPrimaryTransactionalWrite', Document.of({ times: 1 }));
    await assert.rejects((await server.wire()).command('test', write), /closed the connection/);
    assert.equal(await left(), 1);
    assert.equal((await client.command('test', write)).get('n'), 1);
    assert.equal(await left(), 1);
  });

  test('of a name that is not known is refused', async () => {
    assert.equal((await set('failEverything', 'off')).get('code'), 2);
    assert.equal((await set('failCommand', 'now')).get('code'), 2);
  });
});

test('a server that is not in test mode does not know the command', async () => {
  const server = await openServerForTest();
  const client = await server.wire();
  assert.equal((await client.command('admin', { configureFailPoint: 'failCommand', mode: 'off' })).get('code'), 59);
  const listed = (await client.command('admin', { listCommands: 1 })).get('commands');
  assert.ok(listed instanceof Document && !listed.has('configureFailPoint'));
  await server.close();
});
