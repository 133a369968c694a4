import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BsonArray, Document, Double } from '../../src/bson/index.ts';
import type { Value } from '../../src/bson/index.ts';
import type { Catalog } from '../../src/catalog/index.ts';
import { doc, insertAll, openForTest, people, refusal, spec } from '../catalog/catalog-for-test.ts';
import { count, distinct, explain, find, run, stages } from './plan-for-test.ts';

const list = (...items: Value[]): BsonArray => BsonArray.of(items);

/** Rows 0 .. size-1: `a` is the row modulo 10, `b` the row, `c` a text. */
async function numbers(size: number, ...indexes: readonly Document[]): Promise<Catalog> {
  const { catalog } = await openForTest();
  await catalog.createIndexes(people, indexes);
  const rows = Array.from({ length: size }, (_, i) => doc({ _id: i, a: i % 10, b: i, c: `text ${String(i).padStart(6, '0')}` }));
  for (let i = 0; i < rows.length; i += 500) await insertAll(catalog, rows.slice(i, i + 500));
  return catalog;
}

const bounds = async (catalog: Catalog, filter: Document, more: { readonly sort?: Document } = {}): Promise<unknown> => {
  let stage = (await explain(catalog, { filter, ...more })).get('winningPlan');
  while (stage instanceof Document && !stage.has('indexBounds')) stage = stage.get('inputStage');
  assert(stage instanceof Document);
  const shown = stage.get('indexBounds');
  assert(shown instanceof Document);
  return Object.fromEntries(shown.fields.map(([path, intervals]) => [path, intervals instanceof BsonArray ? intervals.items() : intervals]));
};

test('without an index a query scans the collection, and says so', async () => {
  const catalog = await numbers(20);
  assert.deepEqual(await stages(catalog, { filter: doc({ a: 1 }) }), ['COLLSCAN']);
  const stats = await run(catalog, { filter: doc({ a: 1 }) });
  assert.deepEqual([stats.get('nReturned'), stats.get('totalKeysExamined'), stats.get('totalDocsExamined')], [2, 0, 20]);
});

test('an equality on _id alone is a lookup', async () => {
  const catalog = await numbers(20);
  assert.deepEqual(await stages(catalog, { filter: doc({ _id: 7 }) }), ['IDHACK']);
  assert.deepEqual((await find(catalog, { filter: doc({ _id: new Double(7) }) })).map((each) => each.get('b')), [7]);
});

test('an equality on an indexed field scans its entries and fetches their documents', async () => {
  const catalog = await numbers(20, spec({ a: 1 }));
  assert.deepEqual(await stages(catalog, { filter: doc({ a: 1 }) }), ['FETCH', 'IXSCAN']);
  const stats = await run(catalog, { filter: doc({ a: 1 }) });
  assert.deepEqual([stats.get('nReturned'), stats.get('totalKeysExamined'), stats.get('totalDocsExamined')], [2, 2, 2]);
});

test('bounds are printed as MongoDB prints them, by type', async () => {
  const catalog = await numbers(10, spec({ b: 1 }), spec({ c: -1, a: 1 }));
  assert.deepEqual(await bounds(catalog, doc({ b: 5 })), { b: ['[5, 5]'] });
  assert.deepEqual(await bounds(catalog, doc({ b: doc({ $gt: 5 }) })), { b: ['(5, inf.0]'] });
  assert.deepEqual(await bounds(catalog, doc({ b: doc({ $gte: 2, $lt: 5 }) })), { b: ['[2, 5)'] });
  assert.deepEqual(await bounds(catalog, doc({ b: doc({ $in: list(3, 1) }) })), { b: ['[1, 1]', '[3, 3]'] });
  assert.deepEqual(await bounds(catalog, doc({ b: doc({ $ne: 3 }) })), { b: ['[MinKey, 3)', '(3, MaxKey]'] });
  assert.deepEqual(await bounds(catalog, doc({ c: doc({ $gte: 'm' }) })), { c: ['({}, "m"]'], a: ['[MinKey, MaxKey]'] });
  assert.deepEqual(await bounds(catalog, doc({ c: 'x', a: doc({ $lt: 3 }) })), { c: ['["x", "x"]'], a: ['[-inf.0, 3)'] });
  assert.deepEqual(await bounds(catalog, doc({ c: doc({ $regex: '^te' }) })), { c: ['[/^te/, /^te/]', '("tf", "te"]'], a: ['[MinKey, MaxKey]'] });
});

