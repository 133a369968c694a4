// Change streams by the official driver; what is expected is the manual's ("Change Events", "Change Streams").

import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { MongoServerError, type ChangeStream, type ChangeStreamDocument, type Collection, type Document } from 'mongodb';
import { openServerForTest } from '../support/open-server-for-test.ts';

interface Thing extends Document {
  _id: number | string;
}

/** The next so many events. */
async function take<T extends Document>(stream: ChangeStream<T>, count: number): Promise<Record<string, unknown>[]> {
  const events: Record<string, unknown>[] = [];
  for (let i = 0; i < count; i++) events.push({ ...(await stream.next()) });
  return events;
}

/** Opened: what is done from now on is in it. */
async function opened<T extends Document>(stream: ChangeStream<T>): Promise<ChangeStream<T>> {
  assert.equal(await stream.tryNext(), null);
  return stream;
}

const types = (events: readonly Record<string, unknown>[]): unknown[] => events.map((event) => event['operationType']);

describe('a change stream', async () => {
  const server = await openServerForTest({ oplogBytes: 256 * 1024 * 1024 });
  const client = await server.driver();
  const db = client.db('streams');
  let number = 0;
  after(() => server.close());

  async function fresh(options: Document = {}): Promise<Collection<Thing>> {
    return db.createCollection<Thing>(`c${String(++number)}`, options);
  }

  const watching = (collection: Collection<Thing>, options: Document = {}): Promise<ChangeStream<Thing>> =>
    opened(collection.watch([], { maxAwaitTimeMS: 20, ...options }));

  /** The event behind a token, too large to come in one piece: in fragments, small fields first, and a stream goes on behind any of them. */
  async function comesInFragments(collection: Collection<Thing>, resumeAfter: unknown): Promise<void> {
    const split = { $changeStreamSplitLargeEvent: {} };
    const behind = (token: unknown, ...stages: Document[]): ChangeStream<Thing> =>
      collection.watch(stages, { maxAwaitTimeMS: 20, fullDocument: 'required', fullDocumentBeforeChange: 'required', resumeAfter: token });
    const whole = behind(resumeAfter, split);
    const [first, second] = (await take(whole, 2)) as [Document, Document];
    assert.deepEqual([first['splitEvent'], second['splitEvent']], [{ fragment: 1, of: 2 }, { fragment: 2, of: 2 }]);
    assert.deepEqual([first['operationType'], 'fullDocument' in first, 'fullDocumentBeforeChange' in first], ['update', true, false]);
    assert.deepEqual(Object.keys(second), ['_id', 'splitEvent', 'fullDocumentBeforeChange']);
    const [rest, over, wrong] = [behind(first['_id'], split), behind(second['_id'], split), behind(first['_id'])];
    assert.deepEqual((await take(rest, 1)).map((event) => event['_id']), [second['_id']]);
    assert.equal(await over.tryNext(), null);
    await assert.rejects(wrong.next(), (error: unknown) => error instanceof MongoServerError && error.code === 280);
    const less = behind(resumeAfter, { $unset: 'fullDocumentBeforeChange' });
    assert.deepEqual(types(await take(less, 1)), ['update']);
    for (const stream of [whole, rest, over, wrong, less]) await stream.close().catch(() => undefined);
  }

  test('tells of documents that come, change and go', async () => {
    const collection = await fresh();
    const stream = await watching(collection);
    await collection.insertOne({ _id: 1, a: { b: 1, c: 1 }, list: [1] });
    await collection.updateOne({ _id: 1 }, { $set: { 'a.b': 2 }, $unset: { 'a.c': 1 }, $push: { list: 2 } as never });
    await collection.replaceOne({ _id: 1 }, { x: 1 });
    await collection.deleteOne({ _id: 1 });
    const events = await take(stream, 4);
    assert.deepEqual(types(events), ['insert', 'update', 'replace', 'delete']);
    const [inserted, updated, replaced, removed] = events as [Document, Document, Document, Document];
    assert.deepEqual(inserted['fullDocument'], { _id: 1, a: { b: 1, c: 1 }, list: [1] });
    assert.deepEqual(inserted['ns'], { db: 'streams', coll: collection.collectionName });
    assert.deepEqual(updated['updateDescription'], { updatedFields: { 'a.b': 2, 'list.1': 2 }, removedFields: ['a.c'], truncatedArrays: [] });
    assert.equal('fullDocument' in updated, false);
    assert.deepEqual(replaced['fullDocument'], { _id: 1, x: 1 });
    assert.deepEqual(removed['documentKey'], { _id: 1 });
    assert.ok(removed['wallTime'] instanceof Date);
    await stream.close();
  });

  test('goes through its pipeline, which may not change the token', async () => {
    const collection = await fresh();
    const stream = await opened(collection.watch([{ $match: { operationType: 'delete' } }, { $project: { documentKey: 1 } }], { maxAwaitTimeMS: 20 }));
    await collection.insertMany([{ _id: 1 }, { _id: 2 }]);
    await collection.deleteOne({ _id: 2 });
    const [event] = await take(stream, 1);
    assert.deepEqual(event?.['documentKey'], { _id: 2 });
    await stream.close();
    const spoilt = await opened(collection.watch([{ $project: { _id: 0 } }], { maxAwaitTimeMS: 20 }));
    await collection.insertOne({ _id: 3 });
    await assert.rejects(spoilt.next(), (error: unknown) => error instanceof MongoServerError && error.code === 280);
    await spoilt.close().catch(() => undefined);
    await assert.rejects(collection.watch([{ $group: { _id: null } }]).next(), (error: unknown) => error instanceof MongoServerError && error.code === 20);
  });

  test('looks up the document as it is now, or has it as it was', async () => {
    const collection = await fresh({ changeStreamPreAndPostImages: { enabled: true } });
    const now = await watching(collection, { fullDocument: 'updateLookup' });
    const images = await watching(collection, { fullDocument: 'required', fullDocumentBeforeChange: 'required' });
    await collection.insertOne({ _id: 1, a: 1 });
    await collection.updateOne({ _id: 1 }, { $inc: { a: 1 } });
    await collection.updateOne({ _id: 1 }, { $inc: { a: 1 } });
    await collection.deleteOne({ _id: 1 });
    const looked = await take(now, 4);
    assert.equal(looked[1]?.['fullDocument'], null);
    const kept = await take(images, 4);
    assert.deepEqual(kept.map((event) => event['fullDocument']), [{ _id: 1, a: 1 }, { _id: 1, a: 2 }, { _id: 1, a: 3 }, undefined]);
    assert.deepEqual(kept.map((event) => event['fullDocumentBeforeChange']), [undefined, { _id: 1, a: 1 }, { _id: 1, a: 2 }, { _id: 1, a: 3 }]);
    await now.close();
    await images.close();
    const plain = await fresh();
    const strict = await watching(plain, { fullDocumentBeforeChange: 'required' });
    await plain.insertOne({ _id: 1 });
    await plain.deleteOne({ _id: 1 });
    assert.deepEqual(types(await take(strict, 1)), ['insert']);
    await assert.rejects(strict.next(), (error: unknown) => error instanceof MongoServerError && error.code === 47);
    await strict.close().catch(() => undefined);
  });

  test('has large documents as they were and as they became, as long as an event holds what was asked for', async () => {
    const collection = await fresh({ changeStreamPreAndPostImages: { enabled: true } });
    const text = (letter: string, megabytes: number): string => letter.repeat(megabytes * 1024 * 1024);
    for (const _id of [1, 2]) await collection.insertOne({ _id, a: text('a', 7 * _id), b: 1 });
    const both = await watching(collection, { fullDocument: 'required', fullDocumentBeforeChange: 'required' });
    const after = await watching(collection, { fullDocument: 'required' });
    const before = await watching(collection, { fullDocumentBeforeChange: 'required' });
    for (const _id of [1, 2]) await collection.updateOne({ _id }, { $set: { b: 2 } });
    assert.deepEqual((await take(after, 2)).map((event) => event['fullDocument']), [{ _id: 1, a: text('a', 7), b: 2 }, { _id: 2, a: text('a', 14), b: 2 }]);
    assert.deepEqual((await take(before, 2)).map((event) => event['fullDocumentBeforeChange']), [{ _id: 1, a: text('a', 7), b: 1 }, { _id: 2, a: text('a', 14), b: 1 }]);
    const [small] = await take(both, 1);
    assert.equal((small?.['fullDocument'] as Thing | undefined)?.['b'], 2);
    await assert.rejects(both.next(), (error: unknown) => error instanceof MongoServerError && error.code === 10334);
    await comesInFragments(collection, small?.['_id']);
    for (const stream of [both, after, before]) await stream.close().catch(() => undefined);
  });

  test('goes on behind any event, and from a time', async () => {
    const collection = await fresh();
    const stream = await watching(collection);
    await collection.insertMany([{ _id: 1 }, { _id: 2 }, { _id: 3 }]);
    const events = await take(stream, 3);
    const ids = async (options: Document): Promise<unknown[]> => {
      const resumed = collection.watch([], { maxAwaitTimeMS: 20, ...options });
      const found: unknown[] = [];
      for (let event = await resumed.tryNext(); event !== null; event = await resumed.tryNext()) {
        found.push((event as ChangeStreamDocument<Thing> & { documentKey: Thing }).documentKey._id);
      }
      await resumed.close();
      return found;
    };
    assert.deepEqual(await ids({ resumeAfter: events[0]?.['_id'] }), [2, 3]);
    assert.deepEqual(await ids({ startAfter: events[1]?.['_id'] }), [3]);
    assert.deepEqual(await ids({ startAtOperationTime: events[0]?.['clusterTime'] }), [1, 2, 3]);
    assert.deepEqual(await ids({ resumeAfter: stream.resumeToken }), []);
    await stream.close();
  });

});

