// Time series collections and clustered ones through a driver, by the rules of the manual's sections "Time Series" and "Clustered Collections".

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import { MongoClient } from 'mongodb';
import type { Db, Document } from 'mongodb';

import { openServerForTest } from '../support/open-server-for-test.ts';

let server: Awaited<ReturnType<typeof openServerForTest>>;
let client: MongoClient;
let db: Db;

before(async () => {
  server = await openServerForTest();
  client = await MongoClient.connect(server.uri);
  db = client.db('series');
});

after(async () => {
  await client.close();
  await server.close();
});

const refusedWith = (code: number): { code: number } => ({ code });
const day = (number: number): Date => new Date(Date.UTC(2024, 0, number));

describe('a time series collection', () => {
  it('is listed as one, with its options and the index on meta and time', async () => {
    await db.createCollection('weather', { timeseries: { timeField: 'at', metaField: 'sensor', granularity: 'minutes' }, expireAfterSeconds: 3600 });
    const [row] = await db.listCollections({ name: 'weather' }).toArray();
    assert.equal(row?.type, 'timeseries');
    assert.deepEqual((row as { options?: unknown }).options, {
      timeseries: { timeField: 'at', metaField: 'sensor', granularity: 'minutes', bucketMaxSpanSeconds: 86_400 },
      expireAfterSeconds: 3600,
    });
    const indexes = await db.collection('weather').indexes();
    assert.deepEqual(indexes.map(({ name, key }) => [name, key]), [['sensor_1_at_1', { sensor: 1, at: 1 }]]);
  });

  it('takes documents with a date in the time field and no others', async () => {
    const weather = db.collection('weather');
    await weather.insertMany([{ at: day(1), sensor: 'a', v: 1 }, { at: day(2), sensor: 'a', v: 2 }, { at: day(3), sensor: 'b', v: 3 }]);
    await assert.rejects(weather.insertOne({ sensor: 'a' }), refusedWith(2));
    await assert.rejects(weather.insertOne({ at: 5, sensor: 'a' }), refusedWith(2));
    const means = await weather.aggregate([{ $group: { _id: '$sensor', v: { $avg: '$v' } } }, { $sort: { _id: 1 } }]).toArray();
    assert.deepEqual(means, [{ _id: 'a', v: 1.5 }, { _id: 'b', v: 3 }]);
  });

  it('lets the meta field be changed where it is asked for, and nothing else', async () => {
    const weather = db.collection('weather');
    const { modifiedCount } = await weather.updateMany({ sensor: 'a' }, { $set: { sensor: 'c' } });
    assert.equal(modifiedCount, 2);
    await assert.rejects(weather.updateMany({ sensor: 'c' }, { $set: { v: 9 } }), refusedWith(72));
    await assert.rejects(weather.updateMany({ v: 1 }, { $set: { sensor: 'd' } }), refusedWith(72));
    await assert.rejects(weather.updateOne({ sensor: 'c' }, { $set: { sensor: 'd' } }), refusedWith(72));
    await assert.rejects(weather.updateMany({ sensor: 'x' }, { $set: { sensor: 'd' } }, { upsert: true }), refusedWith(72));
    assert.equal((await weather.deleteMany({ sensor: 'c' })).deletedCount, 2);
  });

  it('has spans that may only grow, and options that are refused by their codes', async () => {
    await db.command({ collMod: 'weather', timeseries: { granularity: 'hours' } });
    await assert.rejects(db.command({ collMod: 'weather', timeseries: { granularity: 'seconds' } }), refusedWith(72));
    await assert.rejects(db.createCollection('w1', { timeseries: { timeField: 'a.b' } }), refusedWith(72));
    await assert.rejects(db.command({ create: 'w1', timeseries: {} }), refusedWith(40414));
    await assert.rejects(db.command({ create: 'w1', timeseries: { timeField: 'at' }, capped: true, size: 1000 }), refusedWith(72));
    await assert.rejects(db.command({ create: 'w1', expireAfterSeconds: 5 }), refusedWith(72));
  });

  it('takes the indexes that MongoDB builds over buckets, and does not count the order of _id', async () => {
    await db.createCollection('indexed', { timeseries: { timeField: 'at', metaField: 'meta' } });
    const create = (key: object, more: object = {}): Promise<Document> => db.command({ createIndexes: 'indexed', indexes: [{ key, name: 'made', ...more }] });
    await assert.rejects(create({ v: 1 }, { unique: true }), refusedWith(72));
    await assert.rejects(create({ v: 'text' }), refusedWith(72));
    await assert.rejects(create({ v: 1 }, { sparse: true }), refusedWith(72));
    await assert.rejects(create({ v: 'hashed' }), refusedWith(67));
    await assert.rejects(create({ '$**': 1 }), refusedWith(7246201));
    await assert.rejects(create({ at: 1 }, { expireAfterSeconds: 5 }), refusedWith(72));
    await assert.rejects(create({ v: 1 }, { collation: { locale: 'en' }, partialFilterExpression: { v: 1 } }), refusedWith(85));
    const made: Readonly<Record<string, unknown>> = await create({ at: 1 }, { expireAfterSeconds: 5, partialFilterExpression: { 'meta.a': 1 } });
    assert.deepEqual([made['numIndexesBefore'], made['numIndexesAfter']], [1, 2]);
    assert.equal((await db.command({ dropIndexes: 'indexed', index: 'made' }))['nIndexesWas'], 2);
    await create({ 'meta.place': 'hashed' });
  });

  it('is made by $out', async () => {
    await db.collection('plain').insertMany([{ t: day(1), v: 1 }, { t: day(2), v: 2 }]);
    const stage = { $out: { db: 'series', coll: 'made', timeseries: { timeField: 't' } } };
    await db.collection('plain').aggregate([stage]).toArray();
    const [row] = await db.listCollections({ name: 'made' }).toArray();
    assert.equal(row?.type, 'timeseries');
    assert.equal(await db.collection('made').countDocuments({ v: { $gt: 1 } }), 1);
    const other = { $out: { db: 'series', coll: 'made', timeseries: { timeField: 'v' } } };
    await assert.rejects(db.collection('plain').aggregate([other]).toArray(), refusedWith(7406103));
  });
});