test('a query whose projection the index holds fetches nothing and keeps number types', async () => {
  const { catalog } = await openForTest();
  await catalog.createIndexes(people, [spec({ a: 1, b: 1 })]);
  await insertAll(catalog, [doc({ _id: 1, a: 1, b: new Double(2) }), doc({ _id: 2, a: 1, b: 3n }), doc({ _id: 3, a: 1 })]);
  const query = { filter: doc({ a: 1 }), projection: doc({ _id: 0, a: 1, b: 1 }) };
  assert.deepEqual(await stages(catalog, query), ['PROJECTION_COVERED', 'IXSCAN']);
  const rows = await find(catalog, query);
  assert.deepEqual(rows.map((row) => row.get('b')), [undefined, new Double(2), 3n]);
  assert.equal((await run(catalog, { filter: doc({ a: 1, b: doc({ $gt: 0 }) }), projection: query.projection })).get('totalDocsExamined'), 0);
});

test('a clustering index gives documents without fetching', async () => {
  const catalog = await numbers(50, spec({ a: 1 }, { clustering: true }));
  const query = { filter: doc({ a: doc({ $gte: 8 }), c: doc({ $regex: '9$' }) }) };
  assert.deepEqual(await stages(catalog, query), ['IXSCAN']);
  assert.equal((await find(catalog, query)).length, 5);
  const stats = await run(catalog, query);
  assert.deepEqual([stats.get('totalKeysExamined'), stats.get('totalDocsExamined')], [10, 0]);
});

test('a range of large documents is read to its end, in batches of bytes', async () => {
  const { catalog } = await openForTest();
  const large = Array.from({ length: 300 }, (_, i) => doc({ _id: i, a: i % 3, pad: 'x'.repeat(20_000) }));
  await insertAll(catalog, large);
  await catalog.createIndexes(people, [spec({ a: 1 }, { clustering: true })]);
  for (const filter of [doc({ _id: doc({ $gte: 0 }) }), doc({ a: doc({ $gte: 0 }) }), doc({ a: doc({ $in: BsonArray.of([0, 1, 2]) }) })]) {
    assert.equal((await find(catalog, { filter })).length, 300);
    assert.equal(await count(catalog, { filter }), 300);
  }
});

test('a condition on a later field is tested on the entry, before any document is fetched', async () => {
  const catalog = await numbers(100, spec({ a: 1, c: 1 }));
  const stats = await run(catalog, { filter: doc({ a: doc({ $gte: 5 }), c: doc({ $regex: '5$' }) }) });
  assert.deepEqual([stats.get('totalKeysExamined'), stats.get('totalDocsExamined'), stats.get('nReturned')], [50, 10, 10]);
});

test('an index gives the order of a sort, both ways, behind equalities, and merged behind $in', async () => {
  const catalog = await numbers(100, spec({ a: 1, b: 1 }));
  const query = { filter: doc({ a: 3 }), sort: doc({ b: -1 }), limit: 3 };
  assert.deepEqual(await stages(catalog, query), ['LIMIT', 'FETCH', 'IXSCAN']);
  assert.deepEqual((await find(catalog, query)).map((row) => row.get('b')), [93, 83, 73]);
  const merged = { filter: doc({ a: doc({ $in: list(3, 5) }) }), sort: doc({ b: 1 }), limit: 4 };
  assert.deepEqual(await stages(catalog, merged), ['LIMIT', 'FETCH', 'SORT_MERGE', 'IXSCAN', 'IXSCAN']);
  assert.deepEqual((await find(catalog, merged)).map((row) => row.get('b')), [3, 5, 13, 15]);
  assert.deepEqual(await stages(catalog, { filter: doc({ a: 3 }), sort: doc({ c: 1 }) }), ['SORT', 'FETCH', 'IXSCAN']);
});

