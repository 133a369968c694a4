import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { EngineError } from '../../../src/base/errors.ts';
import type { BlockNumber } from '../../../src/engine/block/block-number.ts';
import { decodeDictionaryTable, encodeDictionaryTable } from '../../../src/engine/checkpoint/dictionary-table.ts';
import { ExtentBuilder } from '../../../src/engine/run/extent.ts';
import { childOf, decodeNode, encodeNode } from '../../../src/engine/tree/node.ts';
import type { Extent, InternalNode, TreeNode } from '../../../src/engine/tree/node.ts';
import type { TreeRecord } from '../../../src/engine/tree/tree.ts';
import type { DictionaryId } from '../../../src/engine/types.ts';
import { openMemoryEnv } from '../../../src/env/index.ts';
import { compareBytes } from '../../../src/base/bytes.ts';
import { RunBuilder } from '../../../src/engine/run/run-builder.ts';

const env = await openMemoryEnv();
const block = (number: number): BlockNumber => number as BlockNumber;

function extentOf(keys: readonly Uint8Array[], number: number): Extent {
  const run = new RunBuilder();
  keys.forEach((key, i) => run.appendMessage({ key, seq: i + 1, kind: 0, value: key }));
  const source = run.finish();
  const builder = new ExtentBuilder(env.codecs.byName('lz4'), 512);
  for (let i = 0; i < source.count; i++) builder.append(source, i, source.seq(i));
  return { block: block(number), fences: builder.finish().fences };
}

const keys = fc.uniqueArray(fc.uint8Array({ minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 40, comparator: (a, b) => compareBytes(a, b) === 0 })
  .map((list) => list.sort(compareBytes));

const node: fc.Arbitrary<TreeNode> = fc.oneof(
  keys.map((list): TreeNode => ({ kind: 'leaf', number: block(5), extent: extentOf(list, 9) })),
  fc.constant<TreeNode>({ kind: 'leaf', number: block(5), extent: undefined }),
  fc.tuple(keys, keys, fc.integer({ min: 1, max: 6 })).map(([pivots, list, height]): TreeNode => ({
    kind: 'internal', number: block(5), height, pivots,
    children: [...pivots, 0].map((_, i) => block(100 + i)),
    buffers: [...pivots, 0].map((_, i) => (i % 3 === 0 ? [extentOf(list, 200 + i), extentOf(list, 300 + i)] : [])),
    ranges: [...pivots, 0].map((pivot, i) => (i % 4 === 1 ? [{ from: undefined, to: typeof pivot === 'number' ? undefined : pivot, seq: 7 + i }, { from: list[0], to: undefined, seq: 2 ** 40 }] : [])),
  })),
);

test('a node that was written is read back the same', () => {
  fc.assert(
    fc.property(node, (given) => {
      const bytes = encodeNode(given);
      const read = decodeNode(given.number, bytes);
      assert.deepEqual(encodeNode(read), bytes);
      assert.equal(read.kind, given.kind);
      if (given.kind === 'internal' && read.kind === 'internal') assert.deepEqual([read.height, read.pivots, read.children], [given.height, given.pivots, given.children]);
    }),
    { numRuns: 60 },
  );
});

/** Whatever bytes come, the answer is a value or an EngineError. */
function answers(read: () => unknown): void {
  try {
    read();
  } catch (error) {
    assert.ok(error instanceof EngineError && (error.code === 'corruption' || error.code === 'format'), String(error));
  }
}

test('a damaged node is read or refused, never more', () => {
  fc.assert(
    fc.property(node, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 }), fc.nat(), (given, flips, cut) => {
      const bytes = encodeNode(given);
      for (const [at, byte] of flips) bytes[at % bytes.length] = byte;
      answers(() => decodeNode(given.number, bytes));
      answers(() => decodeNode(given.number, bytes.subarray(0, cut % bytes.length)));
    }),
    { numRuns: 300 },
  );
});

test('the child of a key is the one whose range holds it', () => {
  fc.assert(
    fc.property(keys, fc.uint8Array({ maxLength: 12 }), (pivots, key) => {
      const internal: InternalNode = { kind: 'internal', number: block(1), height: 1, pivots, children: [...pivots, 0].map((_, i) => block(i + 2)), buffers: [], ranges: [] };
      assert.equal(childOf(internal, key), pivots.filter((pivot) => compareBytes(pivot, key) <= 0).length);
    }),
    { numRuns: 100 },
  );
});

const whole = fc.integer({ min: 0, max: 2 ** 50 });
const record: fc.Arbitrary<TreeRecord> = fc.record({
  id: fc.integer({ min: 1, max: 2 ** 31 }).map((id) => id as DictionaryId),
  options: fc.record({ compression: fc.constantFrom('none', 'lz4', 'zlib', 'zstd'), pageBytes: whole, readPageBytes: whole, fanout: fc.integer({ min: 4, max: 64 }), largeValueBytes: whole }, { noNullPrototype: true }),
  createdSeq: whole, droppedSeq: fc.oneof(fc.constant(Infinity), fc.integer({ min: 1, max: 2 ** 50 })), root: whole.map((n) => block(n)), flushedSeq: whole,
  rows: fc.integer(), bytes: fc.integer(), storedBytes: whole, rawBytes: whole, blobBytes: whole, leaves: whole, height: fc.nat(9),
}, { noNullPrototype: true });

test('a dictionary table that was written is read back the same; a damaged one is read or refused', () => {
  fc.assert(
    fc.property(fc.array(record, { maxLength: 6 }), fc.nat(), fc.nat(255), (records, at, byte) => {
      const spills = records.slice(0, 2).map(({ id }, i) => ({ number: i + 7, dictionary: id, extents: [extentOf([Uint8Array.of(1)], 9 + i)] }));
      const blobs = { nextSegment: 9, segments: records.map(({ rawBytes }, i) => ({ number: i + 1, kind: (i % 2) as 0 | 1, isSealed: i % 3 > 0, end: rawBytes, live: rawBytes % 1000 })) };
      const bytes = encodeDictionaryTable({ records, spills, blobs });
      const found = decodeDictionaryTable(bytes);
      assert.deepEqual(found.records, records);
      assert.deepEqual(found.blobs, blobs);
      assert.deepEqual(found.spills.map(({ number, dictionary, extents }) => [number, dictionary, extents[0]?.block]), spills.map(({ number, dictionary, extents }) => [number, dictionary, extents[0]?.block]));
      bytes[at % bytes.length] = byte;
      answers(() => decodeDictionaryTable(bytes));
      answers(() => decodeDictionaryTable(bytes.subarray(0, at % bytes.length)));
    }),
    { numRuns: 150 },
  );
});
