// Every bench runs here once with its small parameters: a bench that no longer works fails the tests, not the day somebody needs a figure.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collectBenches } from '../../bench/support/collect.ts';
import { measure } from '../../bench/support/bench.ts';

for (const bench of await collectBenches()) {
  void test(`${bench.name} works the same in each run`, async () => {
    const { operations } = await measure(bench, bench.small, 1);
    assert.ok(operations > 0);
  });
}