test('a sort without an index stops at its memory limit with 292, and needs little for a few best', async () => {
  const catalog = await numbers(3000);
  const few = { sort: doc({ c: -1 }), limit: 2, more: { sortBytesMax: 1_000_000 } };
  assert.deepEqual((await find(catalog, few)).map((row) => row.get('b')), [2999, 2998]);
  await assert.rejects(find(catalog, { sort: doc({ c: 1 }), more: { sortBytesMax: 100_000 } }), refusal(292));
});

test('two indexes whose common documents are few are intersected, and a count of them fetches nothing', async () => {
  const { catalog } = await openForTest();
  await catalog.createIndexes(people, [spec({ a: 1 }), spec({ b: 1 })]);
  for (let from = 0; from < 9000; from += 500) {
    await insertAll(catalog, Array.from({ length: 500 }, (_, i) => doc({ _id: from + i, a: (from + i) % 90, b: ((from + i) * 7919) % 89 })));
  }
  const filter = doc({ a: doc({ $lt: 30 }), b: doc({ $lt: 25 }) });
  const wanted = Array.from({ length: 9000 }, (_, i) => i).filter((i) => i % 90 < 30 && (i * 7919) % 89 < 25).length;
  assert.deepEqual(await stages(catalog, { filter, purpose: 'count' }), ['COUNT', 'AND_HASH', 'IXSCAN', 'IXSCAN']);
  assert.equal(await count(catalog, { filter }), wanted);
  assert.equal((await run(catalog, { filter, purpose: 'count' })).get('totalDocsExamined'), 0);
  const rows = await find(catalog, { filter });
  assert.equal(rows.length, wanted);
  // As of a pipeline that counts: no field is read.
  const counting = { filter, more: { fieldsNeeded: [] } };
  assert.deepEqual(await stages(catalog, counting), ['AND_HASH', 'IXSCAN', 'IXSCAN']);
  assert.equal((await find(catalog, counting)).length, wanted);
  await catalog.run((txn) => catalog.dropIndexes(txn, people, 'b_1'));
  await catalog.createIndexes(people, [spec({ b: 1 }, { clustering: true })]);
  for (const query of [counting, { filter }]) {
    assert.deepEqual(await stages(catalog, query), ['IXSCAN']);
    assert.equal((await find(catalog, query)).length, wanted);
  }
});

test('an $or with an index for each branch unites them', async () => {
  const catalog = await numbers(100, spec({ a: 1 }), spec({ b: 1 }));
  const filter = doc({ $or: list(doc({ a: 3 }), doc({ b: doc({ $lt: 5 }) })) });
  assert.deepEqual(await stages(catalog, { filter }), ['FETCH', 'OR', 'IXSCAN', 'IXSCAN']);
  assert.equal((await find(catalog, { filter })).length, 14);
  assert.deepEqual(await stages(catalog, { filter: doc({ $or: list(doc({ a: 3 }), doc({ c: 'x' })) }) }), ['COLLSCAN']);
});

