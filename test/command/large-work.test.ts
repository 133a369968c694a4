// Room for changes of large documents: so many bytes at a time, the others in order, nobody for ever.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { LargeWork } from '../../src/command/large-work.ts';

/** A clock whose sleeps end when the test says so, or are ended. */
function sleeper(): { readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>; readonly end: () => void } {
  const ends = new Set<() => void>();
  return {
    sleep: (_ms, signal) =>
      new Promise<void>((resolve) => {
        ends.add(resolve);
        signal?.addEventListener('abort', () => {
          resolve();
        });
      }),
    end: () => {
      for (const end of ends) end();
    },
  };
}

const turn = (): Promise<void> => new Promise((resolve) => { setImmediate(resolve); });

test('large documents are changed as many at a time as there is room for, in the order in which they came, and one whatever its size', async () => {
  const room = new LargeWork(20, sleeper());
  const order: string[] = [];
  const enter = async (name: string, bytes: number): Promise<void> => {
    await room.enter(bytes);
    order.push(name);
  };
  assert.equal(room.enter(30), undefined);
  void enter('a', 15);
  void enter('b', 10);
  void enter('c', 5);
  await turn();
  assert.deepEqual(order, []);
  room.leave(30);
  await turn();
  assert.deepEqual(order, ['a']);
  room.leave(15);
  await turn();
  assert.deepEqual(order, ['a', 'b', 'c']);
  assert.equal(room.held, 15);
});

test('who waits for long goes on, for somebody before it may wait for what it holds', async () => {
  const clock = sleeper();
  const room = new LargeWork(20, clock);
  assert.equal(room.enter(20), undefined);
  let isIn = false;
  const waiting = Promise.resolve(room.enter(10)).then(() => {
    isIn = true;
  });
  await turn();
  assert.equal(isIn, false);
  clock.end();
  await waiting;
  assert.equal(room.held, 30);
  room.leave(10);
  room.leave(20);
  assert.equal(room.held, 0);
});