describe('a change stream beside others', async () => {
  const server = await openServerForTest();
  const client = await server.driver();
  const db = client.db('streams3');
  let number = 0;
  after(() => server.close());

  async function fresh(options: Document = {}): Promise<Collection<Thing>> {
    return db.createCollection<Thing>(`c${String(++number)}`, options);
  }

  const watching = (collection: Collection<Thing>, options: Document = {}): Promise<ChangeStream<Thing>> =>
    opened(collection.watch([], { maxAwaitTimeMS: 20, ...options }));

  test('has the operations of a transaction when it has committed, with its session', async () => {
    const collection = await fresh();
    const stream = await watching(collection);
    const session = client.startSession();
    await session.withTransaction(async () => {
      await collection.insertOne({ _id: 1 }, { session });
      await collection.deleteOne({ _id: 1 }, { session });
      assert.equal(await stream.tryNext(), null);
    });
    const events = await take(stream, 2);
    assert.deepEqual(types(events), ['insert', 'delete']);
    assert.ok(events.every((event) => 'lsid' in event && 'txnNumber' in event));
    const resumed = collection.watch([], { resumeAfter: events[0]?.['_id'] as Document, maxAwaitTimeMS: 20 });
    assert.deepEqual(types(await take(resumed, 1)), ['delete']);
    await resumed.close();
    await stream.close();
    await session.endSession();
  });

  test('of a collection ends when it is dropped or takes another name, and may start anew behind that', async () => {
    for (const end of [(collection: Collection<Thing>) => collection.drop(), (collection: Collection<Thing>) => collection.rename(`${collection.collectionName}x`)]) {
      const collection = await fresh();
      const stream = await watching(collection);
      await end(collection);
      const events = await take(stream, 2);
      assert.equal(types(events)[1], 'invalidate');
      assert.equal(await stream.tryNext().catch(() => null), null);
      const again = collection.watch([], { resumeAfter: events[0]?.['_id'] as Document, maxAwaitTimeMS: 20 });
      assert.deepEqual(types(await take(again, 1)), ['invalidate']);
      const token = events[1]?.['_id'] as Document;
      await assert.rejects(collection.watch([], { resumeAfter: token }).next(), (error: unknown) => error instanceof MongoServerError && error.code === 260);
      const anew = await opened(collection.watch([], { startAfter: token, maxAwaitTimeMS: 20 }));
      await collection.insertOne({ _id: 1 });
      assert.deepEqual(types(await take(anew, 1)), ['insert']);
      await anew.close();
    }
  });

  test('resumes behind its own events only', async () => {
    const [one, other] = [await fresh(), await fresh()];
    const stream = await watching(other);
    await other.insertOne({ _id: 1 });
    const [event] = await take(stream, 1);
    await stream.close();
    const foreign = one.watch([], { resumeAfter: event?.['_id'] as Document, maxAwaitTimeMS: 20 });
    await one.insertOne({ _id: 2 });
    await assert.rejects(foreign.next(), { code: 280 });
    // Where a stream stands without an event of its own it may be resumed.
    const own = await watching(one);
    await other.insertOne({ _id: 3 });
    assert.equal(await own.tryNext(), null);
    const resumed = one.watch([], { resumeAfter: own.resumeToken as Document, maxAwaitTimeMS: 20 });
    await one.insertOne({ _id: 4 });
    assert.deepEqual((await take(resumed, 1)).map(({ documentKey }) => documentKey), [{ _id: 4 }]);
    await own.close();
    await resumed.close();
  });

  test('of a database and of the cluster has what happens in all their collections', async () => {
    const other = client.db('streams2');
    const all = await opened(client.watch([], { maxAwaitTimeMS: 20 }));
    const one = await opened(other.watch([], { maxAwaitTimeMS: 20 }));
    await (await fresh()).insertOne({ _id: 1 });
    await other.collection<Thing>('a').insertOne({ _id: 2 });
    await other.collection<Thing>('b').insertOne({ _id: 3 });
    await other.dropDatabase();
    assert.deepEqual(types(await take(all, 6)), ['insert', 'insert', 'insert', 'drop', 'drop', 'dropDatabase']);
    assert.deepEqual(types(await take(one, 6)), ['insert', 'insert', 'drop', 'drop', 'dropDatabase', 'invalidate']);
    await all.close();
    await one.close();
  });

  test('tells more where it is asked to', async () => {
    const stream = await opened(db.watch([], { showExpandedEvents: true, maxAwaitTimeMS: 20 }));
    const collection = await fresh();
    await collection.createIndex({ a: 1 });
    await collection.insertOne({ _id: 1, list: [{ x: 1 }] });
    await collection.updateOne({ _id: 1 }, { $set: { 'list.0.x': 2 } });
    await db.command({ collMod: collection.collectionName, index: { name: 'a_1', hidden: true } });
    await collection.dropIndex('a_1');
    const events = await take(stream, 6);
    assert.deepEqual(types(events), ['create', 'createIndexes', 'insert', 'update', 'modify', 'dropIndexes']);
    assert.ok(events.every((event) => 'collectionUUID' in event));
    const description = events[3]?.['updateDescription'] as Document;
    assert.deepEqual(description['disambiguatedPaths'], { 'list.0.x': ['list', 0, 'x'] });
    await stream.close();
  });

  const refused: [string, Document, number][] = [
    ['two places to start', { resumeAfter: { _data: '00' }, startAfter: { _data: '00' } }, 50865],
    ['a token that is none', { resumeAfter: { _data: 'zz' } }, 9],
    ['an empty token', { startAfter: { _data: '' } }, 40649],
    ['a number for a boolean', { showExpandedEvents: 1 }, 14],
    ['a token without data', { resumeAfter: { x: 1 } }, 40647],
    ['an unknown kind of document', { fullDocument: 'all' }, 2],
    ['all of the cluster on a collection', { allChangesForCluster: true }, 72],
  ];
  for (const [what, options, code] of refused) {
    test(`refuses ${what}`, async () => {
      const command = { aggregate: 'any', pipeline: [{ $changeStream: options }], cursor: {} };
      await assert.rejects(db.command(command), (error: unknown) => error instanceof MongoServerError && error.code === code);
    });
  }

  test('is refused elsewhere than in front', async () => {
    const command = { aggregate: 'any', pipeline: [{ $match: {} }, { $changeStream: {} }], cursor: {} };
    await assert.rejects(db.command(command), (error: unknown) => error instanceof MongoServerError && error.code === 40602);
  });
});

