// TokuMX's bulk loader by connection: expected values are those of its own tests (loader_begin, loader_commit, loader_abort, loader_during,
// loader_transaction): what is refused and with which codes, what others see meanwhile, what is there after the commit.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { BsonArray, Document } from '../../src/bson/index.ts';
import type { Value } from '../../src/bson/index.ts';
import { openServerForTest } from '../support/open-server-for-test.ts';
import type { ServerForTest } from '../support/open-server-for-test.ts';
import type { WireClient } from '../support/wire-client.ts';

const doc = (fields: Readonly<Record<string, Value>>): Document => Document.of(fields);

async function served(work: (mine: WireClient, other: WireClient, server: ServerForTest) => Promise<void>): Promise<void> {
  const server = await openServerForTest();
  try {
    await work(await server.wire(), await server.wire(), server);
  } finally {
    await server.close();
  }
}

interface Load {
  readonly indexes?: readonly Document[];
  readonly options?: Document;
}

const begin = (client: WireClient, ns: string, { indexes = [], options = Document.empty }: Load = {}): Promise<Document> =>
  client.command('d', { beginLoad: 1, ns, indexes: BsonArray.of([...indexes]), options });

const insert = (client: WireClient, name: string, documents: readonly Document[]): Promise<Document> => client.command('d', { insert: name, documents: BsonArray.of([...documents]) });

async function count(client: WireClient, name: string, query: Document = Document.empty): Promise<unknown> {
  return (await client.command('d', { count: name, query })).get('n');
}

async function codeOf(reply: Promise<Document>): Promise<unknown> {
  return (await reply).get('code');
}

async function assertWhole(client: WireClient, name: string): Promise<void> {
  const reply = await client.command('d', { validate: name });
  assert.deepEqual(reply.get('errors'), BsonArray.of([]));
  assert.equal(reply.get('valid'), true);
}

const spec = (name: string, key: Document, options: Readonly<Record<string, Value>> = {}): Document => doc({ key, name, ...options });
const numbered = (to: number): Document[] => Array.from({ length: to }, (_, i) => doc({ _id: (i * 7919) % to, a: i % 10, b: i % 3 === 0 ? BsonArray.of([i, i + 1]) : i }));

test('a collection comes, with its indexes, when the transaction of its load commits; until then nobody sees it', async () => {
  await served(async (mine, other) => {
    await mine.command('d', { beginTransaction: 1 });
    const indexes = [spec('a_1', doc({ a: 1 })), spec('b_1', doc({ b: 1 }), { ns: 'd.c' }), spec('c_1', doc({ a: -1 }), { clustering: true })];
    assert.equal((await begin(mine, 'c', { indexes, options: doc({ compression: 'zlib' }) })).get('status'), 'load began');
    const documents = numbered(3000);
    for (let at = 0; at < documents.length; at += 500) assert.equal((await insert(mine, 'c', documents.slice(at, at + 500))).get('n'), 500);
    assert.equal(await count(mine, 'c'), 0);
    assert.equal(await count(other, 'c'), 0);
    assert.equal((await mine.command('d', { commitLoad: 1 })).get('status'), 'load committed');
    assert.equal(await count(mine, 'c'), 3000);
    assert.equal(await count(other, 'c'), 0);
    await insert(mine, 'c', [doc({ _id: 5000, a: 3 })]);
    assert.equal((await mine.command('d', { commitTransaction: 1 })).get('status'), 'transaction committed');
    assert.equal(await count(other, 'c'), 3001);
    assert.equal(await count(other, 'c', doc({ a: 3 })), 301);
    assert.equal(await count(other, 'c', doc({ b: 301 })), 2);
    await assertWhole(other, 'c');
    await insert(other, 'c', [doc({ _id: 6000, a: 3 })]);
    assert.equal(await count(mine, 'c', doc({ a: 3 })), 302);
  });
});

test('a duplicate is told at the end, and then nothing of the load is there', async () => {
  await served(async (mine, other) => {
    for (const documents of [[doc({ _id: 1 }), doc({ _id: 2 }), doc({ _id: 1 })], [doc({ _id: 1, a: 5 }), doc({ _id: 2, a: 5 })]]) {
      await mine.command('d', { beginTransaction: 1 });
      await begin(mine, 'c', { indexes: [spec('a_1', doc({ a: 1 }), { unique: true, sparse: true })] });
      await insert(mine, 'c', documents);
      const reply = await mine.command('d', { commitLoad: 1 });
      assert.equal(reply.get('code'), 11000);
      assert.deepEqual(reply.get('keyValue'), documents.length === 3 ? doc({ _id: 1 }) : doc({ a: 5 }));
      await mine.command('d', { rollbackTransaction: 1 });
      assert.equal(await count(other, 'c'), 0);
    }
    await insert(other, 'c', [doc({ _id: 1 })]);
    await assertWhole(other, 'c');
  });
});

test('a duplicate among documents that lie beside the tree is told by its _id', async () => {
  await served(async (mine, other) => {
    await mine.command('d', { beginTransaction: 1 });
    await begin(mine, 'c');
    const large = 'x'.repeat(20_000);
    await insert(mine, 'c', [doc({ _id: 1, large }), doc({ _id: 7, large })]);
    await insert(mine, 'c', [doc({ _id: 7, large })]);
    const reply = await mine.command('d', { commitLoad: 1 });
    assert.equal(reply.get('code'), 11000);
    assert.deepEqual(reply.get('keyValue'), doc({ _id: 7 }));
    await mine.command('d', { rollbackTransaction: 1 });
    assert.equal(await count(other, 'c'), 0);
  });
});

