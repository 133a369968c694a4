// CRC-32C against the vectors of RFC 3720, appendix B.4, and against the definition bit by bit.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { crc32c } from '../../src/base/crc32c.ts';

function bitByBit(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  return ~crc >>> 0;
}

test('crc32c gives the checksums of RFC 3720', () => {
  const rising = Uint8Array.from({ length: 32 }, (_, index) => index);
  assert.equal(crc32c(new Uint8Array(32)), 0x8a9136aa);
  assert.equal(crc32c(new Uint8Array(32).fill(0xff)), 0x62a8ab43);
  assert.equal(crc32c(rising), 0x46dd794e);
  assert.equal(crc32c(rising.toReversed()), 0x113fdb5c);
  assert.equal(crc32c(new TextEncoder().encode('123456789')), 0xe3069283);
  assert.equal(crc32c(new Uint8Array(0)), 0);
});

test('crc32c is the polynomial division, at every length and position', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), fc.nat(40), (bytes, start) => {
      const from = Math.min(start, bytes.length);
      assert.equal(crc32c(bytes, from), bitByBit(bytes.subarray(from)));
    }),
  );
});

test('crc32c of a whole is the crc32c of its end seeded with that of its beginning', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), fc.nat(100), (bytes, cut) => {
      const at = Math.min(cut, bytes.length);
      assert.equal(crc32c(bytes, at, bytes.length, crc32c(bytes, 0, at)), crc32c(bytes));
    }),
  );
});

test('crc32c of long inputs is the polynomial division too, at every alignment', () => {
  const bytes = Uint8Array.from({ length: 5000 }, (_, i) => (i * 7 + (i >> 3) * 13) & 0xff);
  for (let start = 0; start < 9; start++) {
    for (const length of [2047, 2048, 2049, 2063, 2064, 2065, 4800]) assert.equal(crc32c(bytes, start, start + length), bitByBit(bytes.subarray(start, start + length)), `${start} ${length}`);
    const within = new Uint8Array(bytes.buffer, start, 3000);
    assert.equal(crc32c(within, 3), bitByBit(within.subarray(3)));
  }
});
