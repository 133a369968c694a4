import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MessageGate } from '../../src/server/message-gate.ts';
import type { Sender } from '../../src/server/message-gate.ts';

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

/** Somebody who sends; `received` may be set on the way. */
class TestSender implements Sender {
  readonly #gone = new AbortController();
  readonly gone = this.#gone.signal;
  sent: number | undefined = undefined;
  isExpelled = false;

  received(): number | undefined {
    return this.sent;
  }

  expel(): void {
    this.isExpelled = true;
  }

  go(): void {
    this.#gone.abort();
  }
}

async function turn(): Promise<void> {
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
}

interface Entering {
  isIn: boolean | undefined;
  readonly sender: TestSender;
}

function enter(gate: MessageGate, bytes: number, sender: TestSender = new TestSender()): Entering {
  const state: Entering = { isIn: undefined, sender };
  void gate.enter(bytes, sender).then((isIn) => {
    state.isIn = isIn;
  });
  return state;
}

/** Looks so many times at those inside. */
async function look(clock: TestClock, times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    clock.sleepers.at(-1)?.();
    await turn();
  }
}

describe('the gate of large messages', () => {
  test('lets in what has room together, and the others in order as room comes', async () => {
    const gate = new MessageGate(10, new TestClock());
    const [first, second, third, small] = [enter(gate, 6), enter(gate, 4), enter(gate, 6), enter(gate, 1)];
    await turn();
    assert.deepEqual([first.isIn, second.isIn, third.isIn, small.isIn], [true, true, undefined, undefined], 'nobody overtakes');
    gate.leave(second.sender);
    await turn();
    assert.equal(third.isIn, undefined);
    gate.leave(first.sender);
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
    await look(clock, 199);
    assert.equal(second.isIn, undefined);
    await look(clock, 1);
    assert.deepEqual([second.isIn, third.isIn, gate.held], [true, undefined, 20]);
  });

  test('takes from who sends slowly the room for what has not come', async () => {
    const clock = new TestClock();
    const gate = new MessageGate(1_000_000, clock);
    const [slow, swift] = [enter(gate, 500_000), enter(gate, 400_000)];
    slow.sender.sent = swift.sender.sent = 10_000;
    const waiting = enter(gate, 400_000);
    await turn();
    swift.sender.sent += 256 * 1024;
    slow.sender.sent += 1000;
    await look(clock, 1);
    assert.deepEqual([waiting.isIn, gate.held], [true, 811_000]);
    gate.leave(slow.sender);
    gate.leave(swift.sender);
    assert.equal(gate.held, 400_000);
  });

  test('forgets whoever goes while waiting', async () => {
    const gate = new MessageGate(10, new TestClock());
    const [first, second, third] = [enter(gate, 10), enter(gate, 10), enter(gate, 5)];
    await turn();
    second.sender.go();
    gate.leave(first.sender);
    await turn();
    assert.deepEqual([second.isIn, third.isIn, gate.held], [false, true, 5]);
  });

  test('expels who does not go on sending while somebody waits, and nobody else', async () => {
    const clock = new TestClock();
    const gate = new MessageGate(30, clock);
    const [slow, stopped, served] = [enter(gate, 10), enter(gate, 10), enter(gate, 10)];
    slow.sender.sent = 10;
    stopped.sender.sent = 10;
    await look(clock, 3);
    assert.equal(stopped.sender.isExpelled, false, 'nobody waits');
    const waiting = enter(gate, 10);
    await turn();
    slow.sender.sent += 16 * 1024;
    await look(clock, 20);
    assert.deepEqual([slow, stopped, served, waiting].map(({ sender }) => sender.isExpelled), [false, true, false, false]);
    gate.leave(stopped.sender);
    await turn();
    assert.equal(waiting.isIn, true);
  });
});
