// What a transaction keeps of its writes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FrontPool } from '../../../src/engine/txn/front-pool.ts';
import { WriteSet } from '../../../src/engine/txn/write-set.ts';
import type { DictionaryId } from '../../../src/engine/types.ts';

test('counts of one document with hundreds of thousands of index entries are folded', () => {
  const writes = new WriteSet(new FrontPool(1 << 20));
  const [documents, entries] = [2 as DictionaryId, 3 as DictionaryId];
  writes.count(documents, 1, 1_000_000);
  for (let i = 0; i < 300_000; i++) writes.count(entries, 1, 12);
  writes.foldCounts();
  assert.ok(writes.byteSize < 10_000 * 64);
  assert.deepEqual(writes.totals(), new Map([[documents, { rows: 1, bytes: 1_000_000 }], [entries, { rows: 300_000, bytes: 3_600_000 }]]));
});

test('counts behind a mark are taken back, whatever was folded before it', () => {
  const writes = new WriteSet(new FrontPool(1 << 20));
  const [a, b] = [2 as DictionaryId, 3 as DictionaryId];
  for (let i = 0; i < 10_000; i++) writes.count(i % 2 === 0 ? a : b, 1, 2);
  writes.foldCounts();
  const mark = writes.operation;
  writes.count(b, -5, -7);
  writes.count(a, 1, 1);
  writes.rollbackTo(mark);
  assert.deepEqual(writes.totals(), new Map([[a, { rows: 5000, bytes: 10_000 }], [b, { rows: 5000, bytes: 10_000 }]]));
  assert.throws(() => writes.rollbackTo(1), { code: 'too-large' });
  writes.rollbackTo(0);
  assert.deepEqual([writes.totals().size, writes.isEmpty], [0, true]);
});
