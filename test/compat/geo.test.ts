// Geospatial queries through the official driver: values of the manual and of plain geometry, and that what an index finds is what a scan finds.

import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { Collection, Document } from 'mongodb';
import { SimRandom } from '../sim/sim-random.ts';
import { openServerForTest } from '../support/open-server-for-test.ts';

/** Metres of a degree of a great circle on MongoDB's earth of radius 6378.1 km. */
const degreeMetres = (6_378_100 * Math.PI) / 180;

const point = (longitude: number, latitude: number): Document => ({ type: 'Point', coordinates: [longitude, latitude] });
const square = (west: number, south: number, east: number, north: number): number[][] => [[west, south], [east, south], [east, north], [west, north], [west, south]];

describe('geospatial queries', async () => {
  const server = await openServerForTest();
  const client = await server.driver();
  const db = client.db('geo');
  after(() => server.close());

  async function filled(name: string, documents: readonly Document[], index?: Document): Promise<Collection> {
    const collection = db.collection(name);
    await collection.insertMany([...documents]);
    if (index !== undefined) await collection.createIndex(index);
    return collection;
  }

  const idsOf = async (collection: Collection, filter: Document): Promise<unknown[]> => (await collection.find(filter).toArray()).map(({ _id }) => _id as unknown);
  const sortedIds = async (collection: Collection, filter: Document): Promise<unknown[]> => (await idsOf(collection, filter)).sort((a, b) => Number(a) - Number(b));

  test('$geoWithin takes what is inside or on the edge, and leaves out what is in a hole', async () => {
    const places = await filled('within', [
      { _id: 1, at: point(1, 1) }, { _id: 2, at: point(5, 5) }, { _id: 3, at: point(0, 0) }, { _id: 4, at: point(20, 20) }, { _id: 5, at: [2, 2] }, { _id: 6 }, { _id: 7, at: 'nowhere' },
    ]);
    const area = { type: 'Polygon', coordinates: [square(0, 0, 10, 10), square(4, 4, 6, 6)] };
    assert.deepEqual(await sortedIds(places, { at: { $geoWithin: { $geometry: area } } }), [1, 3, 5]);
    assert.deepEqual(await sortedIds(places, { at: { $geoIntersects: { $geometry: area } } }), [1, 3, 5]);
  });

  test('an edge is an arc of a great circle, not a line of the map', async () => {
    // Half way between (-90, 45) and (90, 45) the arc goes over the pole; between (0, 45) and (90, 45) it rises to 54.7 degrees.
    const places = await filled('arc', [{ _id: 1, at: point(45, 54) }, { _id: 2, at: point(45, 55.5) }]);
    const area = { type: 'Polygon', coordinates: [[[0, 0], [90, 0], [90, 45], [0, 45], [0, 0]]] };
    assert.deepEqual(await idsOf(places, { at: { $geoWithin: { $geometry: area } } }), [1]);
  });

  test('shapes over the antimeridian and the pole are whole', async () => {
    const places = await filled('date line', [{ _id: 1, at: point(179.5, 0) }, { _id: 2, at: point(-179.5, 0) }, { _id: 3, at: point(0, 0) }, { _id: 4, at: point(100, 89) }], { at: '2dsphere' });
    assert.deepEqual(await sortedIds(places, { at: { $geoWithin: { $geometry: { type: 'Polygon', coordinates: [square(179, -1, -179, 1)] } } } }), [1, 2]);
    assert.deepEqual(await sortedIds(places, { at: { $geoWithin: { $centerSphere: [[0, 90], (2 * Math.PI) / 180] } } }), [4]);
    assert.deepEqual(await idsOf(places, { at: { $near: { $geometry: point(179.9, 0), $maxDistance: degreeMetres } } }), [1, 2]);
  });

  test('$near orders by distance and keeps to its bounds', async () => {
    const places = await filled('near', [3, 1, 2, 0.5].map((degrees, i) => ({ _id: i, at: point(0, degrees) })), { at: '2dsphere' });
    assert.deepEqual(await idsOf(places, { at: { $near: { $geometry: point(0, 0) } } }), [3, 1, 2, 0]);
    assert.deepEqual(await idsOf(places, { at: { $near: { $geometry: point(0, 0), $minDistance: degreeMetres * 0.9, $maxDistance: degreeMetres * 2.1 } } }), [1, 2]);
    assert.deepEqual((await places.find({ at: { $nearSphere: { $geometry: point(0, 0) } } }).limit(2).toArray()).map(({ _id }) => Number(_id)), [3, 1]);
    assert.match(JSON.stringify(await places.find({ at: { $near: { $geometry: point(0, 0) } } }).explain()), /"stage":"GEO_NEAR_2DSPHERE"/);
  });

  test('$near without an index is refused, and below $or too', async () => {
    const places = await filled('unindexed', [{ _id: 1, at: [1, 1] }]);
    await assert.rejects(idsOf(places, { at: { $near: [0, 0] } }), { code: 291 });
    await assert.rejects(idsOf(places, { $or: [{ at: { $near: [0, 0] } }, { _id: 1 }] }), { code: 2 });
    await assert.rejects(places.countDocuments({ at: { $near: [0, 0] } }), { code: 5626500 });
  });

  test('legacy pairs on the plane: boxes, circles, polygons and nearness, with their edges', async () => {
    const places = await filled('flat', [{ _id: 1, at: [0, 0] }, { _id: 2, at: [3, 4] }, { _id: 3, at: { x: 10, y: 10 } }, { _id: 4, at: [[50, 50], [60, 60]] }], { at: '2d' });
    assert.deepEqual(await sortedIds(places, { at: { $geoWithin: { $box: [[0, 0], [10, 10]] } } }), [1, 2, 3]);
    assert.deepEqual(await sortedIds(places, { at: { $geoWithin: { $center: [[0, 0], 5] } } }), [1, 2]);
    assert.deepEqual(await sortedIds(places, { at: { $geoWithin: { $polygon: [[-1, -1], [4, -1], [4, 5]] } } }), [1]);
    assert.deepEqual(await sortedIds(places, { at: { $geoWithin: { $polygon: [[0, 0], [0, 0], [3, 4]] } } }), [1, 2]);
    assert.deepEqual(await idsOf(places, { at: { $near: [11, 11], $maxDistance: 20 } }), [3, 2, 1]);
    assert.deepEqual(await idsOf(places, { at: { $geoWithin: { $center: [[60, 60], 1] } } }), [4]);
  });

  test('a circle of the plane has its edge, whatever its numbers round to; a polygon whose winding counts is searched with and not for', async () => {
    const c = await filled('edges', [{ _id: 1, at: { x: 4.9999, y: 52 } }, { _id: 2, at: { x: 5.0001, y: 52 } }, { _id: 3, at: { x: 5, y: 52.0001 } }, { _id: 4, at: { x: 5, y: 51.9999 } }, { _id: 5, at: { x: 4.9999, y: 52.0001 } }]);
    assert.deepEqual(await sortedIds(c, { at: { $geoWithin: { $center: [[5, 52], 0.0001] } } }), [1, 2, 3, 4]);
    const crs = { type: 'name', properties: { name: 'urn:x-mongodb:crs:strictwinding:EPSG:4326' } };
    const shapes = await filled('strict', [{ _id: 1, at: { type: 'Polygon', coordinates: [square(-5, -5, 5, 5)], crs } }, { _id: 2, at: point(0, 0) }]);
    assert.deepEqual(await sortedIds(shapes, { at: { $geoWithin: { $geometry: { type: 'Polygon', coordinates: [square(-20, -20, 20, 20)], crs } } } }), [2]);
    await assert.rejects(shapes.createIndex({ at: '2dsphere' }), { code: 16755 });
  });

  test('$geoNear tells distances in metres, or in radians, times a factor', async () => {
    const places = await filled('geoNear', [{ _id: 1, kind: 'a', at: point(0, 1) }, { _id: 2, kind: 'b', at: point(0, 2) }, { _id: 3, kind: 'a', at: point(0, 3) }], { at: '2dsphere' });
    const found = await places.aggregate([{ $geoNear: { near: point(0, 0), distanceField: 'how.far', includeLocs: 'where', query: { kind: 'a' }, distanceMultiplier: 0.001 } }, { $limit: 5 }]).toArray();
    assert.deepEqual(found.map(({ _id, how }) => [Number(_id), Math.round((how as { far: number }).far * 1000)]), [[1, Math.round(degreeMetres)], [3, Math.round(3 * degreeMetres)]]);
    assert.deepEqual(found[0]?.['where'], point(0, 1));
    const radians = await places.aggregate([{ $geoNear: { near: [0, 0], spherical: true, distanceField: 'd', key: 'at' } }]).toArray();
    assert.ok(Math.abs(Number(radians[0]?.['d']) - Math.PI / 180) < 1e-9);
    await assert.rejects(db.collection('unindexed').aggregate([{ $geoNear: { near: [0, 0], distanceField: 'd' } }]).toArray(), { code: 27 });
  });

  test('what is no shape is refused by a query, and by an index of shapes', async () => {
    const places = await filled('faults', [{ _id: 1 }], { at: '2dsphere' });
    const within = async ($geometry: Document): Promise<unknown> => await idsOf(places, { at: { $geoWithin: { $geometry } } });
    await assert.rejects(within({ type: 'Polygon', coordinates: [[[0, 0], [1, 1], [1, 0]]] }), { code: 2 });
    await assert.rejects(within({ type: 'Polygon', coordinates: [[[0, 0], [2, 2], [2, 0], [0, 2], [0, 0]]] }), { code: 2 });
    await assert.rejects(within(point(0, 0)), { code: 2 });
    await assert.rejects(within({ type: 'Circle', coordinates: [0, 0] }), { code: 2 });
    await assert.rejects(idsOf(places, { at: { $geoIntersects: { $geometry: point(200, 0) } } }), { code: 2 });
    await assert.rejects(places.insertOne({ at: point(200, 0) }), { code: 16755 });
    await assert.rejects(places.insertOne({ at: 'here' }), { code: 16755 });
    await assert.rejects(filled('faults flat', [{ _id: 1, at: [500, 0] }], { at: '2d' }), { code: 13027 });
    assert.equal(await places.countDocuments({}), 1);
  });

  test('an index finds what a scan finds: points, lines and areas, within and meeting random regions', async () => {
    const random = new SimRandom(5).fork('shapes');
    const near = (centre: number, spread: number): number => centre + (random.fraction() - 0.5) * spread;
    const shape = (i: number): Document => {
      const [x, y] = [near(0, 340), near(0, 160)];
      if (i % 3 === 0) return { type: 'LineString', coordinates: [[x, y], [Math.max(-180, Math.min(180, x + 4)), y + 3]] };
      if (i % 3 === 1) return { type: 'Polygon', coordinates: [square(x, y, Math.min(180, x + 3), y + 2)] };
      return point(x, y);
    };
    const documents = Array.from({ length: 400 }, (_, i) => ({ _id: i, group: i % 4, at: shape(i) }));
    const scanned = await filled('scanned', documents);
    const indexed = await filled('indexed', documents, { group: 1, at: '2dsphere' });
    await indexed.createIndex({ at: '2dsphere' });
    let found = 0;
    for (let round = 0; round < 60; round++) {
      const [x, y, size] = [near(0, 300), near(0, 120), 2 + random.below(40)];
      const area = { type: 'Polygon', coordinates: [square(Math.max(-180, x - size), Math.max(-89, y - size / 2), Math.min(180, x + size), Math.min(89, y + size / 2))] };
      const filters: Document[] = [
        { at: { $geoWithin: { $geometry: area } } }, { at: { $geoIntersects: { $geometry: area } } }, { at: { $geoWithin: { $centerSphere: [[x, y], size / 60] } } },
        { group: round % 4, at: { $geoIntersects: { $geometry: area } } },
      ];
      for (const filter of filters) {
        const expected = await sortedIds(scanned, filter);
        found += expected.length;
        assert.deepEqual(await sortedIds(indexed, filter), expected, JSON.stringify(filter));
      }
    }
    assert.ok(found > 500);
    assert.equal((await db.command({ validate: 'indexed' }))['valid'], true);
  });

  test('nearness through rings gives the order of plain distances', async () => {
    const random = new SimRandom(6).fork('points');
    const places = Array.from({ length: 600 }, (_, i) => ({ _id: i, at: [random.fraction() * 360 - 180, random.fraction() * 180 - 90] }));
    const flat = await filled('rings flat', places, { at: '2d' });
    const sphere = await filled('rings', places, { at: '2dsphere' });
    for (let round = 0; round < 10; round++) {
      const centre = [random.fraction() * 300 - 150, random.fraction() * 160 - 80];
      const byPlane = places.map(({ _id, at }) => ({ _id, d: Math.hypot((at[0] ?? 0) - (centre[0] ?? 0), (at[1] ?? 0) - (centre[1] ?? 0)) })).sort((a, b) => a.d - b.d);
      assert.deepEqual((await flat.find({ at: { $near: centre } }).limit(20).toArray()).map(({ _id }) => Number(_id)), byPlane.slice(0, 20).map(({ _id }) => _id));
      const all = await idsOf(sphere, { at: { $nearSphere: centre } });
      const first = (await sphere.find({ at: { $nearSphere: centre } }).limit(25).toArray()).map(({ _id }) => _id as unknown);
      assert.equal(all.length, places.length);
      assert.deepEqual(first, all.slice(0, 25));
    }
  });
});