test('a load that is aborted, rolled back, or whose connection goes, leaves nothing', async () => {
  await served(async (mine, other, server) => {
    await mine.command('d', { beginTransaction: 1 });
    await begin(mine, 'c');
    await insert(mine, 'c', numbered(100));
    assert.equal((await mine.command('d', { abortLoad: 1 })).get('status'), 'load aborted');
    await insert(mine, 'c', [doc({ _id: 1, after: true })]);
    await mine.command('d', { commitTransaction: 1 });
    assert.equal(await count(other, 'c'), 1);

    await mine.command('d', { beginTransaction: 1 });
    await begin(mine, 'e');
    await insert(mine, 'e', numbered(100));
    await mine.command('d', { commitLoad: 1 });
    await mine.command('d', { rollbackTransaction: 1 });
    assert.equal(await count(other, 'e'), 0);

    const third = await server.wire();
    await third.command('d', { beginTransaction: 1 });
    await begin(third, 'e');
    await insert(third, 'e', numbered(100));
    third.close();
    // The name is free when the connection is gone.
    await insert(other, 'e', [doc({ _id: 1 })]);
    assert.equal(await count(other, 'e'), 1);
    await assertWhole(other, 'e');
  });
});

test('the rules of a load are enforced with codes of their own', async () => {
  await served(async (mine, other) => {
    const refused = async (load: Promise<Document>, code: number): Promise<void> => {
      assert.equal(await codeOf(load), code);
      await mine.command('d', { beginTransaction: 1 });
    };
    assert.equal(await codeOf(begin(mine, 'c')), 16892);
    await insert(other, 'there', [doc({ _id: 1 })]);
    await mine.command('d', { beginTransaction: 1 });
    await refused(begin(mine, 'there'), 16873);
    await refused(mine.command('d', { beginLoad: 1, ns: 5, indexes: BsonArray.of([]), options: Document.empty }), 16882);
    await refused(mine.command('d', { beginLoad: 1, ns: 'c', indexes: 'xyz', options: Document.empty }), 16883);
    await refused(mine.command('d', { beginLoad: 1, ns: 'c', indexes: BsonArray.of([]), options: 123 }), 16884);
    await refused(mine.command('d', { beginLoad: 1, ns: 'c', indexes: BsonArray.of(['xyz']), options: Document.empty }), 16885);
    await refused(begin(mine, 'c', { indexes: [spec('a_1', doc({ a: 1 }), { ns: 'd.other' })] }), 16886);
    await refused(begin(mine, 'c', { indexes: [doc({ key: doc({ a: 1 }), name: doc({ no: 1 }) })] }), 16887);
    await refused(begin(mine, 'c', { options: doc({ capped: true, size: 1024 }) }), 16999);
    await refused(begin(mine, 'c', { options: doc({ partitioned: true }) }), 17247);
    await refused(mine.command('d', { commitLoad: 1 }), 16876);
    await refused(mine.command('d', { abortLoad: 1 }), 16888);
    await begin(mine, 'c');
    assert.equal(await codeOf(mine.command('d', { commitTransaction: 1 })), 16889);
    assert.equal(await codeOf(mine.command('d', { rollbackTransaction: 1 })), 16890);
    await insert(mine, 'elsewhere', [doc({ _id: 1 })]);
    const upsert = doc({ q: doc({ _id: 9 }), u: doc({ $set: doc({ x: 1 }) }), upsert: true });
    assert.equal(await codeOf(begin(mine, 'f')), 16915);
    await mine.command('d', { beginTransaction: 1 });
    await begin(mine, 'c');
    const errors = (await mine.command('d', { update: 'c', updates: BsonArray.of([upsert]) })).get('writeErrors');
    assert.ok(errors instanceof BsonArray);
    const [first] = errors.items();
    assert.equal(first instanceof Document ? first.get('code') : undefined, 16867);
    assert.equal(await count(other, 'elsewhere'), 0);
  });
});

test('a validator is asked of every document, and a primary key of its own gives the order', async () => {
  await served(async (mine, other) => {
    const options = doc({ primaryKey: doc({ a: -1, _id: 1 }), validator: doc({ a: doc({ $gte: 0 }) }) });
    await mine.command('d', { beginTransaction: 1 });
    await begin(mine, 'c', { options });
    await insert(mine, 'c', numbered(200));
    await mine.command('d', { commitLoad: 1 });
    await mine.command('d', { commitTransaction: 1 });
    assert.equal(await count(other, 'c', doc({ a: 9 })), 20);
    await assertWhole(other, 'c');
    await mine.command('d', { beginTransaction: 1 });
    await begin(mine, 'e', { options });
    assert.equal(await codeOf(insert(mine, 'e', [doc({ _id: 1, a: -1 })])), 121);
  });
});

test('what a server that stopped has of a load is dropped when it is opened again', async () => {
  const first = await openServerForTest();
  const mine = await first.wire();
  await mine.command('d', { beginTransaction: 1 });
  await begin(mine, 'c', { indexes: [spec('a_1', doc({ a: 1 }))] });
  await insert(mine, 'c', numbered(500));
  await mine.command('d', { commitLoad: 1 });
  await mine.command('d', { commitTransaction: 1 });
  await mine.command('d', { beginTransaction: 1 });
  await begin(mine, 'lost');
  await insert(mine, 'lost', numbered(500));
  const dictionaries = async (client: WireClient): Promise<unknown> => (await client.command('admin', { engineStatus: 1 })).get('dictionaries');
  const before = Number(await dictionaries(mine));
  await first.close();
  const second = await openServerForTest({ env: first.env });
  const again = await second.wire();
  assert.equal(await count(again, 'c', doc({ a: 4 })), 50);
  await assertWhole(again, 'c');
  assert.equal(await count(again, 'lost'), 0);
  assert.equal(Number(await dictionaries(again)), before - 1);
  await second.close();
});
