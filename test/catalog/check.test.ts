import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Catalog, CatalogTransaction, Collection, Index } from '../../src/catalog/index.ts';
import { doc, insertAll, openForTest, people, spec } from './catalog-for-test.ts';

interface Row {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

async function collectionOf(catalog: Catalog, txn: CatalogTransaction): Promise<Collection> {
  const collection = await catalog.collection(txn, people);
  assert.ok(collection !== undefined);
  return collection;
}

/** Breaks the index on `a` behind the catalog's back; the problems that the check names then. */
async function problemsAfter(damage: (txn: CatalogTransaction, index: Index, rows: readonly Row[]) => Promise<void>): Promise<readonly string[]> {
  const { catalog } = await openForTest();
  await insertAll(catalog, Array.from({ length: 50 }, (_, i) => doc({ _id: i, a: i % 10 })));
  await catalog.createIndexes(people, [spec({ a: 1 })]);
  await catalog.run(async (txn) => {
    const collection = await collectionOf(catalog, txn);
    assert.deepEqual((await collection.check(txn)).problems, []);
    const index = collection.indexes[1];
    assert.ok(index !== undefined);
    const rows: Row[] = [];
    const cursor = index.scan(txn, {}, 1);
    const batch = await cursor.nextBatch({ rows: 100, bytes: 1e6 });
    for (let i = 0; i < batch.length; i++) rows.push({ key: batch.key(i).slice(), value: batch.value(i).slice() });
    cursor.close();
    await damage(txn, index, rows);
  });
  const txn = catalog.begin('read');
  const { problems } = await (await collectionOf(catalog, txn)).check(txn);
  txn.abort();
  return problems;
}

test('an entry that is missing, one too many, one that is wrong, and one in the place of another are found and named', async () => {
  const missing = await problemsAfter(async (txn, index, [row]) => await txn.engine.remove(index.dictionary, row?.key ?? new Uint8Array(0)));
  assert.match(missing.join('\n'), /index a_1: documents give 50 entries .*, 49 of/);
  assert.match(missing.join('\n'), /has no entry/);
  const extra = await problemsAfter(async (txn, index) => await txn.engine.put(index.dictionary, Uint8Array.of(1, 2, 3), Uint8Array.of(0)));
  assert.match(extra.join('\n'), /documents give 50 entries .*, 51 of/);
  const wrong = await problemsAfter(async (txn, index, [row]) => await txn.engine.put(index.dictionary, row?.key ?? new Uint8Array(0), Uint8Array.of(9)));
  assert.match(wrong.join('\n'), /is wrong/);
  // As many rows, as many bytes: only what they hold differs.
  const moved = await problemsAfter(async (txn, index, [row]) => {
    const key = row?.key ?? new Uint8Array(0);
    await txn.engine.remove(index.dictionary, key);
    await txn.engine.put(index.dictionary, key.with(key.length - 1, 0x7e), row?.value ?? new Uint8Array(0));
  });
  assert.match(moved.join('\n'), /has no entry/);
});
