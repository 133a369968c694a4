// The turns of the event loop: who has worked for long waits, and in each turn one is let on.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inSlices } from '../../src/env/index.ts';
import type { Clock, Tasks } from '../../src/env/index.ts';
import { mappedItems } from '../../src/base/long-lists.ts';
import { OperationContext, Turns } from '../../src/session/index.ts';

/** A loop whose turns the test counts; the clock moves by `stepMs` whenever it is read. */
function loopOf(stepMs: number): { readonly turns: Turns; readonly counts: { turned: number }; readonly operation: (maxTimeMs?: number) => OperationContext } {
  const counts = { turned: 0 };
  let now = 0;
  const clock: Clock = { nowMs: () => 0, monotonicMs: () => (now += stepMs), wait: () => Promise.resolve(), sleep: () => Promise.resolve() };
  const pause = async (): Promise<void> => {
    await new Promise((resolve) => { setImmediate(resolve); });
    counts.turned += 1;
  };
  const turns = new Turns({ pause } as Tasks);
  const never = new AbortController().signal;
  const connection = { id: 1, remote: '', local: '', metadata: undefined, user: '', certificateSubject: undefined, compressors: [], signal: never, stopping: never };
  return { turns, counts, operation: (maxTimeMs = 0) => new OperationContext({ id: 1, clock, connection, endsWithClient: true, turns, maxTimeMs }) };
}

const range = (length: number): number[] => Array.from({ length }, (_, i) => i);

describe('the turns of the loop', () => {
  it('are not asked for by an operation that has not worked for long', () => {
    const { operation, counts } = loopOf(0.001);
    const context = operation();
    for (let i = 0; i < 1000; i++) assert.equal(context.turn(), undefined);
    assert.equal(counts.turned, 0);
  });

  it('come to those who wait one by one, in order', async () => {
    const { operation, counts } = loopOf(5);
    const order: string[] = [];
    const work = async (name: string): Promise<void> => {
      const context = operation();
      for (let i = 0; i < 3; i++) {
        await context.turn();
        order.push(`${name}${String(i)} in turn ${String(counts.turned)}`);
      }
    };
    await Promise.all([work('a'), work('b')]);
    assert.deepEqual(order.map((each) => each.slice(0, 2)), ['a0', 'b0', 'a1', 'b1', 'a2', 'b2']);
    assert.equal(new Set(order.map((each) => each.slice(3))).size, 6);
  });

  it('are taken in the middle of synchronous work', async () => {
    const { operation, counts } = loopOf(1);
    const made = await inSlices(operation(), () => mappedItems(range(100_000), (i) => i + 1));
    assert.equal(made.at(-1), 100_000);
    // 100,000 steps, a look at the clock every 512, four milliseconds of it a slice.
    assert.ok(counts.turned >= 100_000 / 512 / 8, `${String(counts.turned)} turns`);
  });

  it('end synchronous work whose time is over, or that was told to stop', async () => {
    const { operation } = loopOf(1);
    const work = (): unknown => mappedItems(range(1_000_000), (i) => i);
    await assert.rejects(async () => inSlices(operation(50), work), { code: 50 });
    const context = operation();
    const working = inSlices(context, work);
    context.interrupt('killed');
    await assert.rejects(async () => working, { code: 11601 });
  });
});
