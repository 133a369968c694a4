import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Timestamp } from '../../src/bson/index.ts';
import type { Clock } from '../../src/env/index.ts';
import { ClusterClock } from '../../src/session/index.ts';

/** A wall clock that stands where it is put. */
class StandingClock implements Clock {
  ms: number;

  constructor(ms: number) {
    this.ms = ms;
  }

  nowMs(): number {
    return this.ms;
  }

  monotonicMs(): number {
    return this.ms;
  }

  wait(): Promise<void> {
    return Promise.resolve();
  }

  sleep(): Promise<void> {
    return Promise.resolve();
  }
}

test('logical times grow, also when the wall clock goes back', () => {
  const wall = new StandingClock(1_000_000);
  const clock = new ClusterClock(wall, new Timestamp(0, 0));
  let last = clock.operationTime.toBigInt();
  for (const ms of [1_000_000, 1_000_500, 2_000_000, 500_000, 500_000, 1_500_000, 3_000_000]) {
    wall.ms = ms;
    const time = clock.tick().toBigInt();
    assert.ok(time > last);
    assert.equal(clock.operationTime.toBigInt(), time);
    last = time;
  }
});

test('a clock begins behind what earlier runs may have given', () => {
  const floor = new Timestamp(5000, 7);
  assert.ok(new ClusterClock(new StandingClock(1_000_000), floor).operationTime.toBigInt() > floor.toBigInt());
});

test('a time told by a client moves the cluster time and all later ones, not the operation time', () => {
  const clock = new ClusterClock(new StandingClock(1_000_000), new Timestamp(0, 0));
  const before = clock.operationTime.toBigInt();
  clock.observe(new Timestamp(2000, 3));
  assert.equal(clock.clusterTime.toBigInt(), new Timestamp(2000, 3).toBigInt());
  assert.equal(clock.operationTime.toBigInt(), before);
  assert.ok(clock.tick().toBigInt() > new Timestamp(2000, 3).toBigInt());
  clock.observe(new Timestamp(1, 1));
  assert.equal(clock.clusterTime.seconds, 2000);
});
