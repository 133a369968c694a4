// Extents and fences: what goes in comes out through every codec, searches read the right basements, and damage is found.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ByteReader } from '../../../src/base/byte-reader.ts';
import { ByteWriter } from '../../../src/base/byte-writer.ts';
import { compareBytes, viewOf } from '../../../src/base/bytes.ts';
import { EngineError } from '../../../src/base/errors.ts';
import { keyHash } from '../../../src/base/hash.ts';
import { loadCodecs } from '../../../src/env/index.ts';
import type { CodecName } from '../../../src/env/index.ts';
import { decodeBasement, ExtentBuilder } from '../../../src/engine/run/extent.ts';
import { Fences } from '../../../src/engine/run/fences.ts';
import type { Message } from '../../../src/engine/run/message.ts';
import { key, messages, messagesOf, runOfMessages, sortMessages } from './messages.ts';

const codecs = await loadCodecs();
const codecNames: readonly CodecName[] = ['none', 'lz4', 'zlib', 'zstd'];

interface Extent {
  readonly image: Uint8Array;
  readonly fences: Fences;
}

function extentOf(list: readonly Message[], codec: CodecName, readPageBytes: number): Extent {
  const run = runOfMessages(list);
  const builder = new ExtentBuilder(codecs.byName(codec), readPageBytes);
  for (let i = 0; i < run.count; i++) builder.append(run, i, run.seq(i));
  assert.equal(builder.count, list.length);
  return builder.finish();
}

function basement({ image, fences }: Extent, index: number): Message[] {
  const start = fences.storedOffset(index);
  return messagesOf(decodeBasement(image.subarray(start, start + fences.storedLength(index)), fences, index, codecs));
}

function allMessages(extent: Extent): Message[] {
  return Array.from({ length: extent.fences.length }, (_, i) => basement(extent, i)).flat();
}

const filled = messages.filter((list) => list.length > 0);
const pageBytes = fc.constantFrom(16, 64, 512, 16384);

test('an extent gives back its messages through every codec, and its fences count them', () => {
  fc.assert(
    fc.property(filled, fc.constantFrom(...codecNames), pageBytes, (list, codec, page) => {
      const extent = extentOf(list, codec, page);
      const { fences, image } = extent;
      assert.deepEqual(allMessages(extent), list);
      assert.equal(fences.count, list.length);
      assert.equal(fences.storedBytes, image.length);
      const rawLengths = Array.from({ length: fences.length }, (_, i) => fences.rawLength(i));
      assert.equal(fences.rawBytes, rawLengths.reduce((sum, length) => sum + length, 0));
      assert.equal(fences.minSeq, Math.min(...list.map((message) => message.seq)));
      assert.equal(fences.maxSeq, Math.max(...list.map((message) => message.seq)));
      assert.deepEqual(fences.lastKey, list.at(-1)!.key);
      assert.deepEqual(fences.firstKey(0), list[0]!.key);
    }),
    { numRuns: 250 },
  );
});

test('what does not shrink is tried ever less often, and what shrinks again is compressed again', () => {
  const lz4 = codecs.byName('lz4');
  let tried = 0;
  const compress: typeof lz4.compress = (source, target) => {
    tried += 1;
    return lz4.compress(source, target);
  };
  const builder = new ExtentBuilder({ id: lz4.id, name: lz4.name, compress, decompress: (source, target) => lz4.decompress(source, target), maxCompressedLength: (length) => lz4.maxCompressedLength(length) }, 1024);
  let state = 1;
  const value = (i: number): Uint8Array => (i < 60 ? Uint8Array.from({ length: 1000 }, () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) >>> 24) : new Uint8Array(1000).fill(i));
  const run = runOfMessages(Array.from({ length: 100 }, (_, i) => ({ key: Uint8Array.of(i), seq: 1, kind: 0, value: value(i) })));
  for (let i = 0; i < run.count; i++) builder.append(run, i, 1);
  const { image, fences } = builder.finish();
  const plain = Array.from({ length: fences.length }, (_, i) => fences.isPlain(i));
  assert.equal(fences.length, 100);
  assert.ok(plain.slice(0, 60).every(Boolean), 'random bytes are stored as they are');
  assert.ok(plain.slice(60).filter(Boolean).length <= 8, 'at most eight are stored as they are behind them');
  assert.ok(tried < 12 + 40, `${String(tried)} basements were tried`);
  assert.deepEqual(allMessages({ image, fences }), messagesOf(run));
});

