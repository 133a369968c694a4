import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { Md5 } from '../../src/base/md5.ts';

// The test suite of RFC 1321, appendix A.5.
const VECTORS: readonly (readonly [text: string, sum: string])[] = [
  ['', 'd41d8cd98f00b204e9800998ecf8427e'],
  ['a', '0cc175b9c0f1b6a831c399e269772661'],
  ['abc', '900150983cd24fb0d6963f7d28e17f72'],
  ['message digest', 'f96b697d7cb7938d525a2f31aaf161d0'],
  ['abcdefghijklmnopqrstuvwxyz', 'c3fcd3d76192e4007dfb496cca67e13b'],
  ['ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789', 'd174ab98d277d9f5a5611c2c9f419d9f'],
  ['12345678901234567890123456789012345678901234567890123456789012345678901234567890', '57edf4a22be3c955ac49da2e2107b67a'],
];

test('md5 gives the sums of RFC 1321', () => {
  for (const [text, sum] of VECTORS) assert.equal(new Md5().update(new TextEncoder().encode(text)).digest(), sum);
});

test('md5 of parts is that of the whole, at every length around a block', () => {
  const bytes = Uint8Array.from({ length: 200 }, (_, i) => (i * 31) & 0xff);
  for (let length = 0; length <= 200; length++) {
    const whole = bytes.subarray(0, length);
    const md5 = new Md5();
    for (let at = 0; at < length; at += 7) md5.update(whole.subarray(at, at + 7));
    assert.equal(md5.digest(), createHash('md5').update(whole).digest('hex'));
  }
});
