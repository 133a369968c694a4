import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listAppend } from './list-append.ts';

test('what concurrent transactions see of lists is strong snapshot isolation, with the server killed under them', async () => {
  const { committed, faults } = await listAppend(3, 1, true);
  assert.deepEqual(faults, []);
  assert.ok(committed > 50, 'transactions got on');
});
