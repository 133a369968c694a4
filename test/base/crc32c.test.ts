import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32c } from '../../src/base/crc32c.ts';

// Vectors of RFC 3720, appendix B.4.
test('crc32c gives the checksums of RFC 3720', () => {
  assert.equal(crc32c(new Uint8Array(32)), 0x8a9136aa);
  assert.equal(crc32c(new Uint8Array(32).fill(0xff)), 0x62a8ab43);
  assert.equal(crc32c(Uint8Array.from({ length: 32 }, (_, i) => i)), 0x46dd794e);
  assert.equal(crc32c(Uint8Array.from({ length: 32 }, (_, i) => 31 - i)), 0x113fdb5c);
  assert.equal(crc32c(new TextEncoder().encode('123456789')), 0xe3069283);
});

test('crc32c of parts goes on from the checksum of the parts before', () => {
  const bytes = Uint8Array.from({ length: 100 }, (_, i) => (i * 37) & 0xff);
  for (let cut = 0; cut <= 100; cut++) assert.equal(crc32c(bytes, cut, 100, crc32c(bytes, 0, cut)), crc32c(bytes));
});
