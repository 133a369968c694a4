// The heap against sorting.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { BinaryHeap } from '../../src/base/binary-heap.ts';

test('a heap gives its items smallest first, whatever is pushed and popped in between', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.integer({ min: -20, max: 20 }), { nil: undefined })), (script) => {
      const heap = new BinaryHeap<number>((a, b) => a - b);
      const model: number[] = [];
      for (const value of script) {
        if (value === undefined) assert.equal(heap.pop(), model.shift());
        else {
          heap.push(value);
          model.push(value);
          model.sort((a, b) => a - b);
        }
        assert.equal(heap.peek(), model[0]);
        assert.equal(heap.size, model.length);
      }
    }),
  );
});