test('a hint names an index or a key pattern, or is refused with 2; $natural scans', async () => {
  const catalog = await numbers(20, spec({ a: 1 }), spec({ b: 1 }), spec({ c: 1 }, { hidden: true }));
  const filter = doc({ a: 3, b: 3 });
  assert.deepEqual(await bounds(catalog, filter), { b: ['[3, 3]'] });
  for (const hint of ['a_1', doc({ a: 1 })]) {
    const stage = (await explain(catalog, { filter, hint })).get('winningPlan');
    assert(stage instanceof Document && stage.get('inputStage') instanceof Document);
    assert.equal((stage.get('inputStage') as Document).get('indexName'), 'a_1');
  }
  assert.deepEqual(await stages(catalog, { filter, hint: doc({ $natural: 1 }) }), ['COLLSCAN']);
  assert.deepEqual((await find(catalog, { hint: doc({ $natural: -1 }), limit: 2 })).map((row) => row.get('b')), [19, 18]);
  for (const hint of ['nope', doc({ z: 1 }), 'c_1']) {
    await assert.rejects(find(catalog, { filter, hint }), refusal(2, /hint provided does not correspond to an existing index/));
  }
});

test('min and max cut an index that is hinted, returnKey shows its keys', async () => {
  const catalog = await numbers(20, spec({ b: 1 }));
  const range = { min: doc({ b: 5 }), max: doc({ b: 8 }) };
  const rows = await find(catalog, { hint: 'b_1', more: range });
  assert.deepEqual(rows.map((row) => row.get('b')), [5, 6, 7]);
  const keys = await find(catalog, { hint: 'b_1', more: { ...range, returnKey: true } });
  assert.deepEqual(keys.map((row) => [row.keys(), row.get('b')]), [[['b'], 5], [['b'], 6], [['b'], 7]]);
  await assert.rejects(find(catalog, { more: range }), refusal(51173));
});

test('a partial index serves queries that imply its filter, a sparse one those that need the field', async () => {
  const catalog = await numbers(30, spec({ b: 1 }, { partialFilterExpression: doc({ a: doc({ $gte: 5 }) }) }), spec({ c: 1 }, { sparse: true }));
  assert.deepEqual(await stages(catalog, { filter: doc({ b: 7, a: doc({ $gt: 6 }) }) }), ['FETCH', 'IXSCAN']);
  assert.deepEqual(await stages(catalog, { filter: doc({ b: 7, a: doc({ $gt: 4 }) }) }), ['COLLSCAN']);
  assert.deepEqual(await stages(catalog, { filter: doc({ b: 7 }) }), ['COLLSCAN']);
  assert.deepEqual(await stages(catalog, { filter: doc({ c: 'x' }) }), ['FETCH', 'IXSCAN']);
  assert.deepEqual(await stages(catalog, { filter: doc({ c: null }) }), ['COLLSCAN']);
  assert.deepEqual(await stages(catalog, { filter: Document.empty, sort: doc({ c: 1 }) }), ['SORT', 'COLLSCAN']);
});

test('conditions on two paths through one array bound one of them, unless by $elemMatch', async () => {
  const { catalog } = await openForTest();
  await catalog.createIndexes(people, [spec({ 'a.x': 1, 'a.y': 1 })]);
  await insertAll(catalog, [doc({ _id: 1, a: list(doc({ x: 1, y: 9 }), doc({ x: 9, y: 2 })) }), doc({ _id: 2, a: list(doc({ x: 1, y: 2 })) })]);
  const apart = doc({ 'a.x': 1, 'a.y': 2 });
  assert.deepEqual(await bounds(catalog, apart), { 'a.x': ['[1, 1]'], 'a.y': ['[MinKey, MaxKey]'] });
  assert.equal((await find(catalog, { filter: apart })).length, 2);
  const together = doc({ a: doc({ $elemMatch: doc({ x: 1, y: 2 }) }) });
  assert.deepEqual(await bounds(catalog, together), { 'a.x': ['[1, 1]'], 'a.y': ['[2, 2]'] });
  assert.equal((await find(catalog, { filter: together })).length, 1);
  const range = doc({ 'a.x': doc({ $gt: 1, $lt: 9 }) });
  assert.deepEqual(await bounds(catalog, range), { 'a.x': ['(1, inf.0]'], 'a.y': ['[MinKey, MaxKey]'] });
});

