// Hashed and wildcard indexes: what is refused, what serves which query, and the hash itself. Expectations are MongoDB's (manual: "Hashed Indexes",
// "Wildcard Indexes"); that their answers are those of a scan is in index-or-scan.property.test.ts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BsonArray, Document, hashValue } from '../../src/bson/index.ts';
import type { Value } from '../../src/bson/index.ts';
import type { Catalog } from '../../src/catalog/index.ts';
import { assertWhole, doc, insertAll, openOverModel, people, refusal, spec } from '../catalog/catalog-for-test.ts';
import { find, planFor } from './plan-for-test.ts';

async function summary(catalog: Catalog, filter: Document, more: { sort?: Document; hint?: Value } = {}): Promise<string> {
  const txn = catalog.begin('read');
  try {
    return (await planFor(catalog, txn, { filter, ...more })).summary;
  } finally {
    txn.abort();
  }
}
const ids = (documents: readonly Document[]): (Value | undefined)[] => documents.map((document) => document.get('_id')).sort();

test('the hash is MongoDB\'s: of numbers the whole part counts', () => {
  assert.equal(hashValue('hello'), 5347277839332858538n);
  assert.equal(hashValue(7), hashValue(7n));
});

test('a hashed index serves equality, refuses arrays and uniqueness', async () => {
  const catalog = await openOverModel();
  await catalog.createIndexes(people, [spec({ a: 'hashed' })]);
  await insertAll(catalog, [doc({ _id: 1, a: 5 }), doc({ _id: 2, a: 'x' }), doc({ _id: 3 }), doc({ _id: 4, a: doc({ b: 1 }) })]);
  assert.match(await summary(catalog, doc({ a: 5 })), /^IXSCAN/);
  assert.match(await summary(catalog, doc({ a: doc({ $gt: 5 }) })), /^COLLSCAN/);
  assert.deepEqual(ids(await find(catalog, { filter: doc({ a: null }) })), [3]);
  assert.deepEqual(ids(await find(catalog, { filter: doc({ a: doc({ $in: BsonArray.of([5, 'x']) }) }) })), [1, 2]);
  assert.deepEqual(ids(await find(catalog, { filter: doc({ a: doc({ b: 1 }) }) })), [4]);
  await assert.rejects(insertAll(catalog, [doc({ _id: 5, a: BsonArray.of([1]) })]), refusal(16766));
  await assert.rejects(catalog.createIndexes(people, [spec({ b: 'hashed' }, { unique: true })]), refusal(16764));
  await assert.rejects(catalog.createIndexes(people, [spec({ b: 'hashed', c: 'hashed' })]), refusal(31303));
  await assertWhole(catalog);
});

test('a wildcard index serves any path, one at a time, and a compound one its plain fields too', async () => {
  const catalog = await openOverModel();
  await catalog.createIndexes(people, [spec({ '$**': 1 })]);
  await insertAll(catalog, [
    doc({ _id: 1, a: doc({ b: 5 }) }),
    doc({ _id: 2, a: BsonArray.of([doc({ b: 5 }), doc({ b: 7 })]), z: 1 }),
    doc({ _id: 3, t: 'x' }),
    doc({ _id: 4, a: BsonArray.empty }),
  ]);
  assert.match(await summary(catalog, doc({ 'a.b': 5 })), /^FETCH|^IXSCAN/);
  assert.deepEqual(ids(await find(catalog, { filter: doc({ 'a.b': 5 }), hint: '$**_1' })), [1, 2]);
  assert.deepEqual(ids(await find(catalog, { filter: doc({ a: doc({ $exists: true }) }), hint: '$**_1' })), [1, 2, 4]);
  assert.deepEqual(ids(await find(catalog, { filter: doc({ a: BsonArray.empty }), hint: '$**_1' })), [4]);
  assert.deepEqual(ids(await find(catalog, { filter: doc({ 'a.1.b': 7 }), hint: '$**_1' })), [2]);
  await assert.rejects(find(catalog, { filter: doc({ _id: 1 }), hint: '$**_1' }), refusal(291));
  await assert.rejects(find(catalog, { filter: doc({ 'a.b': null }), hint: '$**_1' }), refusal(291));
  await catalog.createIndexes(people, [spec({ 'a.0.$**': 1 })]);
  assert.deepEqual(ids(await find(catalog, { filter: doc({ 'a.0.b': 5 }) })), [2]);
  await assert.rejects(find(catalog, { filter: doc({ 'a.0.b': 5 }), hint: 'a.0.$**_1' }), refusal(291), 'the elements of an array have no entries there');
  await catalog.createIndexes(people, [spec({ z: 1, 't.$**': 1 })]);
  assert.match(await summary(catalog, doc({ z: 1 }), { hint: 'z_1_t.$**_1' }), /IXSCAN/);
  await assertWhole(catalog);
});

test('a wildcard index refuses what MongoDB refuses', async () => {
  const catalog = await openOverModel();
  const create = (key: Record<string, Value>, options: Record<string, Value> = {}): Promise<unknown> => catalog.createIndexes(people, [spec(key, options)]);
  await assert.rejects(create({ '$**': 1 }, { unique: true }), refusal(67));
  await assert.rejects(create({ 'a.$**.b': 1 }), refusal(67));
  await assert.rejects(create({ '$**': 1, 'b.$**': 1 }), refusal(7246201));
  await assert.rejects(create({ '$**': 1 }, { wildcardProjection: Document.empty }), refusal(9));
  await assert.rejects(create({ a: 1 }, { wildcardProjection: doc({ a: 1 }) }), refusal(2));
  await assert.rejects(create({ '$**': 1 }, { wildcardProjection: doc({ a: 'x' }) }), refusal(51271));
  await assert.rejects(create({ a: 1, '$**': 1 }, { wildcardProjection: doc({ b: 0 }) }), refusal(7246209));
  await create({ a: 1, '$**': 1 }, { wildcardProjection: doc({ a: 0 }) });
  await assert.rejects(insertAll(catalog, [doc({ _id: 1, a: BsonArray.of([1]) })]), refusal(7246301));
});

test('a wildcard index does not serve a negation that is true of arrays without documents', async () => {
  const catalog = await openOverModel();
  await catalog.createIndexes(people, [spec({ 'c.$**': 1 })]);
  await insertAll(catalog, [doc({ _id: 1, c: BsonArray.empty }), doc({ _id: 2, c: BsonArray.of([5]) }), doc({ _id: 3, c: doc({ x: 1 }) }), doc({ _id: 4 })]);
  assert.deepEqual(ids(await find(catalog, { filter: doc({ 'c.x': doc({ $ne: null }) }) })), [1, 2, 3]);
  assert.match(await summary(catalog, doc({ 'c.x': doc({ $exists: true }) })), /^IXSCAN/);
  assert.deepEqual(ids(await find(catalog, { filter: doc({ c: doc({ $nin: BsonArray.of([null]) }) }) })), [1, 2, 3]);
  await insertAll(catalog, [doc({ _id: 5, c: BsonArray.of([BsonArray.empty]) })]);
  assert.deepEqual(ids(await find(catalog, { filter: doc({ c: doc({ $elemMatch: doc({ x: doc({ $nin: BsonArray.empty }) }) }) }) })), [5]);
});
