// A cursor whose client stays away for a minute holds no state of the data any more, and goes on in a newer one from behind what it has given:
// those of find, and those of pipelines with all that they read beside.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import type { AbstractCursor, Db } from 'mongodb';

import { openMemoryEnv } from '../../src/env/index.ts';
import { openServerForTest } from '../support/open-server-for-test.ts';
import type { ServerForTest } from '../support/open-server-for-test.ts';

let server: ServerForTest;
let db: Db;
let aheadMs = 0;

before(async () => {
  const env = await openMemoryEnv();
  const { clock } = env;
  server = await openServerForTest({ env: { ...env, clock: { nowMs: () => clock.nowMs(), monotonicMs: () => clock.monotonicMs() + aheadMs, sleep: (ms, signal) => clock.sleep(Math.min(ms, 50), signal), wait: (ms) => clock.wait(ms) } } });
  db = (await server.driver()).db('idle');
  const rows = (name: string): Promise<unknown> => db.collection<{ _id: number; a: number }>(name).insertMany(Array.from({ length: 1000 }, (_, _id) => ({ _id, a: _id % 10 })));
  for (const name of ['main', 'other']) await rows(name);
  await db.collection('main').createIndex({ a: 1 });
  await db.command({ create: 'seen', viewOn: 'other', pipeline: [{ $match: { a: { $gte: 0 } } }] });
});
after(() => server.close());

const snapshots = async (): Promise<unknown> => (await db.command({ engineStatus: 1 }))['openSnapshots'] as unknown;

/** Reads a little, stays away until the state is given up, lets others write meanwhile, and reads the rest. */
async function readWithPause(cursor: AbstractCursor<{ _id: number }>): Promise<number[]> {
  const ids: number[] = [];
  for (let i = 0; i < 20; i++) ids.push((await cursor.next())?._id ?? -1);
  aheadMs += 61_000;
  // The sweeper comes by every now and then.
  while (Number(await snapshots()) > 0) await db.command({ ping: 1 });
  await db.collection<{ _id: number; a: number }>('main').updateOne({ _id: 1000 }, { $set: { a: 5 } }, { upsert: true });
  await db.collection<{ _id: number; a: number }>('other').updateOne({ _id: 1000 }, { $set: { a: 5 } }, { upsert: true });
  for await (const { _id } of cursor) ids.push(_id);
  await db.collection<{ _id: number; a: number }>('main').deleteOne({ _id: 1000 });
  await db.collection<{ _id: number; a: number }>('other').deleteOne({ _id: 1000 });
  return ids;
}

const upTo = (end: number): number[] => Array.from({ length: end }, (_, i) => i);

test('a pipeline over a collection goes on from its key', async () => {
  const ids = await readWithPause(db.collection<{ _id: number }>('main').aggregate<{ _id: number }>([{ $match: { _id: { $gte: 0 } } }, { $set: { b: 1 } }], { batchSize: 20 }));
  assert.deepEqual(ids, upTo(1001));
});

test('a lookup after the pause reads the newer state, for every document the same', async () => {
  const pipeline = [{ $match: { _id: { $gte: 0 } } }, { $lookup: { from: 'other', localField: '_id', foreignField: '_id', as: 'found' } }, { $match: { 'found.0': { $exists: true } } }];
  assert.deepEqual(await readWithPause(db.collection('main').aggregate<{ _id: number }>(pipeline, { batchSize: 20 })), upTo(1001));
});

test('a union whose second part is being read goes on there, also through a view', async () => {
  for (const coll of ['other', 'seen']) {
    const pipeline = [{ $match: { _id: { $lt: 5 } } }, { $unionWith: { coll, pipeline: [{ $match: { _id: { $gte: 0 } } }] } }];
    assert.deepEqual(await readWithPause(db.collection('main').aggregate<{ _id: number }>(pipeline, { batchSize: 20 })), [...upTo(5), ...upTo(1001)]);
  }
});

test('a find through a view goes on from its key', async () => {
  assert.deepEqual(await readWithPause(db.collection<{ _id: number }>('seen').find({}, { batchSize: 20 })), upTo(1001));
});

test('what a blocking stage has made is given to its end', async () => {
  assert.deepEqual(await readWithPause(db.collection('main').aggregate<{ _id: number }>([{ $sort: { a: 1, _id: 1 } }, { $group: { _id: '$_id' } }, { $sort: { _id: 1 } }], { batchSize: 20 })), upTo(1000));
});
