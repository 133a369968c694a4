// As index-or-scan.property.test.ts, with values of every type that a key has, conditions inside of conditions, and every index forced by a hint:
// whatever way is taken, the answer is that of a scan. FROND_INDEX_RUNS makes the search longer.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Binary, BsonArray, DateTime, Decimal128, describeValue, Document, Double, maxKey, minKey, ObjectId, Regex, Timestamp } from '../../src/bson/index.ts';
import type { Value } from '../../src/bson/index.ts';
import { parseCollation } from '../../src/collation/index.ts';
import type { Collation } from '../../src/collation/index.ts';
import { compileFilter, compileSort } from '../../src/query/index.ts';
import type { Catalog } from '../../src/catalog/index.ts';
import { doc, insertAll, openOverModel, people, spec } from '../catalog/catalog-for-test.ts';
import { find } from './plan-for-test.ts';

const runs = Number(process.env['FROND_INDEX_RUNS'] ?? '120');
const options = { now: new DateTime(0) };
const decimal = (text: string): Decimal128 => Decimal128.parse(text) ?? assert.fail(text);

const scalars: readonly Value[] = [
  0, 1, 2, 3, 2n, new Double(1), new Double(1.5), new Double(-0), new Double(Number.NaN), new Double(Infinity), decimal('1'), decimal('1.5'), decimal('NaN'), decimal('-Infinity'),
  null, null, '', 'a', 'A', 'ab', 'b', 'é', 'a10', 'a9', true, false, new DateTime(0), new DateTime(1), new Timestamp(1, 1), new ObjectId(new Uint8Array(12)),
  new Regex('a', ''), new Binary(new Uint8Array([1]), 0), minKey, maxKey,
];
const scalar = fc.oneof({ weight: 3, arbitrary: fc.constantFrom<Value>(0, 1, 2, 'a', 'A', null) }, { weight: 2, arbitrary: fc.constantFrom<Value>(...scalars) });
const fieldsOf = (value: fc.Arbitrary<Value>): fc.Arbitrary<Document> =>
  fc.record({ x: fc.option(value, { nil: undefined }), y: fc.option(value, { nil: undefined }) }).map((fields) => Document.of(fields));
const list = (value: fc.Arbitrary<Value>): fc.Arbitrary<Value> => fc.array(value, { maxLength: 3 }).map((items) => BsonArray.of(items));
const value: fc.Arbitrary<Value> = fc.oneof(
  { weight: 6, arbitrary: scalar },
  { weight: 2, arbitrary: fieldsOf(fc.oneof({ weight: 3, arbitrary: scalar }, { weight: 1, arbitrary: list(scalar) })) },
  { weight: 2, arbitrary: list(scalar) },
  { weight: 2, arbitrary: list(fieldsOf(scalar)) },
  { weight: 1, arbitrary: list(fc.oneof(list(scalar), fieldsOf(list(scalar)), scalar)) },
);
const document: fc.Arbitrary<Document> = fc
  .record({ a: fc.option(value, { nil: undefined }), b: fc.option(value, { nil: undefined }), c: fc.option(value, { nil: undefined }) })
  .map((fields) => Document.of(fields));

