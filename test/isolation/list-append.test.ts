import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listAppend } from './list-append.ts';

test('what concurrent transactions see of lists is strong snapshot isolation, with the server killed under them', async () => {
  const { committed, faults } = await listAppend(2, 1, { withKills: true, committedMin: 51 });
  assert.deepEqual(faults, []);
  assert.ok(committed > 50, 'transactions got on');
});
