// Updates without a read, as TokuMX had them (fractal-tree brief, "Fast updates"): what they come to, when they are done so, and what is counted.

import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { BsonArray, Document, Double, type Value, describeValue } from '../../src/bson/index.ts';
import { openServerForTest } from '../support/open-server-for-test.ts';

const doc = (fields: Record<string, Value>): Document => Document.of(fields);
const list = (items: readonly Value[]): BsonArray => BsonArray.of([...items]);

describe('updates without a read', async () => {
  const server = await openServerForTest({ oplogBytes: 0 });
  const client = await server.wire();
  after(() => server.close());

  async function update(name: string, q: Document, u: Document, { statement = {}, ...more }: { readonly statement?: Record<string, Value>; readonly fastUpdate?: boolean } = { fastUpdate: true }): Promise<[Value | undefined, Value | undefined]> {
    const reply = await client.command('test', { update: name, updates: list([doc({ q, u, ...statement })]), ...more });
    assert.equal(reply.get('writeErrors'), undefined, describeValue(reply.get('writeErrors') ?? null));
    return [reply.get('n'), reply.get('nModified')];
  }

  async function find(name: string, id: Value): Promise<string> {
    const reply = await client.command('test', { find: name, filter: doc({ _id: id }) });
    const cursor = reply.get('cursor');
    const batch = cursor instanceof Document ? cursor.get('firstBatch') : undefined;
    return batch instanceof BsonArray ? batch.items().map((item) => describeValue(item)).join() : '';
  }

  async function counts(): Promise<Record<string, number>> {
    const metrics = (await client.command('admin', { serverStatus: 1 })).get('metrics');
    const found = metrics instanceof Document ? metrics.get('fastUpdates') : undefined;
    assert.ok(found instanceof Document);
    return Object.fromEntries(found.fields.map(([name, value]) => [name, Number(value)]));
  }

  async function insert(name: string, ...documents: Document[]): Promise<void> {
    assert.equal((await client.command('test', { insert: name, documents: list(documents) })).get('n'), documents.length);
  }

  test('operators do to the document what they do in any update', async () => {
    const operators = [
      doc({ $inc: doc({ n: 5, 'a.b': 1 }) }), doc({ $set: doc({ s: 'text', 'a.c': list([1, 2]) }) }), doc({ $unset: doc({ gone: '' }) }), doc({ $mul: doc({ n: 3 }) }),
      doc({ $min: doc({ n: 4 }), $max: doc({ m: 9 }) }), doc({ $push: doc({ 'a.c': 3 }) }), doc({ $addToSet: doc({ 'a.c': 2 }) }), doc({ $pop: doc({ 'a.c': -1 }) }), doc({ $bit: doc({ flags: doc({ or: 6 }) }) }),
    ];
    for (const name of ['fast', 'usual']) await insert(name, doc({ _id: 1, n: 1, gone: true }), doc({ _id: 'two', a: doc({ b: new Double(2.5) }), m: 1 }));
    const before = await counts();
    for (const id of [1, 'two']) {
      for (const u of operators) {
        assert.deepEqual(await update('fast', doc({ _id: id }), u), [1, 1]);
        await update('usual', doc({ _id: id }), u, {});
        assert.equal(await find('fast', id), await find('usual', id), describeValue(u));
      }
    }
    assert.equal((await counts())['performed'], (before['performed'] ?? 0) + 2 * operators.length);
    assert.equal((await client.command('test', { validate: 'fast', full: true })).get('valid'), true);
  });

  test('what the document refuses leaves it as it is and is counted; what is not there stays so', async () => {
    await insert('refused', doc({ _id: 1, s: 'text' }));
    const before = await counts();
    assert.deepEqual(await update('refused', doc({ _id: 1 }), doc({ $inc: doc({ s: 1 }) })), [1, 1]);
    assert.deepEqual(await update('refused', doc({ _id: 2 }), doc({ $inc: doc({ s: 1 }) })), [1, 1]);
    assert.equal(await find('refused', 1), describeValue(doc({ _id: 1, s: 'text' })));
    assert.equal(await find('refused', 2), '');
    assert.equal((await client.command('test', { count: 'refused' })).get('n'), 1);
    assert.ok(Number((await counts())['errors']) > Number(before['errors']));
  });

  test('a statement that needs the document reads it: an indexed field, an upsert, a further condition, another operator', async () => {
    await client.command('test', { createIndexes: 'read', indexes: list([doc({ key: doc({ 'i.k': 1 }), name: 'i' })]) });
    await insert('read', doc({ _id: 1, i: doc({ k: 1 }), n: 1 }));
    const before = await counts();
    assert.deepEqual(await update('read', doc({ _id: 2 }), doc({ $set: doc({ 'i.k': 2 }) })), [0, 0]);
    assert.deepEqual(await update('read', doc({ _id: 2 }), doc({ $set: doc({ i: 2 }) })), [0, 0]);
    assert.deepEqual(await update('read', doc({ _id: 2 }), doc({ $set: doc({ 'i.0.k': 2 }) })), [0, 0]);
    assert.deepEqual(await update('read', doc({ _id: 1, n: 7 }), doc({ $set: doc({ n: 2 }) })), [0, 0]);
    assert.deepEqual(await update('read', doc({ _id: 2 }), doc({ $currentDate: doc({ n: true }) })), [0, 0]);
    assert.deepEqual(await update('read', doc({ _id: 2 }), doc({ $set: doc({ n: 1 }) }), { fastUpdate: true, statement: { multi: true } }), [0, 0]);
    assert.deepEqual(await update('read', doc({ _id: 2 }), doc({ $set: doc({ n: 1 }) }), {}), [0, 0]);
    assert.equal((await counts())['performed'], before['performed']);
    assert.deepEqual(await update('read', doc({ _id: 3 }), doc({ $set: doc({ n: 1 }) }), { fastUpdate: true, statement: { upsert: true } }), [1, 0]);
    assert.deepEqual(await update('read', doc({ _id: 1 }), doc({ $set: doc({ n: 2 }) })), [1, 1]);
    assert.equal((await counts())['performed'], Number(before['performed']) + 1);
    assert.equal((await client.command('test', { validate: 'read', full: true })).get('valid'), true);
  });

  test('the parameter asks for them on the whole server, and a command may say otherwise', async () => {
    await client.command('admin', { setParameter: 1, fastUpdates: true });
    try {
      assert.deepEqual(await update('parameter', doc({ _id: 1 }), doc({ $set: doc({ n: 2 }) }), {}), [0, 0], 'there is no collection');
      await insert('parameter', doc({ _id: 1 }));
      assert.deepEqual(await update('parameter', doc({ _id: 2 }), doc({ $set: doc({ n: 2 }) }), {}), [1, 1]);
      assert.deepEqual(await update('parameter', doc({ _id: 2 }), doc({ $set: doc({ n: 2 }) }), { fastUpdate: false }), [0, 0]);
    } finally {
      await client.command('admin', { setParameter: 1, fastUpdates: false });
    }
  });

  test('a validator looks at each document, so it is read', async () => {
    await client.command('test', { create: 'valid', validator: doc({ n: doc({ $lt: 10 }) }) });
    await insert('valid', doc({ _id: 1, n: 1 }));
    const reply = await client.command('test', { update: 'valid', updates: list([doc({ q: doc({ _id: 1 }), u: doc({ $set: doc({ n: 10 }) }) })]), fastUpdate: true });
    assert.notEqual(reply.get('writeErrors'), undefined);
  });
});

test('with an oplog, which tells of each document, updates read as ever', async () => {
  const server = await openServerForTest();
  const client = await server.wire();
  await client.command('test', { insert: 'logged', documents: list([doc({ _id: 1, n: 1 })]) });
  const reply = await client.command('test', { update: 'logged', updates: list([doc({ q: doc({ _id: 2 }), u: doc({ $inc: doc({ n: 1 }) }) })]), fastUpdate: true });
  assert.equal(reply.get('n'), 0);
  await server.close();
});
