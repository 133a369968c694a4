// Whatever indexes there are, a query has the answer of a scan: over random documents with arrays, nulls, missing fields and numbers of all
// types, random filters, sorts, limits, projections and collations. The oracle is the compiled filter, sort and projection on all documents.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { BsonArray, compareValues, DateTime, Document, Double, ObjectId } from '../../src/bson/index.ts';
import type { Value } from '../../src/bson/index.ts';
import { parseCollation } from '../../src/collation/index.ts';
import { compileFilter, compileProjection, compileSort } from '../../src/query/index.ts';
import type { Catalog } from '../../src/catalog/index.ts';
import { assertWhole, doc, insertAll, openForTest, openOverModel, people, spec } from '../catalog/catalog-for-test.ts';
import { count, distinct, find } from './plan-for-test.ts';

const options = { now: new DateTime(0) };
const scalar: fc.Arbitrary<Value> = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 6 }) },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 12 }).map((half) => new Double(half / 2)) },
  { weight: 1, arbitrary: fc.constantFrom<Value>(3n, new Double(Number.NaN), true, false, new DateTime(5), new ObjectId(new Uint8Array(12))) },
  { weight: 2, arbitrary: fc.constantFrom('', 'a', 'A', 'ab', 'aB', 'abc', 'b', 'é', 'É', 'e10', 'e9') },
  { weight: 1, arbitrary: fc.constant(null) },
);
const inner: fc.Arbitrary<Document> = fc
  .record({ x: fc.option(scalar, { nil: undefined }), y: fc.option(scalar, { nil: undefined }) })
  .map((fields) => Document.of(fields));
const list: fc.Arbitrary<Value> = fc.oneof(
  fc.array(scalar, { maxLength: 3 }).map((items) => BsonArray.of(items)),
  fc.array(fc.oneof<fc.Arbitrary<Value>[]>(inner, inner, scalar), { maxLength: 3 }).map((items) => BsonArray.of(items)),
  fc.array(fc.array(scalar, { maxLength: 2 }).map((items) => BsonArray.of(items)), { maxLength: 2 }).map((items) => BsonArray.of(items)),
);
const value: fc.Arbitrary<Value> = fc.oneof(
  { weight: 8, arbitrary: scalar },
  { weight: 2, arbitrary: inner },
  { weight: 3, arbitrary: list },
);
/** Arrays in one field of a document only, or two indexed arrays would be refused. */
const fields: fc.Arbitrary<Document> = fc
  .record({
    plain: fc.record({ a: fc.option(scalar, { nil: undefined }), b: fc.option(scalar, { nil: undefined }), c: fc.option(fc.oneof(scalar, inner), { nil: undefined }) }),
    array: fc.option(fc.tuple(fc.constantFrom('a', 'b', 'c'), value), { freq: 2, nil: undefined }),
  })
  .map(({ plain, array }) => Document.of({ ...plain, ...(array === undefined ? {} : { [array[0]]: array[1] }) }));

