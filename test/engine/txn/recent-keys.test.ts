import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hash52 } from '../../../src/base/hash.ts';
import { RecentKeys } from '../../../src/engine/txn/recent-keys.ts';

const key = (n: number): Uint8Array => Uint8Array.of(n >> 8, n);

test('a key is a conflict for snapshots before its last commit, and for no other', () => {
  const recent = new RecentKeys(100);
  recent.open(5);
  recent.add(1, key(1), 6);
  recent.add(1, key(1), 8);
  const hash = hash52(1, key(1));
  assert.deepEqual([5, 7, 8, 9].map((snapshot) => recent.conflicts(hash, snapshot)), [true, true, false, false]);
  assert.equal(recent.conflicts(hash52(2, key(1)), 5), false);
});

test('nothing is kept while nobody may ask', () => {
  const recent = new RecentKeys(100);
  recent.add(1, key(1), 6);
  assert.equal(recent.size, 0);
  recent.open(6);
  recent.add(1, key(1), 7);
  assert.equal(recent.size, 1);
  recent.close(6);
  assert.equal(recent.size, 0);
});

test('what is forgotten raises the floor: older writers conflict with everything, newer ones with what is known', () => {
  const recent = new RecentKeys(64);
  recent.open(1);
  recent.open(50);
  for (let seq = 2; seq <= 80; seq++) recent.add(1, key(seq), seq);
  assert.ok(recent.size <= 64);
  assert.equal(recent.conflicts(hash52(1, key(9999)), 1), true);
  assert.equal(recent.conflicts(hash52(1, key(9999)), 50), false);
  assert.equal(recent.conflicts(hash52(1, key(70)), 50), true);
});