test('the narrower of two indexes is taken, by counting a little', async () => {
  const catalog = await numbers(1000, spec({ a: 1 }), spec({ b: 1 }));
  assert.deepEqual(await bounds(catalog, doc({ a: 3, b: doc({ $gte: 10, $lt: 30 }) })), { b: ['[10, 30)'] });
  assert.deepEqual(await bounds(catalog, doc({ a: 3, b: doc({ $gte: 10 }) })), { a: ['[3, 3]'] });
});

test('a count without filter reads nothing, skip and limit counted', async () => {
  const catalog = await numbers(100);
  assert.equal(await count(catalog, {}), 100);
  assert.equal(await count(catalog, { skip: 95 }), 5);
  assert.equal(await count(catalog, { limit: 7 }), 7);
  assert.deepEqual(await stages(catalog, { purpose: 'count' }), ['COUNT', 'RECORD_STORE_FAST_COUNT']);
  assert.equal((await find(catalog, { more: { fieldsNeeded: [] } })).length, 100);
});

test('distinct values come once, elements of arrays singly, from the index where it holds the path', async () => {
  const { catalog } = await openForTest();
  await insertAll(catalog, [doc({ _id: 1, a: list(1, 2) }), doc({ _id: 2, a: new Double(2) }), doc({ _id: 3, a: null }), doc({ _id: 4 }), doc({ _id: 5, a: 'x' })]);
  const values = await distinct(catalog, 'a');
  await catalog.createIndexes(people, [spec({ a: 1 })]);
  assert.equal(values.length, 4);
  assert.equal((await distinct(catalog, 'a')).length, 4);
});

