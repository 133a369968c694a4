import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MessageGate } from '../../src/server/message-gate.ts';

/** A clock whose sleepers wake when the test says so. */
class TestClock {
  readonly sleepers: (() => void)[] = [];

  async sleep(_ms: number, signal?: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      this.sleepers.push(resolve);
      signal?.addEventListener('abort', () => resolve());
    });
  }
}

const never = new AbortController().signal;

async function turn(): Promise<void> {
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
}

function enter(gate: MessageGate, bytes: number, gone: AbortSignal = never): { isIn: boolean | undefined } {
  const state: { isIn: boolean | undefined } = { isIn: undefined };
  void gate.enter(bytes, gone).then((isIn) => {
    state.isIn = isIn;
  });
  return state;
}

describe('the gate of large messages', () => {
  test('lets in what has room together, and the others in order as room comes', async () => {
    const gate = new MessageGate(10, new TestClock());
    const [first, second, third, small] = [enter(gate, 6), enter(gate, 4), enter(gate, 6), enter(gate, 1)];
    await turn();
    assert.deepEqual([first.isIn, second.isIn, third.isIn, small.isIn], [true, true, undefined, undefined], 'nobody overtakes');
    gate.leave(4);
    await turn();
    assert.equal(third.isIn, undefined);
    gate.leave(6);
    await turn();
    assert.deepEqual([third.isIn, small.isIn, gate.held], [true, true, 7]);
  });

  test('always lets one in, whatever its size', async () => {
    const gate = new MessageGate(10, new TestClock());
    const [large, next] = [enter(gate, 48), enter(gate, 1)];
    await turn();
    assert.deepEqual([large.isIn, next.isIn], [true, undefined]);
  });

  test('lets in whoever has waited long: those inside may wait for it', async () => {
    const clock = new TestClock();
    const gate = new MessageGate(10, clock);
    const [, second, third] = [enter(gate, 10), enter(gate, 10), enter(gate, 10)];
    await turn();
    clock.sleepers[0]?.();
    await turn();
    assert.deepEqual([second.isIn, third.isIn, gate.held], [true, undefined, 20]);
  });

  test('forgets whoever goes while waiting', async () => {
    const gate = new MessageGate(10, new TestClock());
    const gone = new AbortController();
    const [, second, third] = [enter(gate, 10), enter(gate, 10, gone.signal), enter(gate, 5)];
    await turn();
    gone.abort();
    gate.leave(10);
    await turn();
    assert.deepEqual([second.isIn, third.isIn, gate.held], [false, true, 5]);
  });
});
