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
  assert.ok(writes.counts.length < 10_000);
  assert.deepEqual(writes.totals(), new Map([[documents, { rows: 1, bytes: 1_000_000 }], [entries, { rows: 300_000, bytes: 3_600_000 }]]));
});