test('different values of an indexed field are found without reading all that are equal', async () => {
  const catalog = await numbers(2000, spec({ a: 1, b: 1 }));
  const query = { more: { fieldsNeeded: ['a'], anyOrder: true, distinct: 'a' } };
  const stats = await run(catalog, query);
  assert.ok(Number(stats.get('totalKeysExamined')) < 1000);
  assert.equal(stats.get('totalDocsExamined'), 0);
  assert.deepEqual(await distinct(catalog, 'a'), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  assert.deepEqual(await distinct(catalog, 'a', doc({ b: doc({ $gte: 1995 }) })), [5, 6, 7, 8, 9]);
  assert.equal((await distinct(catalog, 'b', doc({ a: 3 }))).length, 200);
  await insertAll(catalog, Array.from({ length: 100 }, (_, i) => doc({ _id: 5000 + i, b: i, ...(i === 99 ? { a: null } : {}) })));
  assert.deepEqual((await distinct(catalog, 'a'))[0], null);
});

test('documents that are skipped are not read, where entries say which they are', async () => {
  const catalog = await numbers(1000, spec({ a: 1, b: 1 }));
  const query = { filter: doc({ a: 3 }), sort: doc({ a: 1, b: 1 }), skip: 90, limit: 5 };
  assert.deepEqual(await stages(catalog, query), ['LIMIT', 'FETCH', 'SKIP', 'IXSCAN']);
  assert.ok(Number((await run(catalog, query)).get('totalDocsExamined')) <= 10);
  assert.deepEqual((await find(catalog, query)).map((each) => each.get('b')), [903, 913, 923, 933, 943]);
  assert.deepEqual(await stages(catalog, { ...query, filter: doc({ a: 3, c: doc({ $gt: 'text' }) }) }), ['LIMIT', 'SKIP', 'FETCH', 'IXSCAN']);
});

test('a query on a collection that is not there is empty', async () => {
  const { catalog } = await openForTest();
  assert.deepEqual(await find(catalog, { filter: doc({ a: 1 }), hint: 'nope' }), []);
  assert.equal(await count(catalog, {}), 0);
  assert.deepEqual(await stages(catalog, {}), ['EOF']);
});

test('a $jsonSchema is tested on documents, whatever indexes there are', async () => {
  const catalog = await numbers(20, spec({ a: 1 }));
  const filter = doc({ $jsonSchema: doc({ properties: doc({ a: doc({ minimum: 8 }) }) }), a: doc({ $gte: 5 }) });
  assert.deepEqual(await stages(catalog, { filter }), ['FETCH', 'IXSCAN']);
  assert.equal((await find(catalog, { filter })).length, 4);
  assert.equal((await find(catalog, { filter: doc({ $nor: list(doc({ $jsonSchema: doc({ properties: doc({ a: doc({ minimum: 8 }) }) }) })) }) })).length, 16);
});

test('a condition on elements of an element finds arrays in arrays, which an index has as a whole', async () => {
  const { catalog } = await openForTest();
  await catalog.createIndexes(people, [spec({ a: 1 })]);
  await insertAll(catalog, [doc({ _id: 1, a: BsonArray.of([BsonArray.of([1])]) }), doc({ _id: 2, a: BsonArray.of([1]) })]);
  const inner = doc({ $elemMatch: doc({ $gte: 1 }) });
  assert.deepEqual((await find(catalog, { filter: doc({ a: doc({ $elemMatch: inner }) }), hint: 'a_1' })).map((each) => each.get('_id')), [1]);
});

test('conditions of one $elemMatch on a field that is an array itself are not intersected', async () => {
  const { catalog } = await openForTest();
  await catalog.createIndexes(people, [spec({ 'a.y': 1 })]);
  await insertAll(catalog, [doc({ _id: 1, a: BsonArray.of([doc({ y: BsonArray.of([0, 5]) })]) })]);
  const element = doc({ y: doc({ $all: BsonArray.of([0, 5]) }) });
  assert.deepEqual((await find(catalog, { filter: doc({ a: doc({ $elemMatch: element }) }), hint: 'a.y_1' })).map((each) => each.get('_id')), [1]);
});

test('what must not be null is not looked for in an index through arrays, which has arrays without documents as null', async () => {
  const { catalog } = await openForTest();
  await catalog.createIndexes(people, [spec({ 'a.x': 1 })]);
  await insertAll(catalog, [doc({ _id: 1, a: BsonArray.empty }), doc({ _id: 2, a: BsonArray.of([5]) }), doc({ _id: 3, a: doc({ x: 1 }) }), doc({ _id: 4 })]);
  assert.deepEqual((await find(catalog, { filter: doc({ 'a.x': doc({ $ne: null }) }), hint: 'a.x_1' })).map((each) => each.get('_id')).sort(), [1, 2, 3]);
});

test('an entry of a path with a number in it decides nothing: the number may be a place in an array', async () => {
  const { catalog } = await openForTest();
  await catalog.createIndexes(people, [spec({ 'c.0.x': 1 })]);
  await insertAll(catalog, [doc({ _id: 1, c: BsonArray.of([0]) }), doc({ _id: 2 })]);
  const filter = doc({ 'c.0.x': null });
  assert.deepEqual(await find(catalog, { filter, hint: 'c.0.x_1' }), await find(catalog, { filter, hint: doc({ $natural: 1 }) }));
});

test('an array that begins with null is found by an index under null', async () => {
  const { catalog } = await openForTest();
  await catalog.createIndexes(people, [spec({ b: 1 })]);
  await insertAll(catalog, [doc({ _id: 1, b: BsonArray.of([null]) }), doc({ _id: 2, b: BsonArray.empty }), doc({ _id: 3 })]);
  assert.deepEqual((await find(catalog, { filter: doc({ b: BsonArray.of([null]) }), hint: 'b_1' })).map((each) => each.get('_id')), [1]);
  assert.deepEqual((await find(catalog, { filter: doc({ b: BsonArray.empty }), hint: 'b_1' })).map((each) => each.get('_id')), [2]);
});
