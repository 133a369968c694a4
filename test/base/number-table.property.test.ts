// The table of numbers against Map, and the roster against an array.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { NumberTable } from '../../src/base/number-table.ts';
import { Roster } from '../../src/base/roster.ts';

// Few keys that meet in few slots, and 52-bit ones.
const keys = fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 40 }).map((n) => n * 2 ** 40 + 7), fc.nat({ max: 2 ** 52 - 1 }));
const steps = fc.array(fc.record({ key: keys, remove: fc.boolean() }), { maxLength: 300 });

test('a table of numbers holds what a Map holds, whatever comes and goes', () => {
  fc.assert(
    fc.property(steps, (script) => {
      const table = new NumberTable<string>();
      const model = new Map<number, string>();
      script.forEach(({ key, remove }, step) => {
        if (remove) assert.equal(table.delete(key), model.delete(key));
        else {
          table.set(key, `at ${step}`);
          model.set(key, `at ${step}`);
        }
        assert.equal(table.size, model.size);
        assert.equal(table.get(key), model.get(key));
        assert.equal(table.has(key), model.has(key));
      });
      assert.deepEqual(table.keys().toSorted((a, b) => a - b), [...model.keys()].toSorted((a, b) => a - b));
      assert.deepEqual(table.values().toSorted(), [...model.values()].toSorted());
      for (const [key, value] of model) assert.equal(table.get(key), value);
    }),
  );
});

test('a table that was large and is empty holds what is put into it again', () => {
  const table = new NumberTable<number>();
  for (let i = 0; i < 10_000; i++) table.set(i * 3, i);
  for (let i = 0; i < 10_000; i++) assert.equal(table.delete(i * 3), true);
  assert.equal(table.size, 0);
  table.set(7, 1);
  assert.deepEqual(table.values(), [1]);
});

test('a roster has those who came and did not leave', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat({ max: 20 }), { nil: undefined }), { maxLength: 100 }), (script) => {
      const roster = new Roster<string>();
      const there: { name: string; place: number }[] = [];
      script.forEach((leaves, step) => {
        const gone = leaves === undefined ? undefined : there.splice(leaves % Math.max(1, there.length), 1)[0];
        if (gone === undefined) there.push({ name: `item ${step}`, place: roster.add(`item ${step}`) });
        else roster.remove(gone.place);
        assert.equal(roster.size, there.length);
        assert.deepEqual(roster.all().toSorted(), there.map(({ name }) => name).toSorted());
      });
    }),
  );
});
