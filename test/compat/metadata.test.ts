// What `$meta` tells of documents: distance and place of a nearness search, the key of the index that they were found by.

import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { Collection, Document } from 'mongodb';
import { openServerForTest } from '../support/open-server-for-test.ts';

/** Metres of a degree of a great circle on MongoDB's earth of radius 6378.1 km. */
const degreeMetres = (6_378_100 * Math.PI) / 180;
const point = (longitude: number, latitude: number): Document => ({ type: 'Point', coordinates: [longitude, latitude] });

describe('$meta', async () => {
  const server = await openServerForTest();
  const client = await server.driver();
  const db = client.db('metadata');
  after(() => server.close());

  async function filled(name: string, documents: readonly Document[], index?: Document): Promise<Collection> {
    const collection = db.collection(name);
    await collection.insertMany([...documents]);
    if (index !== undefined) await collection.createIndex(index);
    return collection;
  }

  test('tells the distance and the place that a nearness search found, and sorts by the distance', async () => {
    const places = await filled('meta', [{ _id: 1, at: point(0, 2) }, { _id: 2, at: point(0, 1) }], { at: '2dsphere' });
    const distance = { $meta: 'geoNearDistance' } as const;
    const near = { $geoNear: { near: point(0, 0), distanceField: 'd', distanceMultiplier: 2 } };
    const marked = await places.aggregate([{ $match: {} }, near, { $set: { far: distance, place: { $meta: 'geoNearPoint' } } }, { $sort: { unused: distance } }]).toArray();
    assert.deepEqual(marked.map(({ _id, far, place }) => [Number(_id), Math.round(Number(far)), place as Document]), [[2, Math.round(degreeMetres), point(0, 1)], [1, Math.round(2 * degreeMetres), point(0, 2)]]);
    const found = await places.find({ at: { $near: { $geometry: point(0, 0) } } }).project({ far: distance }).toArray();
    assert.deepEqual(found.map(({ far }) => Math.round(Number(far))), [Math.round(degreeMetres), Math.round(2 * degreeMetres)]);
    await assert.rejects(places.find({}).project({ far: distance }).toArray(), { code: 40218 });
    await assert.rejects(places.aggregate([{ $sort: { far: distance } }]).toArray(), { code: 40218 });
  });

  test('$geoNear in a $lookup takes point, distances and query from the document that is joined', async () => {
    await filled('stops', [{ _id: 1, kind: 'bus', at: point(0, 1) }, { _id: 2, kind: 'tram', at: point(0, 2) }, { _id: 3, kind: 'bus', at: point(0, 9) }], { at: '2dsphere' });
    const homes = await filled('homes', [{ _id: 1, at: point(0, 0), kind: 'bus' }, { _id: 2, at: point(0, 2), kind: 'tram' }]);
    const near = { near: '$$here', maxDistance: 3 * degreeMetres, query: { $expr: { $eq: ['$kind', '$$kind'] } }, distanceField: 'd' };
    const joined = await homes.aggregate([{ $lookup: { from: 'stops', let: { here: '$at', kind: '$kind' }, pipeline: [{ $geoNear: near }, { $project: { _id: 1 } }], as: 'near' } }]).toArray();
    assert.deepEqual(joined.map(({ near: stops }) => stops as Document[]), [[{ _id: 1 }], [{ _id: 2 }]]);
  });

  test('tells the key of the index that a document was found by, one element of an array, and nothing without an index', async () => {
    const things = await filled('keys', [{ _id: 1, a: 10, tags: ['x', 'y'] }, { _id: 2, a: 30 }], { a: 1 });
    await things.createIndex({ tags: 1 });
    const key = { $meta: 'indexKey' } as const;
    assert.deepEqual(await things.find({ a: { $gt: 0 } }).project({ key, _id: 0 }).toArray(), [{ a: 10, tags: ['x', 'y'], key: { a: 10 } }, { a: 30, key: { a: 30 } }]);
    assert.deepEqual(await things.aggregate([{ $match: { tags: 'y' } }, { $project: { _id: 1, key } }]).toArray(), [{ _id: 1, key: { tags: 'y' } }]);
    assert.deepEqual(await things.aggregate([{ $set: { key } }, { $project: { key: 1 } }]).toArray(), [{ _id: 1 }, { _id: 2 }]);
    assert.deepEqual(await things.find({}).returnKey(true).toArray(), [{}, {}]);
  });
});
