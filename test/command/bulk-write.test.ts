import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { Binary, BsonArray, Document, type Value } from '../../src/bson/index.ts';
import { openServerForTest } from '../support/open-server-for-test.ts';

const doc = (fields: Record<string, Value>): Document => Document.of(fields);
const list = (...fields: Record<string, Value>[]): BsonArray => BsonArray.of(fields.map(doc));

describe('bulkWrite', async () => {
  const server = await openServerForTest();
  const client = await server.wire();
  after(() => server.close());

  async function bulk(ops: BsonArray, more: Record<string, Value> = {}): Promise<Document> {
    const nsInfo = list({ ns: 'bulk.a' }, { ns: 'bulk.b' });
    return client.command('admin', { bulkWrite: 1, ops, nsInfo, ...more });
  }

  async function left(collection: string): Promise<Value | undefined> {
    return (await client.command('bulk', { count: collection })).get('n');
  }

  function results(reply: Document): Document[] {
    const cursor = reply.get('cursor');
    const batch = cursor instanceof Document ? cursor.get('firstBatch') : undefined;
    return batch instanceof BsonArray ? batch.items().filter((item): item is Document => item instanceof Document) : [];
  }

  function counts(reply: Document): Record<string, Value | undefined> {
    return Object.fromEntries(['nErrors', 'nInserted', 'nMatched', 'nModified', 'nUpserted', 'nDeleted'].map((name) => [name, reply.get(name)]));
  }

  test('does its operations in order on all its namespaces, and tells what became of each', async () => {
    const reply = await bulk(
      list(
        { insert: 0, document: doc({ _id: 1, x: 1 }) },
        { insert: 1, document: doc({ _id: 1 }) },
        { update: 0, filter: doc({ _id: 1 }), updateMods: doc({ $inc: doc({ x: 1 }) }) },
        { update: 0, filter: doc({ _id: 2 }), updateMods: doc({ $set: doc({ x: 9 }) }), upsert: true },
        { update: 0, filter: Document.empty, updateMods: doc({ $set: doc({ y: 1 }) }), multi: true },
        { delete: 1, filter: doc({ _id: 1 }) },
      ),
    );
    assert.deepEqual(counts(reply), { nErrors: 0, nInserted: 2, nMatched: 3, nModified: 3, nUpserted: 1, nDeleted: 1 });
    const told = results(reply);
    assert.deepEqual(told.map((item) => item.get('idx')), [0, 1, 2, 3, 4, 5]);
    assert.deepEqual(told.map((item) => item.get('n')), [1, 1, 1, 1, 2, 1]);
    const upserted = told[3]?.get('upserted');
    assert.equal(upserted instanceof Document ? upserted.get('_id') : undefined, 2);
    assert.equal(told[0]?.has('nModified'), false);
    assert.equal(await left('a'), 2);
    assert.equal(await left('b'), 0);
  });

  test('stops at the first error when ordered, and goes on when not', async () => {
    const ops = list({ insert: 0, document: doc({ _id: 1 }) }, { insert: 1, document: doc({ _id: 7 }) });
    const ordered = await bulk(ops);
    assert.deepEqual(counts(ordered), { nErrors: 1, nInserted: 0, nMatched: 0, nModified: 0, nUpserted: 0, nDeleted: 0 });
    const [refused] = results(ordered);
    assert.equal(refused?.get('code'), 11000);
    assert.ok(refused.get('keyPattern') instanceof Document);
    assert.equal(await left('b'), 0);
    const unordered = await bulk(ops, { ordered: false, errorsOnly: true });
    assert.equal(unordered.get('nInserted'), 1);
    assert.deepEqual(results(unordered).map((item) => item.get('idx')), [0]);
    assert.equal(await left('b'), 1);
  });

  test('goes on in a collection whose first document was refused before it was made', async () => {
    const ops = list({ insert: 0, document: doc({ _id: BsonArray.empty }) }, { insert: 0, document: doc({ _id: 1 }) });
    const reply = await client.command('admin', { bulkWrite: 1, ops, nsInfo: list({ ns: 'bulk.fresh' }), ordered: false });
    assert.equal(reply.get('nInserted'), 1);
  });

  test('gives its results by a cursor of admin.$cmd.bulkWrite', async () => {
    const ops = list({ delete: 0, filter: doc({ _id: 90 }) }, { delete: 0, filter: doc({ _id: 91 }) });
    const reply = await bulk(ops, { cursor: doc({ batchSize: 1 }) });
    const cursor = reply.get('cursor');
    assert.ok(cursor instanceof Document);
    assert.equal(cursor.get('ns'), 'admin.$cmd.bulkWrite');
    const more = await client.command('admin', { getMore: cursor.get('id') ?? null, collection: '$cmd.bulkWrite' });
    const rest = more.get('cursor');
    assert.ok(rest instanceof Document);
    assert.equal(rest.get('id'), 0n);
  });

  test('answers a repeat of the same numbers from what was done', async () => {
    const lsid = doc({ id: new Binary(new Uint8Array(16).fill(3), 4) });
    const ops = list({ insert: 0, document: doc({ _id: 'r' }) }, { insert: 1, document: doc({ _id: 'r' }) });
    const first = await bulk(ops, { lsid, txnNumber: 1n });
    assert.equal(first.get('nInserted'), 2);
    const again = await bulk(ops, { lsid, txnNumber: 1n });
    assert.equal(again.get('nInserted'), 2);
    assert.equal(again.get('nErrors'), 0);
    const retried = again.get('retriedStmtIds');
    assert.deepEqual(retried instanceof BsonArray ? retried.items() : [], [0, 1]);
  });

  test('is part of a transaction, all or nothing', async () => {
    const session = { lsid: doc({ id: new Binary(new Uint8Array(16).fill(4), 4) }), txnNumber: 1n, autocommit: false };
    const ops = list({ insert: 0, document: doc({ _id: 't' }) }, { insert: 1, document: doc({ _id: 't' }) });
    assert.equal((await bulk(ops, { ...session, startTransaction: true })).get('nInserted'), 2);
    assert.equal((await client.command('bulk', { count: 'b', query: doc({ _id: 't' }) })).get('n'), 0);
    await client.command('admin', { abortTransaction: 1, ...session });
    assert.equal((await client.command('bulk', { count: 'a', query: doc({ _id: 't' }) })).get('n'), 0);
  });

  const refused: [string, Record<string, Value>, number][] = [
    ['no operation', { ops: BsonArray.empty }, 16],
    ['an operation of another kind', { ops: list({ replace: 0, document: Document.empty }) }, 40415],
    ['a namespace that is not in the list', { ops: list({ insert: 2, document: Document.empty }) }, 2],
    ['a namespace that is none', { ops: list({ insert: 0, document: Document.empty }), nsInfo: list({ ns: 'nodot' }) }, 73],
    ['an insert without a document', { ops: list({ insert: 0 }) }, 40414],
    ['an update without a filter', { ops: list({ update: 0, updateMods: Document.empty }) }, 40414],
    ['an unknown field', { ops: list({ insert: 0, document: Document.empty }), more: 1 }, 40415],
  ];
  for (const [what, fields, code] of refused) {
    test(`refuses ${what}`, async () => {
      const { ops, ...more } = fields;
      assert.ok(ops instanceof BsonArray);
      assert.equal((await bulk(ops, more)).get('code'), code);
    });
  }

  test('may only be run against admin', async () => {
    const reply = await client.command('bulk', { bulkWrite: 1, ops: list({ insert: 0, document: Document.empty }), nsInfo: list({ ns: 'bulk.a' }) });
    assert.equal(reply.get('code'), 13);
  });

  test('tells a client whose collection is another one', async () => {
    const uuid = new Binary(new Uint8Array(16).fill(9), 4);
    const reply = await client.command('admin', { bulkWrite: 1, ops: list({ insert: 0, document: Document.empty }), nsInfo: list({ ns: 'bulk.a', collectionUUID: uuid }) });
    assert.equal(results(reply)[0]?.get('code'), 361);
  });
});

test('an update takes the first document in the order it names', async () => {
  const server = await openServerForTest();
  const client = await server.wire();
  await client.command('test', { insert: 'c', documents: list({ _id: 1, x: 5 }, { _id: 2, x: 9 }) });
  const updates = list({ q: Document.empty, u: doc({ $set: doc({ first: true }) }), sort: doc({ x: -1 }) });
  assert.equal((await client.command('test', { update: 'c', updates })).get('nModified'), 1);
  assert.equal((await client.command('test', { count: 'c', query: doc({ _id: 2, first: true }) })).get('n'), 1);
  await server.close();
});