test('messages out of an arena make the same extent as those of a run', () => {
  fc.assert(
    fc.property(filled, pageBytes, (list, page) => {
      const builder = new ExtentBuilder(codecs.byName('lz4'), page);
      for (const { key: bytes, value, ...rest } of list) {
        const arena = Uint8Array.from([...bytes, 1, 2, ...value]);
        builder.appendSlice({ ...rest, bytes: arena, view: viewOf(arena), hash: keyHash(arena, 0, bytes.length), keyStart: 0, keyEnd: bytes.length, valueStart: bytes.length + 2, valueEnd: arena.length });
      }
      const { image, fences } = builder.finish();
      const expected = extentOf(list, 'lz4', page);
      assert.deepEqual(image, expected.image);
      assert.deepEqual(allMessages({ image, fences }), list);
    }),
    { numRuns: 100 },
  );
});

test('fences of impossible basements are refused', () => {
  const row = { storedLength: 10, rawLength: 20, rows: 2, flags: 0, suffix: [1] };
  const encoded = (change: Partial<typeof row>, filters: [number, number][] = []): Uint8Array => {
    const { storedLength, rawLength, rows, flags, suffix } = { ...row, ...change };
    const writer = new ByteWriter();
    writer.u8(1);
    for (const value of [1, 5, 2, 0, storedLength, rawLength, rows]) writer.varint(value);
    writer.u8(flags);
    writer.u32(77);
    writer.varint(suffix.length);
    writer.append(Uint8Array.from(suffix));
    writer.varint(1);
    writer.u8(1);
    writer.varint(filters.length);
    for (const [basements, length] of filters) {
      writer.varint(basements);
      writer.varint(length);
      writer.u32(7);
    }
    return writer.copy();
  };
  const fences = Fences.decode(new ByteReader(encoded({})));
  assert.deepEqual([fences.minSeq, fences.maxSeq, fences.count, fences.checksum(0)], [5, 7, 2, 77]);
  const impossible: Partial<typeof row>[] = [{ storedLength: 2 ** 27 }, { rawLength: 2 ** 27 }, { rows: 0 }, { rows: 21 }, { flags: 4 }, { suffix: [2] }];
  for (const change of impossible) {
    assert.throws(() => Fences.decode(new ByteReader(encoded(change))), (error) => error instanceof EngineError && error.code === 'corruption');
  }
  const withFilter = Fences.decode(new ByteReader(encoded({}, [[1, 60]])));
  assert.deepEqual([withFilter.filters, withFilter.filterOf(0), withFilter.filterOffset(0), withFilter.filterLength(0)], [1, 0, 10, 60]);
  for (const filters of [[[0, 60]], [[2, 60]], [[1, 2 ** 27]], [[1, 60], [1, 60]]] as [number, number][][]) {
    assert.throws(() => Fences.decode(new ByteReader(encoded({}, filters))), (error) => error instanceof EngineError && error.code === 'corruption');
  }
});

test('versions of a key share a basement unless they alone fill more than one', () => {
  fc.assert(
    fc.property(filled, pageBytes, (list, page) => {
      const extent = extentOf(list, 'none', page);
      for (let i = 1; i < extent.fences.length; i++) {
        const first = extent.fences.firstKey(i);
        const before = basement(extent, i - 1);
        const continues = compareBytes(before.at(-1)!.key, first) === 0;
        assert.equal(extent.fences.continues(i), continues);
        if (!continues) continue;
        const versions = list.filter((message) => compareBytes(message.key, first) === 0);
        assert.ok(versions.reduce((sum, { key, value }) => sum + key.length + value.length + 4, 0) > page);
      }
    }),
    { numRuns: 300 },
  );
});

test('a value of 17 MiB is a basement of its own', () => {
  const large = new Uint8Array(17 * 2 ** 20);
  for (let i = 0; i < large.length; i += 7) large[i] = i % 251;
  const small = Array.from({ length: 40 }, (_, i): Message => ({ key: Uint8Array.of(i), seq: i, kind: 0, value: new Uint8Array(100) }));
  const list = sortMessages([...small, { key: Uint8Array.of(20, 0), seq: 5, kind: 0, value: large }]);
  for (const codec of codecNames) {
    const extent = extentOf(list, codec, 1024);
    assert.deepEqual(allMessages(extent), list);
    const index = extent.fences.find(Uint8Array.of(20, 0));
    assert.equal(extent.fences.rows(index), 1);
  }
});

test('what a codec makes no smaller is stored as it is', () => {
  let state = 1;
  const noise = Uint8Array.from({ length: 2000 }, () => (state = (state * 48271) % 0x7fffffff) & 0xff);
  const extent = extentOf([{ key: Uint8Array.of(1), seq: 0, kind: 0, value: noise }], 'zstd', 512);
  assert.equal(extent.fences.isPlain(0), true);
  assert.ok(extent.fences.storedLength(0) <= extent.fences.rawLength(0));
});

