// Replies that nobody takes: where they are too much together, who has kept the server waiting longest goes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UnsentReplies } from '../../src/server/unsent-replies.ts';

/** Replies that wait at a clock which moves with each sleep. */
function unsentForTest(bytesMax: number): {
  readonly counters: { unsentBytes: number };
  readonly expelled: string[];
  readonly wait: (name: string, bytes: number) => void;
  readonly pass: (ms: number) => Promise<void>;
} {
  let now = 0;
  const sleepers: (() => void)[] = [];
  const clock = { monotonicMs: () => now, sleep: (): Promise<void> => new Promise((resolve) => { sleepers.push(resolve); }) };
  const counters = { unsentBytes: 0 };
  const unsent = new UnsentReplies(bytesMax, clock, counters);
  const expelled: string[] = [];
  return {
    counters,
    expelled,
    wait: (name, bytes) => {
      let take = (): void => undefined;
      const taken = new Promise<void>((resolve) => { take = resolve; });
      void unsent.wait(bytes, taken, () => { expelled.push(name); take(); });
    },
    pass: async (ms) => {
      for (const until = now + ms; now < until; ) {
        now += 250;
        for (const wake of sleepers.splice(0)) wake();
        await new Promise((resolve) => { setImmediate(resolve); });
      }
    },
  };
}

test('clients that do not take their replies are disconnected, longest first, only while all of them keep too much', async () => {
  const { counters, expelled, wait, pass } = unsentForTest(100);
  wait('a', 60);
  await pass(10_000);
  assert.deepEqual(expelled, []);
  wait('b', 30);
  await pass(1000);
  wait('c', 20);
  await pass(250);
  assert.deepEqual(expelled, ['a']);
  assert.equal(counters.unsentBytes, 50);
  await pass(60_000);
  assert.deepEqual(expelled, ['a']);
});

test('a client has five seconds for its reply, and one where all keep three times too much', async () => {
  const few = unsentForTest(100);
  few.wait('a', 200);
  await few.pass(4750);
  assert.deepEqual(few.expelled, []);
  await few.pass(250);
  assert.deepEqual(few.expelled, ['a']);
  const many = unsentForTest(100);
  many.wait('a', 301);
  await many.pass(1000);
  assert.deepEqual(many.expelled, ['a']);
});
