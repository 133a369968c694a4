// Codecs give back what they were given, and survive whatever else they are given: no crash, no read or write outside, the one error.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { EngineError } from '../../src/base/errors.ts';
import { loadCodecs } from '../../src/env/index.ts';
import type { Codec } from '../../src/env/index.ts';
import { repetitiveBytes } from '../support/repetitive-bytes.ts';

const codecs = await loadCodecs();
const names = ['none', 'lz4', 'zlib', 'zstd'] as const;

const margin = 16;

/** Compresses between two margins and checks that they are untouched. */
function compress(codec: Codec, bytes: Uint8Array): Uint8Array {
  const room = codec.maxCompressedLength(bytes.length);
  const memory = new Uint8Array(room + 2 * margin).fill(0xaa);
  const length = codec.compress(bytes, memory.subarray(margin, margin + room));
  assert.ok(length <= room);
  checkMargins(memory);
  return memory.slice(margin, margin + length);
}

function decompress(codec: Codec, bytes: Uint8Array, length: number): Uint8Array {
  const memory = new Uint8Array(length + 2 * margin).fill(0xaa);
  try {
    assert.equal(codec.decompress(bytes, memory.subarray(margin, margin + length)), length);
  } finally {
    checkMargins(memory);
  }
  return memory.slice(margin, margin + length);
}

function checkMargins(memory: Uint8Array): void {
  assert.ok(memory.subarray(0, margin).every((byte) => byte === 0xaa));
  assert.ok(memory.subarray(-margin).every((byte) => byte === 0xaa));
}

/** Either the call succeeds or it throws EngineError `corruption`. */
function survives(call: () => unknown): boolean {
  try {
    call();
    return true;
  } catch (error) {
    assert.ok(error instanceof EngineError, String(error));
    assert.equal(error.code, 'corruption');
    return false;
  }
}

for (const name of names) {
  const codec = codecs.byName(name);

  test(`${name}: decompressing gives back what was compressed`, () => {
    fc.assert(
      fc.property(repetitiveBytes, (bytes) => {
        assert.deepEqual(decompress(codec, compress(codec, bytes), bytes.length), bytes);
      }),
    );
  });

  test(`${name}: lengths around every limit of the format come back`, () => {
    const lengths = [0, 1, 4, 5, 11, 12, 13, 14, 18, 19, 20, 269, 270, 271, 272, 4095, 4096, 65_535, 65_536, 65_537, 200_000];
    for (const length of lengths) {
      const rising = Uint8Array.from({ length }, (_, index) => (index * index) >>> 7);
      for (const bytes of [new Uint8Array(length), rising]) assert.deepEqual(decompress(codec, compress(codec, bytes), length), bytes);
    }
  });

  test(`${name}: any other length than the true one is corruption`, () => {
    fc.assert(
      fc.property(repetitiveBytes, fc.integer({ min: -3, max: 1000 }), (bytes, more) => {
        const length = bytes.length + more;
        if (more === 0 || length < 0) return;
        const packed = compress(codec, bytes);
        assert.equal(survives(() => decompress(codec, packed, length)), false);
      }),
    );
  });

  test(`${name}: damaged input never does worse than corruption`, () => {
    fc.assert(
      fc.property(repetitiveBytes, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 }), fc.option(fc.nat()), (bytes, damage, cut) => {
        let packed = compress(codec, bytes);
        for (const [at, value] of damage) if (packed.length > 0) packed[at % packed.length] = value;
        if (cut !== null) packed = packed.subarray(0, cut % (packed.length + 1));
        survives(() => decompress(codec, packed, bytes.length));
      }),
      { numRuns: 300 },
    );
  });

  test(`${name}: bytes of any other origin never do worse than corruption`, () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(2000), (bytes, length) => void survives(() => decompress(codec, bytes, length))));
  });
}

test('ids and names belong together for ever, and an unknown id is a format error', () => {
  assert.deepEqual(names.map((name) => codecs.byName(name).id), [0, 1, 2, 3]);
  assert.deepEqual([0, 1, 2, 3].map((id) => codecs.byId(id).name), names);
  assert.throws(() => codecs.byId(4), (error) => error instanceof EngineError && error.code === 'format');
});

test('an LZ4 block that another program made is read', () => {
  // Literals "abc", match of 9 at distance 3, then the last literals "xyzzy": by hand from lz4_Block_format.md.
  const block = Uint8Array.of(0x35, 0x61, 0x62, 0x63, 3, 0, 0x50, 0x78, 0x79, 0x7a, 0x7a, 0x79);
  assert.equal(new TextDecoder().decode(decompress(codecs.byName('lz4'), block, 17)), 'abcabcabcabcxyzzy');
});

test('a zstd frame that another program made is read', () => {
  // A raw block of five bytes, single segment: by hand from RFC 8878.
  const frame = Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x05, 0x29, 0x00, 0x00, 0x68, 0x65, 0x6c, 0x6c, 0x6f);
  assert.equal(new TextDecoder().decode(decompress(codecs.byName('zstd'), frame, 5)), 'hello');
});

test('zstd gives memory for large inputs back and goes on', () => {
  const zstd = codecs.byName('zstd');
  const large = new Uint8Array(12 * 1024 * 1024).map((_, index) => index >>> 10);
  assert.deepEqual(decompress(zstd, compress(zstd, large), large.length), large);
  assert.deepEqual(decompress(zstd, compress(zstd, Uint8Array.of(1, 2, 3)), 3), Uint8Array.of(1, 2, 3));
});
