// Replies that nobody takes: where they are too much together, who has kept the server waiting longest goes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UnsentReplies } from '../../src/server/unsent-replies.ts';

/** Replies that wait at a clock which moves with each sleep. */
function unsentForTest(): {
  readonly counters: { unsentBytes: number };
  readonly expelled: string[];
  readonly wait: (name: string, bytes: number) => void;
  readonly pass: (ms: number) => Promise<void>;
} {
  let now = 0;
  const sleepers: (() => void)[] = [];
  const clock = { monotonicMs: () => now, sleep: (): Promise<void> => new Promise((resolve) => { sleepers.push(resolve); }) };
  const counters = { unsentBytes: 0 };
  const unsent = new UnsentReplies(0, clock, counters);
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

/** What clients may keep together, whatever the cache: the largest reply, and a little. */
const kept = 17 * 1024 * 1024;
const part = Math.floor(kept / 100);

test('clients that do not take their replies are disconnected, longest first, only while all of them keep too much', async () => {
  const { counters, expelled, wait, pass } = unsentForTest();
  wait('a', 60 * part);
  await pass(60_000);
  assert.deepEqual(expelled, []);
  wait('b', 30 * part);
  await pass(1000);
  wait('c', 20 * part);
  await pass(250);
  assert.deepEqual(expelled, ['a']);
  assert.equal(counters.unsentBytes, 50 * part);
  await pass(60_000);
  assert.deepEqual(expelled, ['a']);
});

test('a client has five seconds for its reply and one more for each mebibyte, and one where all keep three times too much', async () => {
  const few = unsentForTest();
  few.wait('small', 1024);
  few.wait('large', kept);
  await few.pass(5000);
  assert.deepEqual(few.expelled, []);
  await few.pass(250);
  assert.deepEqual(few.expelled, ['small']);
  few.wait('more', kept);
  await few.pass(17_000);
  assert.deepEqual(few.expelled, ['small']);
  await few.pass(250);
  assert.deepEqual(few.expelled, ['small', 'large']);
  const many = unsentForTest();
  many.wait('a', 3 * kept + 1);
  await many.pass(1000);
  assert.deepEqual(many.expelled, ['a']);
});
