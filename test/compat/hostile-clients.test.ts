// Clients that send rubbish while another is served: they lose their connection or get an error, the bystander gets its answers, and
// nothing of it is a bug of the server (closing the server for test fails on one).

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { concatBytes } from '../../src/base/bytes.ts';
import { BsonArray, Document, Timestamp, type Value } from '../../src/bson/index.ts';
import { encodeMessage } from '../../src/wire/index.ts';
import { openServerForTest } from '../support/open-server-for-test.ts';
import { commandNames } from '../../src/command/index.ts';

/** A generator of numbers from a seed, so that a failure can be had again. */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state;
  };
}

const ODD_VALUES: readonly Value[] = [
  null,
  -1,
  2147483647,
  -9223372036854775808n,
  '',
  '$',
  'a.b',
  true,
  Document.empty,
  Document.of({ $foo: 1 }),
  Document.of({ a: Document.of({ $gt: BsonArray.empty }) }),
  BsonArray.empty,
  BsonArray.of([1, Document.empty, null]),
  new Timestamp(0, 0),
];

test('a bystander is served while others send damaged messages', async () => {
  const server = await openServerForTest();
  const bystander = await server.wire();
  const random = generator(7);
  const good = concatBytes(encodeMessage({ requestId: 1, responseTo: 0 }, Document.of({ insert: 'c', documents: BsonArray.of([Document.of({ a: 1 })]), $db: 'test' })));
  for (let i = 0; i < 150; i++) {
    const bytes = good.slice();
    for (let change = random() % 4; change >= 0; change--) bytes[random() % bytes.length] = random() & 0xff;
    const hostile = await server.wire();
    hostile.send(bytes.subarray(0, random() % 3 === 0 ? random() % bytes.length : bytes.length));
    assert.equal((await bystander.command('test', { ping: 1 })).get('errmsg'), undefined);
    hostile.close();
  }
  await server.close();
});

test('every command answers odd fields with a reply, and goes on', async () => {
  const server = await openServerForTest();
  const client = await server.wire();
  const random = generator(11);
  const pick = (): Value => ODD_VALUES[random() % ODD_VALUES.length] ?? null;
  const fields = ['filter', 'query', 'sort', 'documents', 'updates', 'deletes', 'pipeline', 'cursor', 'indexes', 'index', 'key', 'limit', 'update', 'lsid', 'hint', 'let'];
  for (const name of commandNames()) {
    for (let i = 0; i < 12; i++) {
      const command: Record<string, Value> = { [name]: i % 3 === 0 ? pick() : 'c' };
      for (let count = random() % 4; count > 0; count--) command[fields[random() % fields.length] ?? 'x'] = pick();
      const reply = await client.command(i % 4 === 0 ? 'admin' : 'test', command);
      assert.notEqual(reply.get('ok'), undefined, name);
    }
  }
  await server.close();
});
