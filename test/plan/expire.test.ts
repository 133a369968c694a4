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
