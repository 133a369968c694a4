import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BsonArray, DateTime } from '../../src/bson/index.ts';
import { expireDocuments } from '../../src/plan/index.ts';
import { assertWhole, doc, insertAll, openForTest, people, spec } from '../catalog/catalog-for-test.ts';
import { context, find } from './plan-for-test.ts';

test('documents go when their date is older than the index says, by the earliest of an array, and no others', async () => {
  const { catalog } = await openForTest();
  await catalog.createIndexes(people, [spec({ t: 1 }, { expireAfterSeconds: 10 })]);
  const at = (seconds: number): DateTime => new DateTime(seconds * 1000);
  await insertAll(catalog, [
    doc({ _id: 'old', t: at(50) }),
    doc({ _id: 'edge', t: at(90) }),
    doc({ _id: 'young', t: at(91) }),
    doc({ _id: 'one of it old', t: BsonArray.of([at(99), at(1)]) }),
    doc({ _id: 'no date', t: 5 }),
    doc({ _id: 'nothing' }),
  ]);
  assert.equal(await expireDocuments(catalog, 100_000, context), 3);
  assert.deepEqual((await find(catalog, {})).map((each) => each.get('_id')), ['no date', 'nothing', 'young']);
  await assertWhole(catalog);
});

test('more than one batch goes in one call; a partial TTL index looks at its own documents only', async () => {
  const { catalog } = await openForTest();
  await catalog.createIndexes(people, [spec({ t: -1 }, { expireAfterSeconds: 0, partialFilterExpression: doc({ done: true }) })]);
  await insertAll(catalog, Array.from({ length: 450 }, (_, i) => doc({ _id: i, t: new DateTime(1), done: i % 2 === 0 })));
  assert.equal(await expireDocuments(catalog, 2, context), 225);
  assert.equal((await find(catalog, {})).length, 225);
  await assertWhole(catalog);
});

test('of a clustered collection what is old goes as one range, and what is no date stays', async () => {
  const { catalog } = await openForTest();
  await catalog.run((txn) => catalog.create(txn, people, doc({ clusteredIndex: doc({ key: doc({ _id: 1 }), unique: true }), expireAfterSeconds: 10n })));
  const at = (ms: number): DateTime => new DateTime(ms);
  for (let from = 0; from < 3000; from += 500) await insertAll(catalog, Array.from({ length: 500 }, (_, i) => doc({ _id: at(from + i) })));
  await insertAll(catalog, [doc({ _id: 1 }), doc({ _id: 'text' })]);
  assert.equal(await expireDocuments(catalog, 12_000, context), 2001);
  const left = (await find(catalog, {})).map((each) => each.get('_id'));
  assert.equal(left.length, 1001);
  assert.deepEqual(left.slice(0, 3), [1, 'text', at(2001)]);
  assert.equal(await expireDocuments(catalog, 12_500, context), 500);
  await assertWhole(catalog);
});
