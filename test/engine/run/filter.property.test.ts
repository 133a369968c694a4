// Filters against what they must never do (say of a key that is there that it is not) and what they should seldom do.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { EngineError } from '../../../src/base/errors.ts';
import { Filter, FilterBuilder } from '../../../src/engine/run/filter.ts';

function filterOf(hashes: Iterable<number>): Filter {
  const builder = new FilterBuilder();
  for (const hash of hashes) builder.add(hash);
  const target = new Uint8Array(builder.lengthMax + 5).fill(0xee);
  const length = builder.finish(target, 3);
  assert.deepEqual([...target.subarray(0, 3)], [0xee, 0xee, 0xee]);
  return new Filter(target.slice(3, 3 + length));
}

test('a filter knows every key that was added, equal hashes among them', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.integer({ min: 0, max: 0xffffffff }), fc.integer({ min: 0, max: 9 })), { minLength: 1, maxLength: 300 }), (hashes) => {
      const filter = filterOf(hashes);
      for (const hash of hashes) assert.equal(filter.mayHold(hash), true);
    }),
    { numRuns: 300 },
  );
});

test('a filter of any size takes 1.3 bytes a key and is wrong for one absent key of 256', () => {
  for (const count of [100, 1000, 2048, 50_000]) {
    // Consecutive numbers are the worst hashes that there are.
    const filter = filterOf(Array.from({ length: count }, (_, i) => i * 2));
    assert.ok(filter.byteSize < count * 1.3 + 300, `${count}: ${filter.byteSize} bytes`);
    let wrong = 0;
    for (let i = 0; i < 40_000; i++) if (filter.mayHold(i * 2 + 1)) wrong++;
    assert.ok(wrong < (40_000 / 256) * 1.5, `${count}: ${wrong} of 40000`);
  }
});

test('a builder can be used again, and the same keys give the same bytes', () => {
  const builder = new FilterBuilder();
  const written: Uint8Array[] = [];
  for (let round = 0; round < 2; round++) {
    for (let i = 0; i < 500; i++) builder.add(i * 7);
    const target = new Uint8Array(builder.lengthMax);
    written.push(target.subarray(0, builder.finish(target, 0)));
    assert.equal(builder.count, 0);
  }
  assert.deepEqual(written[0], written[1]);
});

test('bytes that no builder wrote are refused, and one that knows nothing hides nothing', () => {
  for (const length of [0, 8, 10, 50]) {
    assert.throws(() => new Filter(new Uint8Array(length)), (error) => error instanceof EngineError && error.code === 'corruption');
  }
  assert.equal(Filter.unknown.mayHold(123), true);
});