const path = fc.constantFrom('a', 'a', 'b', 'c', 'c.x', 'c.y', 'a.x', 'c.0', 'c.0.x');
const of = (name: string, operand: Value): Document => Document.fromEntries([[name, operand]]);
const both = (first: Document, second: Document): Document => Document.fromEntries([...new Map([...first.fields, ...second.fields])]);
const comparison: fc.Arbitrary<Document> = fc.oneof(
  fc.tuple(fc.constantFrom('$gt', '$gte', '$lt', '$lte', '$eq', '$ne'), fc.oneof({ weight: 4, arbitrary: scalar }, { weight: 1, arbitrary: value })).map(([name, operand]) => of(name, operand instanceof Regex ? 0 : operand)),
  fc.tuple(scalar, scalar).map(([low, high]) => doc({ $gte: low instanceof Regex ? 0 : low, $lte: high instanceof Regex ? 9 : high })),
  fc.tuple(fc.constantFrom('$in', '$nin'), fc.array(fc.oneof({ weight: 5, arbitrary: scalar }, { weight: 1, arbitrary: value }), { maxLength: 3 })).map(([name, items]) => of(name, BsonArray.of(items))),
  fc.boolean().map((there) => of('$exists', there)),
  fc.constantFrom('number', 'string', 'null', 'array', 'object', 'bool', 'minKey').map((type) => of('$type', type)),
  fc.constantFrom('^a', '^A', 'b$', '^(a|b)', '^$').map((pattern) => of('$regex', pattern)),
  fc.constant(of('$mod', BsonArray.of([2, 1]))),
  fc.nat(2).map((size) => of('$size', size)),
);
const { condition: conditions } = fc.letrec<{ condition: Document }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    { weight: 6, arbitrary: comparison },
    { weight: 1, arbitrary: fc.tuple(comparison, comparison).map(([first, second]) => both(first, second)) },
    { weight: 1, arbitrary: tie('condition').map((inner) => of('$not', inner)) },
    { weight: 2, arbitrary: tie('condition').map((inner) => of('$elemMatch', inner)) },
    { weight: 1, arbitrary: fc.tuple(fc.constantFrom('x', 'y'), tie('condition'), tie('condition')).map(([name, first, second]) => of('$elemMatch', both(of(name, first), of('y', second)))) },
    { weight: 1, arbitrary: fc.array(fc.oneof<fc.Arbitrary<Value>[]>(scalar, tie('condition').map((inner) => of('$elemMatch', inner))), { minLength: 1, maxLength: 2 }).map((items) => of('$all', BsonArray.of(items))) },
  ),
}));
const leaf: fc.Arbitrary<Document> = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(path, conditions).map(([name, condition]) => of(name, condition)) },
  { weight: 2, arbitrary: fc.tuple(path, value).map(([name, operand]) => of(name, operand)) },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom('$eq', '$gt', '$lte'), fc.constantFrom('$a', '$c.x'), fc.constantFrom<Value>(0, 1, null)).map(([name, field, operand]) => of('$expr', of(name, BsonArray.of([field, operand])))) },
);
const { filter: filters } = fc.letrec<{ filter: Document }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    { weight: 5, arbitrary: leaf },
    { weight: 3, arbitrary: fc.tuple(leaf, leaf).map(([first, second]) => both(first, second)) },
    { weight: 3, arbitrary: fc.tuple(fc.constantFrom('$or', '$and', '$or', '$nor'), fc.array(tie('filter'), { minLength: 1, maxLength: 3 })).map(([name, parts]) => of(name, BsonArray.of(parts))) },
    { weight: 2, arbitrary: fc.tuple(leaf, fc.array(tie('filter'), { minLength: 1, maxLength: 2 })).map(([first, parts]) => both(first, of('$or', BsonArray.of(parts)))) },
  ),
}));

const ignoresCase = doc({ locale: 'en', strength: 2 });
const numeric = doc({ locale: 'en', numericOrdering: true });
const direction = fc.constantFrom(1, -1);
const keys: fc.Arbitrary<Document> = fc.oneof(
  { weight: 6, arbitrary: fc.dictionary(path, direction, { minKeys: 1, maxKeys: 3 }).map((parts) => Document.of(parts)) },
  { weight: 2, arbitrary: fc.constantFrom(doc({ '$**': 1 }), doc({ 'c.$**': 1 }), doc({ b: 1, 'c.$**': -1 }), doc({ a: 'hashed' }), doc({ b: 1, 'c.x': 'hashed' })) },
);
const choices: fc.Arbitrary<Record<string, Value>> = fc.oneof(
  { weight: 5, arbitrary: fc.constant({}) },
  { weight: 2, arbitrary: fc.constantFrom(ignoresCase, numeric).map((collation) => ({ collation })) },
  { weight: 2, arbitrary: fc.constantFrom<Record<string, Value>>({ sparse: true }, { clustering: true }, { sparse: true, collation: ignoresCase }) },
  { weight: 2, arbitrary: fc.constantFrom(doc({ a: doc({ $exists: true }) }), doc({ b: doc({ $gt: 0 }) }), doc({ a: 1 }), doc({ $or: BsonArray.of([doc({ a: 1 }), doc({ b: doc({ $lt: 2 }) })]) }), doc({ a: doc({ $type: 'string' }) })).map((partialFilterExpression) => ({ partialFilterExpression })) },
);
const index = fc.tuple(keys, choices);
const query = fc.record({
  filter: filters,
  collation: fc.constantFrom(undefined, undefined, ignoresCase, numeric),
  sort: fc.option(fc.dictionary(fc.constantFrom('a', 'b', 'c.x', 'c'), direction, { minKeys: 1, maxKeys: 2 }).map((parts) => Document.of(parts)), { nil: undefined }),
  limit: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
  skip: fc.constantFrom(0, 0, 1, 2),
});

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
/** A filter that this test makes may be none: `$not` of an `$elemMatch`'s object and the like. */
function compiled(filter: Document, collation: Collation | undefined): ReturnType<typeof compileFilter> | undefined {
  try {
    return compileFilter(filter, { ...options, collation });
  } catch {
    return undefined;
  }
}