test('firstFor and find name exactly the basements that a search must read', () => {
  fc.assert(
    fc.property(filled, fc.array(key, { maxLength: 10 }), pageBytes, (list, others, page) => {
      const extent = extentOf(list, 'none', page);
      const { fences } = extent;
      const basements = Array.from({ length: fences.length }, (_, i) => basement(extent, i));
      for (const probe of [...others, ...list.map((message) => message.key)]) {
        const holding = basements.findIndex((part) => part.some((message) => compareBytes(message.key, probe) === 0));
        const atOrBehind = basements.findIndex((part) => part.some((message) => compareBytes(message.key, probe) >= 0));
        const first = fences.firstFor(probe);
        const last = fences.find(probe);
        if (holding >= 0) assert.equal(first, holding);
        assert.ok(first <= (atOrBehind < 0 ? fences.length : atOrBehind));
        assert.equal(first === fences.length, atOrBehind < 0);
        assert.equal(last, basements.filter((part) => compareBytes(part[0]!.key, probe) <= 0).length - 1);
        const lastHolding = basements.findLastIndex((part) => part.some((message) => compareBytes(message.key, probe) === 0));
        if (lastHolding >= 0) assert.equal(last, lastHolding);
      }
    }),
    { numRuns: 200 },
  );
});

test('overlaps says no only when no key of the range can be there', () => {
  const bound = fc.option(key, { nil: undefined });
  fc.assert(
    fc.property(filled, bound, bound, (list, from, to) => {
      const { fences } = extentOf(list, 'none', 64);
      const inside = list.some(
        (message) => (from === undefined || compareBytes(message.key, from) >= 0) && (to === undefined || compareBytes(message.key, to) < 0),
      );
      if (inside) assert.equal(fences.overlaps(from, to), true);
      const apart = (from !== undefined && compareBytes(list.at(-1)!.key, from) < 0) || (to !== undefined && compareBytes(list[0]!.key, to) >= 0);
      if (apart) assert.equal(fences.overlaps(from, to), false);
    }),
    { numRuns: 300 },
  );
});

test('fences are the same after encoding and decoding', () => {
  fc.assert(
    fc.property(filled, fc.constantFrom(...codecNames), pageBytes, (list, codec, page) => {
      const { fences, image } = extentOf(list, codec, page);
      const writer = new ByteWriter();
      writer.u32(7);
      fences.encode(writer);
      const reader = new ByteReader(writer.copy());
      reader.u32();
      const decoded = Fences.decode(reader);
      reader.expectEnd();
      assert.deepEqual(allMessages({ image, fences: decoded }), list);
      const again = new ByteWriter();
      decoded.encode(again);
      assert.deepEqual(again.copy(), writer.copy().subarray(4));
      assert.deepEqual([decoded.count, decoded.rawBytes, decoded.byteSize], [fences.count, fences.rawBytes, fences.byteSize]);
    }),
    { numRuns: 200 },
  );
});

test('damaged fences decode to some fences or are refused', () => {
  fc.assert(
    fc.property(filled, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 3 }), fc.option(fc.nat()), (list, edits, cut) => {
      const writer = new ByteWriter();
      extentOf(list, 'none', 64).fences.encode(writer);
      const bytes = writer.copy();
      for (const [at, byte] of edits) bytes[at % bytes.length] = byte;
      try {
        const fences = Fences.decode(new ByteReader(cut === null ? bytes : bytes.subarray(0, cut % (bytes.length + 1))));
        fences.firstFor(Uint8Array.of(1));
      } catch (error) {
        assert.ok(error instanceof EngineError && error.code === 'corruption', String(error));
      }
    }),
    { numRuns: 1500 },
  );
});

test('a flipped bit anywhere in an image is found in its basement and nowhere else', () => {
  fc.assert(
    fc.property(filled, fc.constantFrom(...codecNames), fc.nat(), fc.nat(7), (list, codec, at, bit) => {
      const extent = extentOf(list, codec, 64);
      const { image, fences } = extent;
      const place = at % image.length;
      image[place] = image[place]! ^ (1 << bit);
      for (let i = 0; i < fences.length; i++) {
        const start = fences.storedOffset(i);
        const isHit = place >= start && place < start + fences.storedLength(i);
        if (!isHit) basement(extent, i);
        else assert.throws(() => basement(extent, i), (error) => error instanceof EngineError && error.code === 'corruption');
      }
    }),
    { numRuns: 200 },
  );
});
