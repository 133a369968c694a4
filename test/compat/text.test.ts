// Text indexes and `$text` through a driver. Expectations are those of the manual's pages "Text Indexes", "$text" and "$meta".

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Collection, Db } from 'mongodb';
import { openServerForTest } from '../support/open-server-for-test.ts';

interface Article {
  _id: number;
  subject?: string;
  body?: string;
  views?: number;
  score?: number;
  term?: string;
}

async function withArticles(work: (collection: Collection<Article>, db: Db) => Promise<void>): Promise<void> {
  const server = await openServerForTest();
  try {
    const client = await server.driver();
    const db = client.db('test');
    const collection = db.collection<Article>('articles');
    await collection.insertMany([
      { _id: 1, subject: 'coffee', views: 50 },
      { _id: 2, subject: 'Coffee Shopping', views: 5 },
      { _id: 3, subject: 'Baking a cake', body: 'with coffee', views: 90 },
      { _id: 4, subject: 'baking', views: 100 },
      { _id: 5, subject: 'Café Con Leche', views: 200 },
      { _id: 6, views: 1 },
    ]);
    await work(collection, db);
  } finally {
    await server.close();
  }
}
const ids = (documents: readonly Article[]): number[] => documents.map(({ _id }) => _id);

test('a text index is listed with what was left out, and a collection has one', async () => {
  await withArticles(async (c) => {
    assert.equal(await c.createIndex({ subject: 'text', body: 'text' }, { weights: { subject: 10 } }, {}), 'subject_text_body_text');
    const listed: unknown = (await c.listIndexes().toArray())[1];
    assert.deepEqual(listed, {
      v: 2,
      key: { _fts: 'text', _ftsx: 1 },
      name: 'subject_text_body_text',
      weights: { body: 1, subject: 10 },
      default_language: 'english',
      language_override: 'language',
      textIndexVersion: 3,
    });
    await c.createIndex({ subject: 'text', body: 'text' }, { weights: { subject: 10 } }, {});
    await assert.rejects(c.createIndex({ body: 'text' }, {}, {}), { code: 85 });
    await assert.rejects(c.createIndex({ a: 'text' }, { name: 'other', default_language: 'klingon' }, {}), { code: 67 });
    await c.dropIndex('subject_text_body_text');
    await c.createIndex({ dummy: 'text' }, { weights: '$**' as never }, {});
    assert.equal((await c.find({ $text: { $search: 'coffee' } }).toArray()).length > 0, true);
    await c.dropIndexes();
    await assert.rejects(c.find({ $text: { $search: 'coffee' } }).toArray(), { code: 27 });
  });
});

test('finds give scores to projections and sorts', async () => {
  await withArticles(async (c) => {
    await c.createIndex({ subject: 'text', body: 'text' }, { weights: { subject: 10 } }, {});
    const score = { $meta: 'textScore' } as const;
    const found = await c.find({ $text: { $search: 'coffee' } }, { projection: { _id: 1, score } }).sort({ score }).toArray();
    assert.deepEqual(found, [{ _id: 1, score: 10 }, { _id: 2, score: 7.5 }, { _id: 3, score: 1 }]);
    assert.deepEqual(ids(await c.find({ $text: { $search: 'bake coffee -shop' } }).sort({ _id: 1 }).toArray()), [1, 3, 4]);
    assert.deepEqual(ids(await c.find({ $text: { $search: 'cafe leche' }, views: { $gt: 100 } }).toArray()), [5]);
    assert.equal(await c.countDocuments({ $text: { $search: '"baking a cake"' } }), 1);
    assert.deepEqual(ids(await c.find({ $or: [{ $text: { $search: 'leche' } }, { _id: 6 }] }).sort({ _id: 1 }).toArray()), [5, 6]);
    await assert.rejects(c.find({ $or: [{ $text: { $search: 'leche' } }, { views: 1 }] }).toArray(), { code: 291 });
    await assert.rejects(c.find({}, { projection: { score } }).toArray(), { code: 40218 });
    await assert.rejects(c.find({ $text: { $search: 'a' } }).hint({ _id: 1 }).toArray(), { code: 2 });
    await assert.rejects(c.find({ $nor: [{ $text: { $search: 'a' } }] }).toArray(), { code: 2 });
  });
});

