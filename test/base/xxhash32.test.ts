// XXH32 against the values that the specification's own program prints.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { xxhash32 } from '../../src/base/xxhash32.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

test('XXH32 gives the published values, at any alignment', () => {
  const known: readonly (readonly [string, number, number])[] = [
    ['', 0, 0x02cc5d05], ['a', 0, 0x550d7456], ['abc', 0, 0x32d153ff], ['Nobody inspects the spammish repetition', 0, 0xe2293b2f],
  ];
  for (const [text, seed, expected] of known) {
    assert.equal(xxhash32(bytes(text), 0, bytes(text).length, seed), expected, text);
    const shifted = bytes(`xyz${text}`);
    assert.equal(xxhash32(shifted, 3, shifted.length, seed), expected, text);
  }
});

test('any single flipped bit changes it', () => {
  const data = Uint8Array.from({ length: 71 }, (_, i) => (i * 37) & 0xff);
  const whole = xxhash32(data);
  for (let bit = 0; bit < data.length * 8; bit++) {
    const flipped = data.slice();
    flipped[bit >> 3] = (flipped[bit >> 3] as number) ^ (1 << (bit & 7));
    assert.notEqual(xxhash32(flipped), whole);
  }
});
