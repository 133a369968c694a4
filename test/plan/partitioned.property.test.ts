// A partitioned collection answers as any other: for random documents, parts that come between them, updates that move documents, queries with sorts and limits, by
// index and by scan, with a primary key of its own or without.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { CommandError } from '../../src/base/errors.ts';
import type { Document } from '../../src/bson/index.ts';
import { BsonArray } from '../../src/bson/index.ts';
import type { Catalog } from '../../src/catalog/index.ts';
import { assertWhole, doc, insertAll, openForTest, people, spec } from '../catalog/catalog-for-test.ts';
import { count, find } from './plan-for-test.ts';

interface Row {
  readonly id: number;
  readonly a: number;
  readonly b: number | readonly number[];
}

const small = fc.integer({ min: 0, max: 9 });
const row = fc.record({ id: fc.integer({ min: 0, max: 500 }), a: small, b: fc.oneof(small, fc.uniqueArray(small, { maxLength: 3 })) });
const step = fc.oneof(
  { weight: 8, arbitrary: row.map((each) => ({ kind: 'insert' as const, row: each })) },
  { weight: 2, arbitrary: fc.record({ id: fc.integer({ min: 0, max: 500 }), a: small }).map((each) => ({ kind: 'move' as const, ...each })) },
  { weight: 1, arbitrary: fc.constant({ kind: 'part' as const }) },
);

const documentOf = ({ id, a, b }: Row): Document => doc({ _id: id, a, b: typeof b === 'number' ? b : BsonArray.of([...b]) });

/** Takes what is refused, and no other error, for nothing done. */
async function unlessRefused(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (error instanceof CommandError) return false;
    throw error;
  }
}

async function move(catalog: Catalog, { id, a }: { readonly id: number; readonly a: number }): Promise<Row | undefined> {
  return catalog.run(async (txn) => {
    const collection = await catalog.collection(txn, people);
    const before = await collection?.getById(txn, id);
    if (collection === undefined || before === undefined) return undefined;
    const { key } = collection.prepare(before);
    await collection.lock(txn, key);
    const b = before.get('b');
    const after: Row = { id, a, b: b instanceof BsonArray ? b.items().map(Number) : Number(b) };
    await collection.update(txn, key, { before, after: documentOf(after) });
    return after;
  });
}

const idsOf = (documents: readonly Document[]): number[] => documents.map((document) => Number(document.get('_id')));

test('a partitioned collection answers as the rows that it was given', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60 }), fc.boolean(), fc.boolean(), async (steps, hasKey, indexFirst) => {
      const { catalog } = await openForTest();
      const options = hasKey ? { partitioned: true, primaryKey: doc({ a: 1, _id: 1 }) } : { partitioned: true };
      await catalog.run((txn) => catalog.create(txn, people, doc(options)));
      const indexes = [spec({ b: 1 }), spec({ a: -1, b: 1 })];
      if (indexFirst) await catalog.createIndexes(people, indexes);
      const rows = new Map<number, Row>();
      for (const each of steps) {
        if (each.kind === 'part') await unlessRefused(catalog.addPartition(people, undefined));
        else if (each.kind === 'insert' && !rows.has(each.row.id)) {
          if (await unlessRefused(insertAll(catalog, [documentOf(each.row)]))) rows.set(each.row.id, each.row);
        } else if (each.kind === 'move') {
          const after = await move(catalog, each);
          if (after !== undefined) rows.set(after.id, after);
        }
      }
      if (!indexFirst) await catalog.createIndexes(people, indexes);
      await assertWhole(catalog);
      const all = [...rows.values()];
      const has = (each: Row, value: number): boolean => (typeof each.b === 'number' ? each.b === value : each.b.includes(value));
      for (const value of [0, 3, 7]) {
        const expected = all.filter((each) => has(each, value)).map(({ id }) => id).sort((x, y) => x - y);
        assert.deepEqual(idsOf(await find(catalog, { filter: doc({ b: value }) })).sort((x, y) => x - y), expected);
        assert.equal(await count(catalog, { filter: doc({ b: value }) }), expected.length);
        const sorted = await find(catalog, { filter: doc({ a: doc({ $gte: value }) }), sort: doc({ a: -1, _id: 1 }), limit: 7 });
        const wanted = all.filter(({ a }) => a >= value).sort((x, y) => y.a - x.a || x.id - y.id).slice(0, 7);
        assert.deepEqual(idsOf(sorted), wanted.map(({ id }) => id));
        const byKey = await find(catalog, { filter: doc({ _id: doc({ $gte: value * 50, $lt: value * 50 + 120 }) }), sort: doc({ _id: 1 }) });
        assert.deepEqual(idsOf(byKey), all.map(({ id }) => id).filter((id) => id >= value * 50 && id < value * 50 + 120).sort((x, y) => x - y));
      }
      assert.equal((await find(catalog, {})).length, all.length);
    }),
    { numRuns: 40 },
  );
});
