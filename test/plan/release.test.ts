import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Document } from '../../src/bson/index.ts';
import { doc, insertAll, openForTest, people, refusal, spec } from '../catalog/catalog-for-test.ts';
import { context, planFor } from './plan-for-test.ts';
import type { Find } from './plan-for-test.ts';

const rows = (from: number, to: number): Document[] => Array.from({ length: to - from }, (_, i) => doc({ _id: from + i, a: (from + i) % 7, b: from + i }));

const ways: readonly [string, Find][] = [
  ['a scan of the collection', {}],
  ['a scan backwards', { hint: doc({ $natural: -1 }) }],
  ['an index', { filter: doc({ a: doc({ $gte: 0 }) }) }],
  ['an index in the order of a sort', { sort: doc({ b: -1 }) }],
];
for (const [what, query] of ways) {
  test(`a source over ${what} goes on from its key after it gave its snapshot up`, async () => {
    const { catalog } = await openForTest();
    await catalog.createIndexes(people, [spec({ a: 1 }), spec({ b: 1 })]);
    await insertAll(catalog, rows(0, 1000));
    const txn = catalog.begin('read');
    const source = (await planFor(catalog, txn, query)).open(() => catalog.begin('read'));
    const seen: unknown[] = [];
    for (let round = 0; ; round++) {
      const batch = await source.next(context);
      if (batch === undefined) break;
      seen.push(...batch.map((each) => each.get('_id')));
      source.release();
      if (round === 0) txn.abort();
    }
    source.close();
    assert.equal(seen.length, 1000);
    assert.equal(new Set(seen).size, 1000);
  });
}

test('a source whose collection was dropped while it had no snapshot is killed', async () => {
  const { catalog } = await openForTest();
  await insertAll(catalog, rows(0, 1000));
  const txn = catalog.begin('read');
  const source = (await planFor(catalog, txn, {})).open(() => catalog.begin('read'));
  await source.next(context);
  source.release();
  txn.abort();
  await catalog.run((other) => catalog.drop(other, people));
  await assert.rejects(source.next(context), refusal(175));
  source.close();
});