test('pipelines search first, and carry the score on', async () => {
  await withArticles(async (c) => {
    await c.createIndex({ '$**': 'text' });
    const score = { $meta: 'textScore' } as const;
    const $match = { $text: { $search: 'coffee' } };
    assert.deepEqual(await c.aggregate([{ $match }, { $sort: { score } }, { $project: { subject: 1, _id: 0 } }, { $limit: 1 }]).toArray(), [{ subject: 'coffee' }]);
    assert.deepEqual(await c.aggregate([{ $match }, { $unwind: '$subject' }, { $addFields: { score } }, { $match: { score: { $gte: 1 } } }, { $project: { score: 1 } }, { $sort: { _id: 1 } }]).toArray(), [{ _id: 1, score: 1 }, { _id: 3, score: 1 }]);
    assert.deepEqual(await c.aggregate([{ $match }, { $group: { _id: null, n: { $sum: 1 }, most: { $max: score } } }]).toArray(), [{ _id: null, n: 3, most: 1 }]);
    await assert.rejects(c.aggregate([{ $limit: 1 }, { $match }]).toArray(), { code: 17313 });
  });
});

test('a field in front of the texts must be bound by what the index can compare', async () => {
  await withArticles(async (c) => {
    await c.createIndex({ body: 1, subject: 'text' });
    const search = { body: 'with coffee', $text: { $search: 'cake' } };
    assert.deepEqual(ids(await c.find(search).toArray()), [3]);
    await assert.rejects(c.find(search, { collation: { locale: 'en', strength: 2 } }).toArray(), { code: 291 });
    assert.equal(await c.countDocuments({ $and: [search, { views: 90 }] }), 1);
  });
});

test('a unique text index refuses an equal term with an equal score', async () => {
  await withArticles(async (c) => {
    await c.createIndex({ subject: 'text' }, { unique: true, name: 'once' }, {});
    await assert.rejects(c.insertOne({ _id: 7, subject: 'Coffee' }), { code: 11000 });
    await c.insertOne({ _id: 8, subject: 'coffee makes three' });
    await assert.rejects(c.updateOne({ _id: 4 }, { $set: { subject: 'coffee' } }), { code: 11000 });
    assert.equal((await c.updateOne({ _id: 1 }, { $set: { views: 1 } })).modifiedCount, 1);
  });
});

test('writes search, and change the entries', async () => {
  await withArticles(async (c) => {
    await c.createIndex({ views: 1, subject: 'text' });
    await assert.rejects(c.find({ $text: { $search: 'coffee' } }).toArray(), { code: 291 });
    const coffee = { $text: { $search: 'coffee' } };
    assert.equal((await c.updateOne({ views: 50, ...coffee }, { $set: { subject: 'tea' } })).modifiedCount, 1);
    assert.equal((await c.updateOne({ _id: 1, views: 50, ...coffee }, { $set: { subject: 'milk' } })).matchedCount, 0);
    assert.deepEqual(ids(await c.find({ views: 50, $text: { $search: 'teas' } }).toArray()), [1]);
    assert.equal((await c.deleteMany({ views: 5, ...coffee })).deletedCount, 1);
    assert.equal(await c.countDocuments({ views: 5, ...coffee }), 0);
    await assert.rejects(c.insertOne({ _id: 9, views: [1, 2], subject: 'a tree' } as never), { code: 16675 });
  });
});

test('a unique text index has each word once with each weight, as MongoDB has it', async () => {
  await withArticles(async (c) => {
    await c.createIndexes([{ key: { subject: 'text' }, unique: true }]);
    await assert.rejects(c.insertOne({ _id: 10, subject: 'coffee' }), { code: 11_000 });
    await c.insertOne({ _id: 11, subject: 'coffee with milk and sugar' });
    await c.insertOne({ _id: 12 });
    assert.deepEqual(ids(await c.find({ $text: { $search: 'milk' } }).toArray()), [11]);
  });
});
