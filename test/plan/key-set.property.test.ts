import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { KeySet } from '../../src/plan/key-set.ts';

test('a set of keys has what was added and nothing else', () => {
  const key = fc.uint8Array({ maxLength: 6, max: 3 });
  fc.assert(
    fc.property(fc.array(key, { maxLength: 2000 }), fc.array(key), (added, asked) => {
      const set = new KeySet();
      const model = new Set<string>();
      for (const each of added) {
        assert.equal(set.add(each), !model.has(each.join()));
        model.add(each.join());
      }
      assert.equal(set.size, model.size);
      for (const each of asked) assert.equal(set.has(each), model.has(each.join()));
    }),
  );
});

test('a set of many keys grows', () => {
  const set = new KeySet();
  const key = (i: number): Uint8Array => Uint8Array.of(0x60, i >>> 16, i >>> 8, i);
  for (let i = 0; i < 100_000; i++) assert.equal(set.add(key(i)), true);
  for (let i = 0; i < 100_000; i++) assert.equal(set.add(key(i)), false);
  assert.equal(set.has(key(100_001)), false);
});