const path = fc.constantFrom('a', 'b', 'c', 'c.x', 'c.y', 'a', 'b');
const condition: fc.Arbitrary<Value> = fc.oneof<fc.Arbitrary<Value>[]>(
  value,
  value,
  fc.tuple(fc.constantFrom('$gt', '$gte', '$lt', '$lte', '$eq', '$ne'), scalar).map(([operator, operand]) => doc({ [operator]: operand })),
  fc.tuple(scalar, scalar).map(([low, high]) => doc({ $gte: low, $lt: high })),
  fc.array(scalar, { maxLength: 4 }).map((items) => doc({ $in: BsonArray.of(items) })),
  fc.array(scalar, { maxLength: 2 }).map((items) => doc({ $nin: BsonArray.of(items) })),
  fc.boolean().map((there) => doc({ $exists: there })),
  fc.constantFrom('^a', '^ab', 'b', '^a.*', '^(a|b)').map((pattern) => doc({ $regex: pattern })),
  fc.constantFrom('number', 'string', 'null', 'array', 'object', 'int').map((type) => doc({ $type: type })),
  fc.constant(doc({ $mod: BsonArray.of([2, 0]) })),
  fc.constant(doc({ $size: 2 })),
  fc.tuple(scalar, scalar).map(([low, high]) => doc({ $elemMatch: doc({ $gte: low, $lte: high }) })),
  fc.tuple(scalar, scalar).map(([x, y]) => doc({ $elemMatch: doc({ x, y: doc({ $gte: y }) }) })),
  fc.tuple(fc.constantFrom('$gt', '$lt'), scalar).map(([operator, operand]) => doc({ $not: doc({ [operator]: operand }) })),
  fc.array(scalar, { minLength: 1, maxLength: 2 }).map((items) => doc({ $all: BsonArray.of(items) })),
);
const simple: fc.Arbitrary<Document> = fc.dictionary(path, condition, { maxKeys: 3 }).map((conditions) => Document.of(conditions));
const filter: fc.Arbitrary<Document> = fc.oneof(
  { weight: 6, arbitrary: simple },
  { weight: 2, arbitrary: fc.array(simple, { minLength: 1, maxLength: 3 }).map((parts) => doc({ $or: BsonArray.of(parts) })) },
  { weight: 1, arbitrary: fc.array(simple, { minLength: 1, maxLength: 3 }).map((parts) => doc({ $and: BsonArray.of(parts) })) },
  { weight: 1, arbitrary: fc.tuple(simple, simple, simple).map(([first, ...parts]) => Document.fromEntries([...first.fields, ['$or', BsonArray.of(parts)]])) },
);
const ignoresCase = doc({ locale: 'en', strength: 2 });
const numeric = doc({ locale: 'de', numericOrdering: true });
const direction = fc.constantFrom(1, -1);
const keyPattern: fc.Arbitrary<Record<string, Value>> = fc.dictionary(path, direction, { minKeys: 1, maxKeys: 3 });
const special: fc.Arbitrary<Record<string, Value>> = fc.constantFrom<Record<string, Value>>({ a: 'hashed' }, { b: 1, a: 'hashed' }, { 'c.x': 'hashed' }, { '$**': 1 }, { 'c.$**': 1 }, { b: -1, 'c.$**': 1 });
const index = fc.tuple(
  fc.oneof({ weight: 3, arbitrary: keyPattern }, { weight: 1, arbitrary: special }),
  fc.oneof(
    { weight: 5, arbitrary: fc.constant({}) },
    { weight: 3, arbitrary: fc.constantFrom(ignoresCase, numeric).map((collation) => ({ collation })) },
    { weight: 1, arbitrary: fc.constant({ collation: ignoresCase, partialFilterExpression: doc({ a: doc({ $gte: 'B' }) }) }) },
    { weight: 1, arbitrary: fc.constant({ sparse: true }) },
    { weight: 2, arbitrary: fc.constant({ clustering: true }) },
    { weight: 1, arbitrary: fc.constant({ partialFilterExpression: doc({ a: doc({ $gte: 2 }) }) }) },
    { weight: 1, arbitrary: fc.constant({ partialFilterExpression: doc({ b: doc({ $exists: true }) }) }) },
  ),
);
const query = fc.record({
  filter,
  collation: fc.option(fc.constantFrom(ignoresCase, numeric), { nil: undefined }).map((given) => (given === undefined ? undefined : parseCollation(given))),
  sort: fc.option(fc.dictionary(path, direction, { minKeys: 1, maxKeys: 2 }).map((parts) => Document.of(parts)), { nil: undefined }),
  projection: fc.option(fc.uniqueArray(path, { minLength: 1, maxLength: 2 }), { nil: undefined }),
  limit: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
  skip: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
});

const bytesOf = (document: Document): string => Buffer.from(document.toBytes()).toString('hex');
/** Fields in the order of their names. */
const normal = (document: Document): Document =>
  Document.fromEntries(
    [...document.fields].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, each]) => [name, each instanceof Document ? normal(each) : each] as const),
  );
const normalBytes = (document: Document): string => bytesOf(normal(document));
const hasDifferentPaths = (paths: readonly string[]): boolean => !(paths.includes('c') && paths.some((each) => each.startsWith('c.')));

