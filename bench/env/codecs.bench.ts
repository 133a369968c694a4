// The codecs on what the engine gives them: documents of about 290 bytes in blocks of 16 and 64 KiB. Compare methods within one run.

import { crc32c } from '../../src/base/crc32c.ts';
import { loadCodecs } from '../../src/env/index.ts';
import type { CodecName } from '../../src/env/index.ts';
import { bench, type Bench } from '../support/bench.ts';

/** Documents as an application has them: same fields, values that vary, some text from a small vocabulary. */
function documents(bytes: number): Uint8Array {
  const words = ['alpha', 'river', 'stone', 'cloud', 'ember', 'frond', 'maple', 'north', 'quiet', 'salt'];
  let state = 7;
  const next = (limit: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % limit;
  };
  const parts: string[] = [];
  for (let length = 0; length < bytes; length += parts.at(-1)?.length ?? 0) {
    const text = Array.from({ length: 18 }, () => words[next(words.length)]).join(' ');
    parts.push(`\u0001\u0001_id\0${String(next(2 ** 24))}\u0002name\0user${String(next(100_000))}\0score\0${String(next(1e6))}\u0002text\0${text}\0at\0${String(next(2 ** 30))}`);
  }
  return new TextEncoder().encode(parts.join('')).subarray(0, bytes);
}

const names: readonly CodecName[] = ['none', 'lz4', 'zlib', 'zstd'];
const codecs = await loadCodecs();

interface Parameters {
  readonly codec: CodecName;
  readonly blockBytes: number;
  readonly blocks: number;
}

const small: Parameters = { codec: 'lz4', blockBytes: 4096, blocks: 2 };
const large: Parameters[] = names.flatMap((codec) => [16_384, 65_536].map((blockBytes) => ({ codec, blockBytes, blocks: (1 << 24) / blockBytes })));

const compressing = bench({
  name: 'env/compress',
  small,
  large,
  prepare: ({ codec: name, blockBytes, blocks }) => {
    const codec = codecs.byName(name);
    const source = documents(blockBytes);
    const target = new Uint8Array(codec.maxCompressedLength(blockBytes));
    return () => {
      let length = 0;
      for (let i = 0; i < blocks; i++) length += codec.compress(source, target);
      return { operations: blocks, bytes: blocks * blockBytes, checksum: length };
    };
  },
});

const decompressing = bench({
  name: 'env/decompress',
  small,
  large,
  prepare: ({ codec: name, blockBytes, blocks }) => {
    const codec = codecs.byName(name);
    const source = documents(blockBytes);
    const memory = new Uint8Array(codec.maxCompressedLength(blockBytes));
    const packed = memory.subarray(0, codec.compress(source, memory));
    const target = new Uint8Array(blockBytes);
    return () => {
      for (let i = 0; i < blocks; i++) codec.decompress(packed, target);
      return { operations: blocks, bytes: blocks * blockBytes, checksum: crc32c(target) };
    };
  },
});

export const benches: readonly Bench[] = [compressing, decompressing];
