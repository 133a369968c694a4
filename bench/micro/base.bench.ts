// Comparing keys and checksumming blocks: the two loops that everything below the query language runs through.
// Sizes go around powers of two, where a native or a vector path may begin or end.

import { compareRange } from '../../src/base/bytes.ts';
import { crc32c } from '../../src/base/crc32c.ts';
import { bench, type Bench } from '../support/bench.ts';

/** The same bytes for the same seed: a 32-bit xorshift. */
function pseudoRandomBytes(length: number, seed: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let state = seed;
  for (let i = 0; i < length; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    bytes[i] = state;
  }
  return bytes;
}

const compareKeys = bench({
  name: 'base/compare-keys',
  small: { keyBytes: 16, count: 64, rounds: 2 },
  large: [8, 15, 16, 17, 100].map((keyBytes) => ({ keyBytes, count: 4096, rounds: 200 })),
  prepare: ({ keyBytes, count, rounds }) => {
    const keys = pseudoRandomBytes(keyBytes * count, 1);
    // Keys of one node begin alike.
    for (let i = 0; i < count; i++) keys.fill(7, i * keyBytes, i * keyBytes + (keyBytes >> 1));
    return () => {
      let greater = 0;
      for (let round = 0; round < rounds; round++) {
        for (let at = keyBytes; at < keys.length; at += keyBytes) {
          if (compareRange(keys, at - keyBytes, at, keys, at, at + keyBytes) > 0) greater++;
        }
      }
      return { operations: rounds * (count - 1), bytes: rounds * keys.length, checksum: greater };
    };
  },
});

const checksumBlocks = bench({
  name: 'base/crc32c',
  small: { blockBytes: 512, blocks: 4 },
  large: [511, 512, 513, 4096, 65536].map((blockBytes) => ({ blockBytes, blocks: Math.ceil((1 << 25) / blockBytes) })),
  prepare: ({ blockBytes, blocks }) => {
    const block = pseudoRandomBytes(blockBytes, 2);
    return () => {
      let checksum = 0;
      for (let i = 0; i < blocks; i++) checksum = crc32c(block, 0, blockBytes, checksum);
      return { operations: blocks, bytes: blocks * blockBytes, checksum };
    };
  },
});

export const benches: readonly Bench[] = [compareKeys, checksumBlocks];
