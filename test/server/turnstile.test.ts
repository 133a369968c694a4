// Which messages are served in a turn of the loop: few at once, the rest later, and those of new connections last.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Turnstile } from '../../src/server/turnstile.ts';

/** A turnstile whose clock the test moves; `turned` counts the turns of the loop. */
function turnstileForTest(): { readonly turnstile: Turnstile; readonly time: { now: number; turned: number } } {
  const time = { now: 0, turned: 0 };
  const pause = async (): Promise<void> => {
    await new Promise((resolve) => { setImmediate(resolve); });
    time.turned += 1;
  };
  return { turnstile: new Turnstile({ monotonicMs: () => time.now }, { pause }), time };
}

describe('a turnstile', () => {
  test('lets the messages of few connections through at once, without a look at the clock', () => {
    const { turnstile, time } = turnstileForTest();
    time.now = Number.NaN;
    for (let i = 0; i < 10; i++) assert.equal(turnstile.enter({ isFirst: i === 0, follows: false }, 10), undefined);
  });

  test('lets some milliseconds of messages that came together on in a turn, and the rest in later ones', async () => {
    const { turnstile, time } = turnstileForTest();
    const turnOf: number[] = [];
    // One after the other, each of a millisecond, as a connection serves what it has read.
    for (let i = 0; i < 20; i++) {
      await turnstile.enter({ isFirst: false, follows: true }, 1);
      turnOf.push(time.turned);
      time.now += 1;
    }
    for (const turn of new Set(turnOf)) assert.ok(turnOf.filter((each) => each === turn).length <= 5, turnOf.join());
    assert.deepEqual(turnOf.slice(0, 4), [0, 0, 0, 0]);
  });

  test('serves connections that were served before ahead of a storm of new ones, and of these one in each turn at least', async () => {
    const { turnstile, time } = turnstileForTest();
    const served: string[] = [];
    const serve = async (name: string, isFirst: boolean): Promise<void> => {
      await turnstile.enter({ isFirst, follows: false }, 1000);
      served.push(`${name}${time.turned}`);
      time.now += 2;
    };
    const serving: Promise<void>[] = [];
    for (let i = 0; i < 18; i++) {
      serving.push(i < 12 ? serve('new', true) : serve('known', false));
      await Promise.resolve();
    }
    await Promise.all(serving);
    const kindsAt = (turn: number): string[] => served.filter((name) => name.endsWith(String(turn))).map((name) => name.replace(/\d+/, ''));
    assert.deepEqual(kindsAt(0), ['new', 'new']);
    assert.deepEqual(kindsAt(1), ['new', 'known']);
    assert.deepEqual(kindsAt(6), ['new', 'known']);
    assert.deepEqual(kindsAt(7), ['new', 'new']);
    assert.equal(served.length, 18);
  });
});