describe('measurements', () => {
  it('may share an _id, lie in the order of their coming, and go with their meta field', async () => {
    await db.createCollection('same', { timeseries: { timeField: 't', metaField: 'm' } });
    const same = db.collection<{ _id: number; t: Date; m: string; v: number }>('same');
    await same.insertMany([{ _id: 5, t: day(2), m: 'a', v: 1 }, { _id: 1, t: day(1), m: 'b', v: 2 }, { _id: 5, t: day(3), m: 'b', v: 3 }]);
    assert.deepEqual((await same.find().toArray()).map(({ v }) => v), [1, 2, 3]);
    assert.deepEqual((await same.find({ _id: 5 }).toArray()).map(({ v }) => v).sort(), [1, 3]);
    assert.deepEqual((await same.find({ m: 'b' }).sort({ t: -1 }).toArray()).map(({ v }) => v), [3, 2]);
    await same.createIndex({ v: 1 });
    assert.equal(await same.countDocuments({ v: { $gte: 2 } }), 2);
    assert.equal((await same.deleteMany({ m: 'b' })).deletedCount, 2);
    assert.deepEqual((await same.find().toArray()).map(({ v }) => v), [1]);
    assert.equal((await db.command({ validate: 'same' }))['valid'], true);
  });
});

describe('a clustered collection', () => {
  it('shows the index it is', async () => {
    await db.createCollection('clustered', { clusteredIndex: { key: { _id: 1 }, unique: true } });
    const [index] = await db.collection('clustered').indexes();
    assert.deepEqual(index, { v: 2, key: { _id: 1 }, name: '_id_', unique: true, clustered: true });
    await assert.rejects(db.command({ create: 'c2', clusteredIndex: { key: { a: 1 }, unique: true } }), refusedWith(197));
  });
});

describe('a view', () => {
  it('is refused when it reads itself, by whatever stage and however far round', async () => {
    await db.createCollection('round', { viewOn: 'plain', pipeline: [{ $lookup: { from: 'other', pipeline: [{ $unionWith: 'third' }], as: 'x' } }] });
    await assert.rejects(db.createCollection('third', { viewOn: 'plain', pipeline: [{ $facet: { a: [{ $unionWith: { coll: 'round', pipeline: [] } }] } }] }), refusedWith(5));
    await assert.rejects(db.command({ collMod: 'round', viewOn: 'plain', pipeline: [{ $graphLookup: { from: 'round', startWith: '$a', connectFromField: 'a', connectToField: 'b', as: 'x' } }] }), refusedWith(5));
    await db.createCollection('third', { viewOn: 'plain', pipeline: [{ $unionWith: 'plain' }] });
  });

  it('is refused when it is defined with a pipeline that cannot run', async () => {
    await assert.rejects(db.createCollection('v1', { viewOn: 'plain', pipeline: [{ $out: 'x' }] }), refusedWith(167));
    await assert.rejects(db.createCollection('v1', { viewOn: 'plain', pipeline: [{ $nonsense: 1 }] }), refusedWith(40324));
    await db.createCollection('v1', { viewOn: 'plain', pipeline: [{ $match: { v: 2 } }] });
    await assert.rejects(db.command({ collMod: 'v1', viewOn: 'plain', pipeline: [{ $documents: [] }] }), refusedWith(73));
    assert.equal((await db.collection('v1').find().toArray()).length, 1);
  });
});
