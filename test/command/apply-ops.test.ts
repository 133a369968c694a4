// applyOps: expected values are those of the manual's page of that name; what this server's own oplog says can be applied to another.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import type { Db, Document, MongoClient } from 'mongodb';

import { openServerForTest } from '../support/open-server-for-test.ts';
import type { ServerForTest } from '../support/open-server-for-test.ts';

let server: ServerForTest;
let client: MongoClient;
let db: Db;

before(async () => {
  server = await openServerForTest();
  client = await server.driver();
  db = client.db('applied');
});
after(() => server.close());

const apply = (entries: readonly Document[], options: Document = {}): Promise<Document> => client.db('admin').command({ applyOps: entries, ...options });

async function codeOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 0,
    (error: unknown) => (error as { code?: unknown }).code,
  );
}

test('entries insert, update, replace and delete, and may be applied twice', async () => {
  await db.createCollection('c');
  const ns = 'applied.c';
  const entries = [
    { op: 'n', ns, o: { msg: 'nothing' } },
    { op: 'i', ns, o: { _id: 1, a: 1, gone: true } },
    { op: 'i', ns, o: { _id: 2, a: 1 } },
    { op: 'u', ns, o: { $v: 2, diff: { d: { gone: false }, u: { a: 2 }, i: { b: 3 } } }, o2: { _id: 1 } },
    { op: 'u', ns, o: { _id: 2, other: 1 }, o2: { _id: 2 } },
    { op: 'd', ns, o: { _id: 5 } },
  ];
  for (let time = 0; time < 2; time++) {
    const { applied, results } = await apply(entries);
    assert.deepEqual([applied, results], [5, [true, true, true, true, true]]);
    assert.deepEqual(await db.collection('c').find().toArray(), [{ _id: 1, a: 2, b: 3 }, { _id: 2, other: 1 }]);
  }
});

test('an error leaves nothing of it, or what came before where that is asked for', async () => {
  const ns = 'applied.c';
  const entries = [{ op: 'i', ns, o: { _id: 3 } }, { op: 'u', ns, o: { $v: 2, diff: { u: { a: 2 } } }, o2: { _id: 999 } }];
  assert.equal(await codeOf(apply(entries)), 8);
  assert.equal(await db.collection('c').countDocuments({ _id: 3 as never }), 0);
  assert.equal(await codeOf(apply(entries, { allowAtomic: false })), 8);
  assert.equal(await db.collection('c').countDocuments({ _id: 3 as never }), 1);
});

test('entries and options that mean nothing are refused', async () => {
  const ns = 'applied.c';
  const refused: readonly [unknown, number, Document?][] = [
    [null, 14],
    [{}, 14],
    [[5], 14],
    [[{}], 4],
    [[{ op: 5, ns, o: {} }], 14],
    [[{ op: '', ns, o: {} }], 20],
    [[{ op: 'i', o: {} }], 20],
    [[{ op: 'i', ns }], 40414],
    [[{ op: 'x', ns, o: {} }], 2],
    [[{ op: 'i', ns, o: {} }], 4],
    [[{ op: 'i', ns: 'applied.missing', o: { _id: 1 } }], 26],
    [[{ op: 'u', ns, o: { a: 1 }, o2: {} }], 4],
    [[], 2, { prepare: false }],
    [[], 31056, { partialTxn: true }],
    [[], 6711601, { alwaysUpsert: true }],
    [[], 6711600, { preCondition: [] }],
  ];
  for (const [entries, code, options] of refused) assert.equal(await codeOf(apply(entries as Document[], options)), code, JSON.stringify(entries));
  assert.equal((await apply([], { alwaysUpsert: false, unknown: 1 }))['applied'], 0);
});

test('what the oplog tells of one collection makes the same of another', async () => {
  const from = db.collection<{ _id: number; list?: unknown[]; x?: number; deep?: Document; y?: number; n?: number; whole?: boolean }>('from');
  await from.insertMany([{ _id: 1, list: [1, 2, 3], deep: { a: { b: 1 } }, x: 1 }, { _id: 2, list: [{ a: 1 }, { a: 2 }] }, { _id: 3 }]);
  await from.createIndex({ x: 1 });
  await from.updateOne({ _id: 1 }, { $set: { 'deep.a.c': 2, y: 5 }, $unset: { x: '' }, $push: { list: 4 } });
  await from.updateOne({ _id: 2 }, { $set: { 'list.0.a': 9 }, $inc: { n: 1 } });
  await from.updateOne({ _id: 1 }, { $pop: { list: -1 } });
  await from.updateOne({ _id: 1 }, [{ $set: { list: { $slice: ['$list', 2] }, made: { $add: ['$y', 1] } } }]);
  await from.replaceOne({ _id: 3 }, { whole: true });
  await from.insertOne({ _id: 4 });
  await from.deleteOne({ _id: 4 });
  const log = await client.db('local').collection<{ op: string; ns: string; o: Document; o2?: Document }>('oplog.rs').find({ $or: [{ ns: 'applied.from' }, { ns: 'applied.$cmd', $or: [{ 'o.create': 'from' }, { 'o.createIndexes': 'from' }] }] }).sort({ $natural: 1 }).toArray();
  const entries = log.map(({ op, ns, o, o2 }): Document => {
    const name = Object.keys(o)[0] ?? '';
    return { op, ns: ns === 'applied.from' ? 'applied.to' : ns, o: op === 'c' ? { ...o, [name]: 'to' } : o, ...(o2 === undefined ? {} : { o2 }) };
  });
  assert.ok(entries.length >= 10);
  await apply(entries);
  assert.deepEqual(await db.collection('to').find().toArray(), await from.find().toArray());
  assert.deepEqual((await db.collection('to').indexes()).map(({ name }) => name), ['_id_', 'x_1']);
});
