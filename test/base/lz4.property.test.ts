// LZ4 against a decoder written straight from the format's description (lz4_Block_format.md), which also checks the rules that encoders owe:
// the last five bytes are literals, no match begins within the last twelve bytes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { EngineError } from '../../src/base/errors.ts';
import { compressPlain, decompressPlain, lz4TableLength } from '../../src/base/lz4-plain.ts';
import { compressLz4, decompressLz4, lz4LengthMax } from '../../src/base/lz4.ts';
import { repetitiveBytes } from '../support/repetitive-bytes.ts';

/** What a block means; undefined when it breaks the format. */
function meaning(block: Uint8Array, checksEncoder: boolean): number[] | undefined {
  const out: number[] = [];
  const matchStarts: number[] = [];
  let at = 0;
  const byte = (): number => block[at++] ?? NaN;
  const length = (low: number): number => {
    let sum = low;
    if (low === 15) for (let more = 255; more === 255; sum += more) more = byte();
    return sum;
  };
  for (;;) {
    const token = byte();
    const literals = length(token >> 4);
    for (let i = 0; i < literals; i++) out.push(byte());
    if (Number.isNaN(token) || Number.isNaN(literals) || at > block.length) return undefined;
    if (at === block.length) {
      if (checksEncoder && matchStarts.length > 0) assert.ok(literals >= 5 && out.length - Math.max(...matchStarts) >= 12);
      return out;
    }
    const offset = byte() + 256 * byte();
    const count = length(token & 15) + 4;
    if (Number.isNaN(offset) || Number.isNaN(count) || offset === 0 || offset > out.length) return undefined;
    matchStarts.push(out.length);
    for (let i = 0; i < count; i++) out.push(out[out.length - offset] as number);
  }
}

function compress(source: Uint8Array): Uint8Array {
  const target = new Uint8Array(lz4LengthMax(source.length));
  return target.slice(0, compressLz4(source, target));
}

/** Our decoder's result; undefined for `corruption`. */
function decompress(block: Uint8Array, length: number): number[] | undefined {
  const target = new Uint8Array(length);
  try {
    assert.equal(decompressLz4(block, target), length);
    return [...target];
  } catch (error) {
    assert.ok(error instanceof EngineError && error.code === 'corruption', String(error));
    return undefined;
  }
}

test('what the encoder writes means what it was given, by the rules of the format', () => {
  fc.assert(
    fc.property(repetitiveBytes, (source) => {
      assert.deepEqual(meaning(compress(source), true), [...source]);
    }),
    { numRuns: 300 },
  );
});

test('the encoder finds what comes again, near and as far as the format reaches', () => {
  const word = Uint8Array.from({ length: 64 }, (_, index) => (index * 37 + 11) & 0xff);
  const gap = (length: number): Uint8Array => Uint8Array.from({ length }, (_, index) => Math.imul(index + 1, 2_654_435_761) >>> 24);
  for (const [distance, found] of [[64, true], [1000, true], [65_535, true], [65_600, false]] as const) {
    const source = Uint8Array.from([...word, ...gap(distance - 64), ...word, ...gap(20)]);
    const alone = compress(Uint8Array.from([...word, ...gap(distance - 64)])).length + compress(Uint8Array.from([...word, ...gap(20)])).length;
    const saved = alone - compress(source).length;
    assert.equal(saved > 40, found, `${String(distance)}: ${String(saved)}`);
  }
  assert.ok(compress(new Uint8Array(100_000)).length < 450);
});

test('a block of noise grows by no more than the limit', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 2000 }), (source) => assert.ok(compress(source).length <= lz4LengthMax(source.length))));
});

/** Blocks from parts that mostly keep the format: lengths and offsets near the limits. */
const madeBlock = fc
  .array(fc.record({ literals: fc.nat(20), offset: fc.oneof(fc.integer({ min: 1, max: 30 }), fc.nat(70_000)), match: fc.oneof(fc.nat(40), fc.nat(300)) }), { maxLength: 8 })
  .chain((sequences) =>
    fc.tuple(fc.nat(20), fc.nat(255)).map(([last, value]) => {
      const block: number[] = [];
      const rest = (length: number): void => {
        if (length < 15) return;
        let left = length - 15;
        for (; left >= 255; left -= 255) block.push(255);
        block.push(left);
      };
      for (const { literals, offset, match } of sequences) {
        block.push((Math.min(literals, 15) << 4) | Math.min(match, 15));
        rest(literals);
        for (let i = 0; i < literals; i++) block.push((value + i) & 0xff);
        block.push(offset & 0xff, (offset >> 8) & 0xff);
        rest(match);
      }
      block.push(Math.min(last, 15) << 4);
      rest(last);
      for (let i = 0; i < last; i++) block.push(value);
      return Uint8Array.from(block);
    }),
  );

test('the decoder agrees with the description on blocks of any encoder, whole or damaged, and refuses every other length', () => {
  const damage = fc.option(fc.tuple(fc.nat(), fc.nat(255)), { nil: undefined });
  fc.assert(
    fc.property(madeBlock, damage, fc.integer({ min: -2, max: 2 }), (block, change, more) => {
      if (change !== undefined && block.length > 0) block[change[0] % block.length] = change[1];
      const expected = meaning(block, false);
      const length = Math.max(0, (expected?.length ?? 50) + more);
      assert.deepEqual(decompress(block, length), expected?.length === length ? expected : undefined);
    }),
    { numRuns: 2000 },
  );
});

test('with and without WebAssembly a block has the same bytes, and damage is met by both or by neither', () => {
  const table = new Uint32Array(lz4TableLength);
  let base = 1;
  const damages = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 2 });
  fc.assert(
    fc.property(repetitiveBytes, damages, (source, damage) => {
      const target = new Uint8Array(lz4LengthMax(source.length));
      const block = target.slice(0, compressPlain(source, target, { table, base }));
      base += source.length;
      assert.deepEqual(compress(source), block);
      for (const [at, value] of damage) block[at % block.length] = value;
      const plain = new Uint8Array(source.length);
      const whole = ((): boolean => {
        try {
          return decompressPlain(block, plain) === source.length;
        } catch {
          return false;
        }
      })();
      assert.deepEqual(decompress(block, source.length), whole ? [...plain] : undefined);
    }),
    { numRuns: 500 },
  );
});

test('a block that is too long for the memory of WebAssembly goes another way, and comes back', () => {
  for (const length of [65_535, 65_536, 65_537, 65_536 + 1024, 200_000]) {
    const source = Uint8Array.from({ length }, (_, index) => (index * index) >>> 9);
    const block = compress(source);
    assert.deepEqual(decompress(block, length), [...source]);
    assert.equal(decompress(block, length - 1), undefined);
    assert.equal(decompress(block, length + 1), undefined);
  }
});
