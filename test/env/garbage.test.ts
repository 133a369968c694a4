// Memory that is given back at once: only by whoever has all of it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { giveBack } from '../../src/env/index.ts';

test('an array that has all of its memory gives it back and is empty; a view of a part of some takes nothing from the others', () => {
  const whole = new Uint8Array(65_536).fill(7);
  giveBack(whole);
  assert.deepEqual([whole.length, whole.buffer.byteLength], [0, 0]);
  const memory = new Uint8Array(65_536).fill(7);
  giveBack(memory.subarray(1));
  giveBack(memory.subarray(0, 65_535));
  assert.deepEqual([memory.length, memory[65_535]], [65_536, 7]);
  const shared = new Uint8Array(new SharedArrayBuffer(65_536));
  giveBack(shared);
  assert.equal(shared.length, 65_536);
  giveBack(new Uint8Array(0));
});