interface Made {
  readonly catalog: Catalog;
  readonly stored: readonly Document[];
  /** Names of indexes that have every document. */
  readonly whole: readonly string[];
}

async function make(documents: readonly Document[], indexes: readonly (readonly [Document, Record<string, Value>])[]): Promise<Made> {
  const catalog = await openOverModel();
  const stored: Document[] = [];
  const whole: string[] = [];
  await insertAll(catalog, [doc({ _id: -1 })]);
  for (const [i, [key, given]] of indexes.entries()) {
    const name = `i${String(i)}`;
    const isMade = await catalog.createIndexes(people, [spec(Object.fromEntries(key.fields), { ...given, name })]).then(() => true, () => false);
    if (isMade && given['sparse'] === undefined && given['partialFilterExpression'] === undefined && !key.keys().some((field) => field.includes('$'))) whole.push(name);
  }
  stored.push(doc({ _id: -1 }));
  for (const [i, fields] of documents.entries()) {
    const numbered = Document.fromEntries([['_id', i], ...fields.fields]);
    await insertAll(catalog, [numbered]).then(() => stored.push(numbered), () => undefined);
  }
  return { catalog, stored, whole };
}

test('whatever index is taken, a query of any shape over values of any type has the answer of a scan', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(document, { minLength: 4, maxLength: 24 }), fc.array(index, { minLength: 1, maxLength: 3 }), fc.array(query, { minLength: 4, maxLength: 10 }), async (documents, indexes, queries) => {
      const { catalog, stored, whole } = await make(documents, indexes);
      for (const { filter, collation: given, sort, limit, skip } of queries) {
        const collation = given === undefined ? undefined : parseCollation(given);
        const test = compiled(filter, collation);
        if (test === undefined) continue;
        const shown = (hint: string | undefined): string =>
          `${describeValue(filter)} ${describeValue(given ?? null)} sort ${describeValue(sort ?? null)} ${skip} ${String(limit)} hint ${String(hint)} over ${stored.map(describeValue).join(' ')} by ${indexes.map(([key, more]) => describeValue(key) + describeValue(Document.of(more))).join(' ')}`;
        const matching = stored.filter((each) => test.matches(each));
        const order = sort === undefined ? undefined : compileSort(sort, collation);
        let sorted: readonly string[] | undefined;
        try {
          sorted = order === undefined ? undefined : matching.map((each) => hex(order.keyOf(each))).sort().slice(skip).slice(0, limit);
        } catch {
          // Parallel arrays are not sorted.
          continue;
        }
        for (const hint of [undefined, ...whole]) {
          const found = await find(catalog, { filter, collation, ...(hint === undefined ? {} : { hint }) });
          assert.deepEqual(found.map((each) => hex(each.toBytes())).sort(), matching.map((each) => hex(each.toBytes())).sort(), shown(hint));
          if (sort === undefined || order === undefined) continue;
          const ordered = await find(catalog, { filter, collation, sort, skip, ...(limit === undefined ? {} : { limit }), ...(hint === undefined ? {} : { hint }) });
          assert.deepEqual(ordered.map((each) => hex(order.keyOf(each))), sorted, shown(hint));
        }
      }
    }),
    { numRuns: runs, includeErrorInReport: true },
  );
});
