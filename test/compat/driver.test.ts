// The official driver, with what it does at its start and the ways in which it can send.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { BSON, Decimal128, Double, GridFSBucket, Int32, Long, type MongoServerError, ObjectId, Timestamp, UUID } from 'mongodb';
import { openServerForTest } from '../support/open-server-for-test.ts';

describe('the official driver', async () => {
  const server = await openServerForTest();
  const client = await server.driver();
  const db = client.db('test');
  after(() => server.close());

  test('finds what it inserted', async () => {
    const things = db.collection('things');
    const { insertedId } = await things.insertOne({ name: 'one', n: 1 });
    assert.deepEqual(await things.findOne({ name: 'one' }), { _id: insertedId, name: 'one', n: 1 });
    const { insertedCount } = await things.insertMany(Array.from({ length: 1000 }, (_, i) => ({ i, even: i % 2 === 0 })));
    assert.equal(insertedCount, 1000);
    assert.equal(await things.estimatedDocumentCount(), 1001);
    assert.equal(await things.countDocuments({ even: true }), 500);
    assert.equal((await things.find({ even: true }).toArray()).length, 500);
  });

  test('gets back the types and the order of fields that it sent', async () => {
    const types = db.collection('types');
    const sent = {
      _id: new ObjectId(),
      z: new Int32(1),
      a: Long.fromNumber(2),
      d: new Double(3),
      dec: Decimal128.fromString('1.10'),
      u: new UUID(),
      t: new Timestamp({ t: 1, i: 2 }),
      when: new Date(5),
      list: [1, [2, { x: null }]],
    };
    await types.insertOne(sent);
    const got = await types.findOne({ _id: sent._id }, { promoteValues: false, promoteLongs: false });
    assert.ok(got !== null);
    assert.ok(got['z'] instanceof Int32 && got['a'] instanceof Long && got['d'] instanceof Double);
    assert.equal(String(got['dec']), '1.10');
    const raw: unknown = await types.findOne({ _id: sent._id }, { raw: true });
    assert.ok(raw instanceof Uint8Array);
    assert.deepEqual([...raw], [...BSON.serialize(sent)]);
  });

  test('writes without waiting for an answer, and what it wrote is there', async () => {
    const c = db.collection<{ _id: number }>('unacknowledged');
    const { acknowledged } = await c.insertOne({ _id: 1 }, { writeConcern: { w: 0 } });
    assert.equal(acknowledged, false);
    let found = await c.findOne({ _id: 1 });
    for (let i = 0; i < 200 && found === null; i++) found = await c.findOne({ _id: 1 });
    assert.deepEqual(found, { _id: 1 });
  });

  test('speaks compressed when both sides can', async () => {
    const compressing = await server.driver({ compressors: ['zlib'] });
    const c = compressing.db('test').collection('compressed');
    const text = 'a text that is long enough to be worth it '.repeat(100);
    await c.insertMany(Array.from({ length: 50 }, (_, i) => ({ i, text })));
    const before = server.counters.bytesOut;
    assert.equal((await c.find().toArray()).length, 50);
    assert.ok(server.counters.bytesOut - before < 50_000, 'the answer was not compressed');
  });

  test('is told what shells and tools ask at their start', async () => {
    const admin = client.db('admin');
    const hello = await admin.command({ hello: 1 });
    assert.equal(hello['isWritablePrimary'], true);
    assert.equal(hello['setName'], 'frond');
    assert.deepEqual(hello['hosts'], [`127.0.0.1:${String(server.port)}`]);
    assert.equal((await admin.command({ buildInfo: 1 }))['version'], '8.0.16');
    assert.deepEqual((await admin.command({ getParameter: 1, featureCompatibilityVersion: 1 }))['featureCompatibilityVersion'], { version: '8.0' });
    await assert.rejects(admin.command({ atlasVersion: 1 }), { code: 59, message: "no such command: 'atlasVersion'" });
    assert.ok((await admin.admin().listDatabases({ nameOnly: true })).databases.some(({ name }) => name === 'test'));
    assert.ok((await db.listCollections({}, { nameOnly: true }).toArray()).some(({ name }) => name === 'things'));
    assert.equal((await admin.aggregate([{ $currentOp: {} }]).toArray()).length > 0, true);
  });

  test('is given the checksum of a GridFS file', async () => {
    const bucket = new GridFSBucket(db, { chunkSizeBytes: 1000 });
    const content = Uint8Array.from({ length: 2500 }, (_, i) => i & 0xff);
    const stream = bucket.openUploadStream('f');
    await new Promise((resolve, reject) => {
      stream.once('finish', resolve);
      stream.once('error', reject);
      stream.end(content);
    });
    const reply = await db.command({ filemd5: stream.id, root: 'fs' });
    assert.equal(reply['numChunks'], 3);
    assert.equal(reply['md5'], createHash('md5').update(content).digest('hex'));
  });

  test('sees a view as the pipeline behind it', async () => {
    await db.createCollection('evens', { viewOn: 'things', pipeline: [{ $match: { even: true } }] });
    const evens = db.collection('evens');
    assert.equal(await evens.countDocuments({}), 500);
    assert.equal((await evens.find({ i: { $lt: 10 } }).sort({ i: -1 }).toArray())[0]?.['i'], 8);
    assert.deepEqual(await evens.distinct('even'), [true]);
    await assert.rejects(evens.insertOne({}), { code: 166 });
  });

  test('counts up to a limit with dataSize, takes a write concern to read, and hears which database was dropped', async () => {
    const other = client.db('dropped');
    await other.collection('c').insertMany(Array.from({ length: 20 }, (_, i) => ({ i })));
    const { numObjects, maxReached } = await other.command({ dataSize: 'dropped.c', maxObjects: 9 });
    assert.deepEqual([Number(numObjects), maxReached], [10, true]);
    assert.equal((await other.command({ aggregate: 'c', pipeline: [], cursor: {}, writeConcern: { w: 1 } }))['ok'], 1);
    assert.equal((await other.command({ dropDatabase: 1 }))['dropped'], 'dropped');
    assert.equal('dropped' in (await other.command({ dropDatabase: 1 })), false);
  });

  test('is told of a write concern that one member cannot satisfy, after the write', async () => {
    const c = db.collection<{ _id: number }>('concern');
    await assert.rejects(c.insertOne({ _id: 1 }, { writeConcern: { w: 2 } }), { code: 100 });
    assert.deepEqual(await c.findOne({ _id: 1 }), { _id: 1 });
    await c.insertOne({ _id: 2 }, { writeConcern: { w: 'majority', journal: true } });
    const failed = await db.command({ create: 'concern', capped: true, size: 4096, writeConcern: { w: 2 } }).catch((error: unknown) => error as MongoServerError);
    assert.deepEqual([failed['code'], (failed['errorResponse'] as { writeConcernError?: { code: number } }).writeConcernError?.code], [48, 100]);
  });
});
