// Refusals of fields, with the codes and texts of MongoDB's command parser.

import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { BsonArray, Document, Double, type Value } from '../../src/bson/index.ts';
import { openServerForTest } from '../support/open-server-for-test.ts';

type Command = Readonly<Record<string, Value>>;

const CASES: readonly (readonly [what: string, command: Command, code: number, text: RegExp])[] = [
  ['an unknown command', { foo: 1 }, 59, /^no such command: 'foo'$/],
  ['an unknown field', { find: 'c', foo: 1 }, 40415, /^BSON field 'find\.foo' is an unknown field\.$/],
  ['a document where a number belongs', { find: 'c', limit: Document.empty }, 14, /^BSON field 'find\.limit' is the wrong type 'object', expected types '\[long, int, decimal, double\]'$/],
  ['a number where a document belongs', { find: 'c', filter: 1 }, 14, /^BSON field 'find\.filter' is the wrong type 'int', expected type 'object'$/],
  ['a missing field', { insert: 'c' }, 40414, /^BSON field 'insert\.documents' is missing but a required field$/],
  ['a negative limit', { find: 'c', limit: -1 }, 2, /^BSON field 'limit' value must be >= 0, actual value '-1'$/],
  ['a name that is no text', { find: 1 }, 73, /^collection name has invalid type int$/],
  ['an element that is no document', { insert: 'c', documents: BsonArray.of([1]) }, 14, /^BSON field 'insert\.documents\.0' is the wrong type 'int', expected type 'object'$/],
  ['an empty batch', { insert: 'c', documents: BsonArray.empty }, 16, /^Write batch sizes must be between 1 and 100000\. Got 0 operations\.$/],
  ['an unknown field of a statement', { delete: 'c', deletes: BsonArray.of([Document.of({ q: Document.empty, limit: 1, foo: 1 })]) }, 40415, /^BSON field 'delete\.deletes\.foo' is an unknown field\.$/],
  ['a limit of delete that is neither 0 nor 1', { delete: 'c', deletes: BsonArray.of([Document.of({ q: Document.empty, limit: 2 })]) }, 9, /^The limit field in delete objects must be 0 or 1\. Got 2$/],
  ['an aggregate without a cursor', { aggregate: 'c', pipeline: BsonArray.empty }, 9, /^The 'cursor' option is required, except for aggregate with the explain argument$/],
  ['an unknown stage', { aggregate: 'c', pipeline: BsonArray.of([Document.of({ $foo: 1 })]), cursor: Document.empty }, 40324, /^Unrecognized pipeline stage name: '\$foo'$/],
  ['a fractional maxTimeMS', { ping: 1, maxTimeMS: new Double(1.5) }, 9, /maxTimeMS/],
  ['a maxTimeMS out of range', { ping: 1, maxTimeMS: -1 }, 2, /out of range/],
  ['a write concern where nothing is written', { ping: 1, writeConcern: Document.of({ w: 1 }) }, 72, /does not support writeConcern/],
  ['a read concern that a command has no use for', { ping: 1, readConcern: Document.of({ level: 'majority' }) }, 72, /read concern not supported/],
  ['apiStrict without a version', { ping: 1, apiStrict: true }, 4886600, /apiVersion/],
  ['another API version', { ping: 1, apiVersion: '2' }, 322, /API version must be "1"/],
  ['a command outside the Stable API', { serverStatus: 1, apiVersion: '1', apiStrict: true }, 323, /not in API Version 1/],
  ['a command of admin elsewhere', { listDatabases: 1 }, 13, /may only be run against the admin database/],
  ['a cursor that is not there', { getMore: 5n, collection: 'c' }, 43, /cursor id 5 not found/],
];

describe('a command', async () => {
  const server = await openServerForTest();
  const client = await server.wire();
  after(() => server.close());

  for (const [what, command, code, text] of CASES) {
    test(`with ${what} is refused with ${String(code)}`, async () => {
      const reply = await client.command('test', command);
      assert.equal(reply.get('code'), code);
      const message = reply.get('errmsg');
      assert.match(typeof message === 'string' ? message : '', text);
      assert.ok(reply.get('ok') instanceof Double);
    });
  }

  test('may carry what every command may', async () => {
    const generic = { comment: 'x', maxTimeMS: 1000, apiVersion: '1', $readPreference: Document.of({ mode: 'primary' }) };
    assert.equal((await client.command('admin', { ping: 1, ...generic })).get('errmsg'), undefined);
  });

  test('has replies of the types that clients read', async () => {
    const inserted = await client.command('test', { insert: 'types', documents: BsonArray.of([Document.of({ _id: 1 })]) });
    assert.equal(inserted.get('n'), 1);
    const found = await client.command('test', { find: 'types' });
    const cursor = found.get('cursor');
    assert.ok(cursor instanceof Document);
    assert.equal(cursor.get('id'), 0n);
    const status = await client.command('admin', { serverStatus: 1 });
    const uptime = status.get('uptime');
    assert.ok(uptime instanceof Double);
    assert.equal(uptime.value, Math.floor(uptime.value));
    for (const section of ['opcounters', 'network', 'mem', 'connections', 'globalLock']) assert.ok(status.get(section) instanceof Document, section);
  });

  test('by OP_QUERY is answered as by OP_MSG', async () => {
    const hello = await client.query('admin.$cmd', { isMaster: 1, helloOk: true });
    assert.equal(hello?.body.get('ismaster'), true);
    assert.equal(hello.body.get('helloOk'), true);
    assert.ok(hello.body.get('topologyVersion') instanceof Document);
    const counted = await client.query('test.$cmd', { count: 'types' });
    assert.equal(counted?.body.get('n'), 1);
    // Clients of that age end a connection without it; those of today are told that there is no such command.
    const nonce = (await client.query('admin.$cmd', { getnonce: 1 }))?.body.get('nonce');
    assert.ok(typeof nonce === 'string' && /^[0-9a-f]{16}$/.test(nonce));
    assert.equal((await client.command('admin', { getnonce: 1 })).get('code'), 59);
  });
});

test('a standalone server says nothing of a replica set and tells no times', async () => {
  const server = await openServerForTest({ standalone: true });
  const client = await server.wire();
  const hello = await client.command('admin', { hello: 1 });
  for (const field of ['setName', 'hosts', 'me', '$clusterTime', 'operationTime']) assert.equal(hello.get(field), undefined, field);
  assert.equal(hello.get('isWritablePrimary'), true);
  await server.close();
});
