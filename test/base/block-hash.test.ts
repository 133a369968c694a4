// XXH32 of blocks side by side is XXH32 of each, wherever the bytes lie and wherever they end.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BlockHash, hashedBlockBytes } from '../../src/base/block-hash.ts';
import { xxhash32 } from '../../src/base/xxhash32.ts';

const bytes = 10 * hashedBlockBytes + 100;

function filled(): BlockHash {
  const hash = new BlockHash(bytes);
  let state = 1;
  for (let i = 0; i < bytes; i++) {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    hash.memory[i] = state >>> 16;
  }
  return hash;
}

test('blocks that are hashed together have the hash that each has by itself, at any place and to any end', () => {
  const hash = filled();
  for (const [from, to] of [[0, bytes], [0, 4 * hashedBlockBytes], [3, 3 + 9 * hashedBlockBytes], [77, 77 + 4 * hashedBlockBytes + 5], [1, 2], [5, 5]] as const) {
    const found: number[] = [];
    assert.equal(hash.each(from, to, (one, block) => found.push(one) === block + 1), true);
    const wanted = Array.from({ length: Math.ceil((to - from) / hashedBlockBytes) }, (_, i) => xxhash32(hash.memory, from + i * hashedBlockBytes, Math.min(from + (i + 1) * hashedBlockBytes, to)));
    assert.deepEqual(found, wanted, `${from} to ${to}`);
  }
});

test('the hash of nothing is that of the reference, and it ends where it is told to', () => {
  // The reference's own value for no bytes and seed 0.
  assert.equal(xxhash32(new Uint8Array(0)), 0x02cc5d05);
  const hash = filled();
  let blocks = 0;
  assert.equal(hash.each(0, bytes, () => ++blocks < 6), false);
  assert.equal(blocks, 6);
});

test('a bit that turns anywhere in a block changes its hash', () => {
  const hash = filled();
  const before: number[] = [];
  hash.each(0, 4 * hashedBlockBytes, (one) => before.push(one) > 0);
  for (const at of [0, 15, 16, 8191, hashedBlockBytes - 1, hashedBlockBytes, 3 * hashedBlockBytes + 4097, 4 * hashedBlockBytes - 1]) {
    hash.memory[at]! ^= 4;
    const now: number[] = [];
    hash.each(0, 4 * hashedBlockBytes, (one) => now.push(one) > 0);
    assert.deepEqual(now.map((one, i) => one === before[i]), before.map((_, i) => i !== Math.floor(at / hashedBlockBytes)), `byte ${at}`);
    hash.memory[at]! ^= 4;
  }
});
