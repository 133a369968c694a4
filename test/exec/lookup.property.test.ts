import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';

import { aggregate } from './memory-provider.ts';

const scalar = fc.constantFrom<unknown>(1, 2, 3, { $double: 1 }, { $double: 2.5 }, 'a', 'b', null, true, { x: 1 });
const field = fc.oneof({ weight: 3, arbitrary: scalar }, { weight: 1, arbitrary: fc.array(scalar, { maxLength: 3 }) }, { weight: 1, arbitrary: fc.constant(undefined) });

function documents(values: readonly unknown[]): Record<string, unknown>[] {
  return values.map((value, index) => (value === undefined ? { _id: index } : { _id: index, f: value }));
}

describe('$lookup by equality', () => {
  it('gives a document the same in company as alone', async () => {
    const lookup = [{ $lookup: { from: 'foreign', localField: 'f', foreignField: 'f', as: 'joined' } }];
    const property = fc.asyncProperty(fc.array(field, { maxLength: 12 }), fc.array(field, { maxLength: 12 }), async (left, right) => {
      const foreign = documents(right);
      const local = documents(left);
      const together = await aggregate({ local, foreign }, 'local', lookup);
      const alone: unknown[] = [];
      for (const document of local) alone.push(...(await aggregate({ local: [document], foreign }, 'local', lookup)));
      assert.deepEqual(together, alone);
    });
    await fc.assert(property, { numRuns: 150 });
  });
});
