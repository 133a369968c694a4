import assert from 'node:assert/strict';
import { test } from 'node:test';
import { killLoop } from './kill-loop.ts';

test('a server killed under its writers has every acknowledged write, no half transaction, and no retryable write twice', async () => {
  const result = await killLoop(3, 1);
  assert.ok(result.acknowledged > 0);
  assert.ok(result.increments > 0);
});