type Indexes = readonly (readonly [Record<string, Value>, Record<string, Value>])[];

/** A collection that got half of its documents before its indexes and half after; over the engine, or its model. */
async function make(documents: readonly Document[], indexes: Indexes, overModel = false): Promise<{ catalog: Catalog; stored: readonly Document[] }> {
  const opened = overModel ? { catalog: await openOverModel() } : await openForTest();
  const numbered = documents.map((fields, i) => Document.fromEntries([['_id', i], ...fields.fields]));
  await insertAll(opened.catalog, numbered.slice(0, numbered.length / 2));
  for (const [key, choices] of indexes) {
    const names = { ...choices, name: `${JSON.stringify(key)}${Object.keys(choices).join('')}` };
    await opened.catalog.createIndexes(people, [spec(key, names)]).catch(() => undefined);
  }
  const stored: Document[] = numbered.slice(0, numbered.length / 2);
  for (const document of numbered.slice(numbered.length / 2)) {
    await insertAll(opened.catalog, [document]).then(() => stored.push(document), () => undefined);
  }
  return { catalog: opened.catalog, stored };
}

test('a query has the same answer by index as by scan', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fields, { maxLength: 24 }), fc.array(index, { maxLength: 3 }), fc.array(query, { minLength: 3, maxLength: 8 }), fc.boolean(), async (documents, indexes, queries, overModel) => {
      const { catalog, stored } = await make(documents, indexes, overModel);
      await assertWhole(catalog);
      for (const { filter: wanted, collation, sort, projection, limit, skip } of queries) {
        const compiled = compileFilter(wanted, { ...options, collation });
        const matching = stored.filter((document) => compiled.matches(document));
        assert.deepEqual((await find(catalog, { filter: wanted, collation })).map(bytesOf).sort(), matching.map(bytesOf).sort());
        assert.equal(await count(catalog, { filter: wanted, collation }), matching.length);
        const window = { ...(limit === undefined ? {} : { limit }), ...(skip === undefined ? {} : { skip }) };
        const cut = matching.slice(skip ?? 0).slice(0, limit);
        assert.equal(await count(catalog, { filter: wanted, collation, ...window }), cut.length);
        if (sort !== undefined) {
          const order = compileSort(sort, collation);
          const sorted = [...matching].sort((a, b) => order.compare(a, b)).slice(skip ?? 0).slice(0, limit);
          const got = await find(catalog, { filter: wanted, collation, sort, ...window });
          assert.deepEqual(got.map((document) => Buffer.from(order.keyOf(document)).toString('hex')), sorted.map((document) => Buffer.from(order.keyOf(document)).toString('hex')));
        }
        if (projection !== undefined && hasDifferentPaths(projection)) {
          const shown = Document.fromEntries([['_id', 0], ...projection.map((each) => [each, 1] as const)]);
          const compiledProjection = compileProjection(shown, options);
          // A covered query gives its fields in the order of the index, as MongoDB's does.
          const got = await find(catalog, { filter: wanted, collation, projection: shown });
          assert.deepEqual(got.map(normalBytes).sort(), matching.map((document) => normalBytes(compiledProjection.apply(document))).sort());
        }
      }
    }),
    { numRuns: 300 },
  );
});

test('distinct has the same values by index as by scan', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fields, { maxLength: 20 }), fc.array(index, { maxLength: 2 }), path, simple, async (documents, indexes, field, wanted) => {
      const { catalog, stored } = await make(documents, indexes);
      const bare = await make(stored.map((document) => Document.fromEntries(document.fields.slice(1))), []);
      const sorted = (values: readonly Value[]): Value[] => [...values].sort(compareValues);
      const byIndex = sorted(await distinct(catalog, field, wanted));
      const byScan = sorted(await distinct(bare.catalog, field, wanted));
      assert.equal(byIndex.length, byScan.length);
      byIndex.forEach((each, i) => assert.equal(compareValues(each, byScan[i] ?? null), 0));
    }),
    { numRuns: 100 },
  );
});

