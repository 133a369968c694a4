// The inner loops of the engine: search in a basement, decoding one, merging sorted runs, building an extent. Sizes of engine.md: basements
// of 16 to 32 KiB, documents of 290 bytes, index entries of some 20.

import { loadCodecs } from '../../src/env/index.ts';
import type { CodecName } from '../../src/env/index.ts';
import { decodeBasement, ExtentBuilder } from '../../src/engine/run/extent.ts';
import { Merge } from '../../src/engine/run/merge.ts';
import { RunBuilder } from '../../src/engine/run/run-builder.ts';
import type { Run } from '../../src/engine/run/run.ts';
import { bench } from '../support/bench.ts';
import type { Bench } from '../support/bench.ts';

const codecs = await loadCodecs();

const names: readonly CodecName[] = ['none', 'lz4', 'zstd'];
const smallest: CodecName = 'lz4';

/** A permutation of [0, count) that looks random: count is a power of two. */
function shuffled(i: number, count: number): number {
  return (Math.imul(i, 0x9e3779b1) >>> 7) & (count - 1);
}

/** Twelve bytes as of an ObjectId or encoded number: a common beginning, then `id` spread over the rest. */
function fillKey(key: Uint8Array, id: number): void {
  key.fill(0x64, 0, 4);
  const spread = Math.imul(id, 0x2545f491) >>> 0;
  key[4] = id >>> 24;
  key[5] = id >>> 16;
  key[6] = id >>> 8;
  key[7] = id;
  new DataView(key.buffer, key.byteOffset).setUint32(8, spread);
}

const words = ['name', 'alpha', 'street', 'log_time', 'rank1', 'rank2', 'active', 'tags', 'city', 'status', 'created', 'score'];

/** Text that compresses about as documents do. */
function fillValue(value: Uint8Array, id: number): void {
  let at = 0;
  for (let word = id; at < value.length; word = Math.imul(word, 31) + 7) {
    const text = `${words[(word >>> 3) % words.length] ?? ''}:${String((word >>> 8) & 0xfff)},`;
    for (let i = 0; i < text.length && at < value.length; i++) value[at++] = text.charCodeAt(i);
  }
}

/** A run of messages with keys first, first + step, ... and descending ages. */
function makeRun(count: number, valueBytes: number, seqs: (i: number) => number, keys: (i: number) => number): Run {
  const builder = new RunBuilder(count, 1024);
  const key = new Uint8Array(12);
  const value = new Uint8Array(valueBytes);
  for (let i = 0; i < count; i++) {
    fillKey(key, keys(i));
    fillValue(value, i);
    builder.appendMessage({ key, seq: seqs(i), kind: 0, value });
  }
  return builder.finish();
}

const settled = (): number => 0;

const search = bench({
  name: 'run/find',
  small: { count: 64, valueBytes: 16, searches: 256 },
  large: [
    { count: 64, valueBytes: 290, searches: 1 << 20 },
    { count: 128, valueBytes: 200, searches: 1 << 20 },
    { count: 1024, valueBytes: 16, searches: 1 << 20 },
  ],
  prepare: ({ count, valueBytes, searches }) => {
    const run = makeRun(count, valueBytes, settled, (i) => i * 17);
    const probes = Array.from({ length: 1024 }, (_, i) => {
      const key = new Uint8Array(12);
      fillKey(key, shuffled(i, count) * 17 + (i & 1));
      return key;
    });
    return () => {
      let found = 0;
      for (let i = 0; i < searches; i++) {
        const index = run.find(probes[i & 1023] as Uint8Array, 0, run.count, 5);
        if (index >= 0) found += index;
      }
      return { operations: searches, bytes: 0, checksum: found };
    };
  },
});

const decode = bench({
  name: 'run/decode-basement',
  small: { codec: smallest, valueBytes: 40, readPageBytes: 1024, rounds: 1 },
  large: names.flatMap((codec) =>
    [290, 16].map((valueBytes) => ({ codec, valueBytes, readPageBytes: 32 * 1024, rounds: 40 })),
  ),
  prepare: ({ codec, valueBytes, readPageBytes, rounds }) => {
    const run = makeRun(1 << 13, valueBytes, settled, (i) => i * 3);
    const builder = new ExtentBuilder(codecs.byName(codec), readPageBytes);
    for (let i = 0; i < run.count; i++) builder.append(run, i, 0);
    const { image, fences } = builder.finish();
    return () => {
      let rows = 0;
      for (let round = 0; round < rounds; round++) {
        for (let i = 0; i < fences.length; i++) {
          const start = fences.storedOffset(i);
          rows += decodeBasement(image.subarray(start, start + fences.storedLength(i)), fences, i, codecs).count;
        }
      }
      return { operations: rounds * fences.length, bytes: rounds * fences.rawBytes, checksum: rows };
    };
  },
});

const encode = bench({
  name: 'run/build-extent',
  small: { codec: smallest, valueBytes: 40, rounds: 1 },
  large: names.flatMap((codec) => [290, 16].map((valueBytes) => ({ codec, valueBytes, rounds: 10 }))),
  prepare: ({ codec, valueBytes, rounds }) => {
    const run = makeRun(1 << 13, valueBytes, (i) => i + 1000, (i) => i * 3);
    const builder = new ExtentBuilder(codecs.byName(codec), 32 * 1024);
    return () => {
      let stored = 0;
      let raw = 0;
      for (let round = 0; round < rounds; round++) {
        for (let i = 0; i < run.count; i++) builder.append(run, i, 0);
        const { image, fences } = builder.finish();
        stored += image.length;
        raw += fences.rawBytes;
      }
      return { operations: rounds * run.count, bytes: raw, checksum: stored };
    };
  },
});

const merge = bench({
  name: 'run/merge',
  small: { inputs: 2, valueBytes: 16, count: 128, repeats: 0 },
  large: [1, 2, 4, 8].flatMap((inputs) => [
    { inputs, valueBytes: 16, count: 1 << 15, repeats: 0 },
    { inputs, valueBytes: 290, count: 1 << 14, repeats: 0 },
    { inputs, valueBytes: 16, count: 1 << 15, repeats: 1 },
  ]),
  prepare: ({ inputs, valueBytes, count, repeats }) => {
    // Inputs interleave at random; with `repeats` every second key is in all of them.
    const runs = Array.from({ length: inputs }, (_, input) =>
      makeRun(count, valueBytes, () => inputs - input, (i) => (repeats === 1 && i % 2 === 0 ? i * 64 : i * 64 + 1 + (Math.imul(i * inputs + input, 0x9e3779b1) >>> 26))),
    );
    const builder = new RunBuilder(count, 1 << 20);
    return () => {
      const kernel = new Merge(inputs, { snapshots: Float64Array.of(100), atLeaf: true, ranges: [] });
      let written = 0;
      runs.forEach((run, input) => { kernel.feed(input, run); });
      for (;;) {
        const end = kernel.step(builder, { messages: 4096 });
        written += builder.count;
        builder.clear();
        if (end === 'end') break;
        if (end === 'input') kernel.feed(kernel.needs, undefined);
      }
      return { operations: kernel.messagesRead, bytes: 0, checksum: written };
    };
  },
});

export const benches: readonly Bench[] = [search, decode, encode, merge];
