import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ReadRoom } from '../../src/engine/read-room.ts';

async function turn(): Promise<void> {
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
}

describe('the room of large values', () => {
  test('lets reads begin as there is room, in order, and one whatever its size', async () => {
    const room = new ReadRoom(10, () => Promise.resolve());
    const begun: number[] = [];
    const ends: (() => void)[] = [];
    const read = (bytes: number): unknown =>
      room.pass(bytes, () => {
        begun.push(bytes);
        return new Promise<number>((resolve) => {
          ends.push(() => resolve(bytes));
        });
      });
    for (const bytes of [40, 6, 4, 5]) read(bytes);
    assert.deepEqual(begun, [40]);
    ends[0]?.();
    await turn();
    assert.deepEqual(begun, [40, 6, 4]);
    ends[1]?.();
    await turn();
    assert.deepEqual(begun, [40, 6, 4, 5]);
  });

  test('gives what was read at once, and goes on after a read that failed', async () => {
    const room = new ReadRoom(10, () => Promise.resolve());
    assert.equal(room.pass(8, () => 'now'), 'now');
    const failed = room.pass(8, () => Promise.reject(new Error('disk')));
    const next = room.pass(8, () => Promise.resolve('later'));
    await assert.rejects(Promise.resolve(failed), /disk/);
    assert.equal(await next, 'later');
  });
});
