// UTF-8 lengths: the Unicode Standard's table 3-6 (bytes of a code point), and three for each lone surrogate, which becomes U+FFFD.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeUtf8, utf8Length } from '../../src/base/text.ts';

test('a text takes as many bytes whatever its length, lone surrogates included', () => {
  const cases: readonly (readonly [string, number])[] = [['a', 1], ['é', 2], ['€', 3], ['😀', 4], ['\ud83d', 3], ['\ude00', 3], ['\ude00\ud83d', 6]];
  for (const [text, bytes] of cases) {
    for (const times of [1, 20, 100, 5000]) {
      const apart = `${text}-`.repeat(times);
      assert.equal(utf8Length(apart), (bytes + 1) * times);
      assert.equal(encodeUtf8(apart).length, (bytes + 1) * times);
    }
  }
});