test('a getMore that waits for news ends with the first of them', async () => {
  const server = await openServerForTest();
  const client = await server.driver();
  const collection = client.db('test').collection<Thing>('c');
  await collection.insertOne({ _id: 0 });
  const opened = await client.db('test').command({ aggregate: 'c', pipeline: [{ $changeStream: {} }], cursor: {} });
  const { id } = opened['cursor'] as { id: number };
  const { Long } = await import('mongodb');
  const waiting = client.db('test').command({ getMore: Long.fromValue(id), collection: 'c', maxTimeMS: 60_000 });
  await collection.insertOne({ _id: 1 });
  const reply = await waiting;
  const cursor = reply['cursor'] as Document;
  assert.equal((cursor['nextBatch'] as Document[]).length, 1);
  assert.ok(cursor['postBatchResumeToken']);
  await server.close();
});

test('a stream is resumed by a server that was started anew, and has missed nothing', async () => {
  const first = await openServerForTest();
  const before = (await first.driver()).db('test').collection<Thing>('c');
  const stream = await opened(before.watch([], { maxAwaitTimeMS: 20 }));
  await before.insertMany([{ _id: 1 }, { _id: 2 }]);
  const [event] = await take(stream, 1);
  await stream.close();
  await before.insertOne({ _id: 3 });
  await first.close();
  const second = await openServerForTest({ env: first.env });
  const again = (await second.driver()).db('test').collection<Thing>('c');
  await again.insertOne({ _id: 4 });
  const resumed = again.watch([], { resumeAfter: event?.['_id'] as Document, maxAwaitTimeMS: 20 });
  const keys = (await take(resumed, 3)).map((each) => (each['documentKey'] as Thing)._id);
  assert.deepEqual(keys, [2, 3, 4]);
  await resumed.close();
  await second.close();
});

test('a stream whose past is gone is told so', async () => {
  const server = await openServerForTest({ oplogBytes: 64 * 1024 });
  const client = await server.driver();
  const collection = client.db('test').collection<Thing>('c');
  await collection.insertOne({ _id: 0 });
  const stream = await opened(collection.watch([], { maxAwaitTimeMS: 20 }));
  await collection.insertOne({ _id: 1 });
  const [event] = await take(stream, 1);
  for (let i = 2; i < 40; i++) {
    await collection.insertOne({ _id: i, text: 'x'.repeat(4000) });
    await server.trimOplog();
  }
  await assert.rejects(
    collection.watch([], { resumeAfter: event?.['_id'] as Document }).next(),
    (error: unknown) => error instanceof MongoServerError && error.code === 286 && error.hasErrorLabel('NonResumableChangeStreamError'),
  );
  await stream.close();
  await server.close();
});
