import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Observed, Step } from './observed.ts';
import { faultsOf } from './snapshot-isolation.ts';

let clock = 0;

function append(list: number, value: number): Step {
  return { kind: 'append', list, value };
}

function read(list: number, ...values: number[]): Step {
  return { kind: 'read', list, values };
}

/** A transaction that runs beside all others of its test: what differs is what it saw. */
function beside(steps: readonly Step[], outcome: Observed['outcome'] = 'committed'): Observed {
  return { session: ++clock, begun: 0, ended: 100, outcome, steps };
}

function at(begun: number, ended: number, steps: readonly Step[]): Observed {
  return { session: ++clock, begun, ended, outcome: 'committed', steps };
}

/** Reads everything at the end. */
function final(...steps: Step[]): Observed {
  return at(200, 201, steps);
}

test('one after the other is snapshot isolation', () => {
  assert.deepEqual(faultsOf([at(0, 1, [append(1, 10)]), at(2, 3, [read(1, 10), append(1, 11)]), final(read(1, 10, 11))]), []);
});

test('write skew is snapshot isolation: two anti-dependencies follow one another', () => {
  const history = [beside([read(1), append(2, 20)]), beside([read(2), append(1, 10)]), final(read(1, 10), read(2, 20))];
  assert.deepEqual(faultsOf(history), []);
});

test('a lost update is not: both read the list without the other', () => {
  const history = [beside([read(1), append(1, 10)]), beside([read(1), append(1, 11)]), final(read(1, 10, 11))];
  assert.match(faultsOf(history).join(), /cycle/);
});

test('a long fork is not: two readers see two writers in two orders', () => {
  const history = [beside([append(1, 10)]), beside([append(2, 20)]), beside([read(1, 10), read(2)]), beside([read(1), read(2, 20)]), final(read(1, 10), read(2, 20))];
  assert.match(faultsOf(history).join(), /cycle/);
});

test('half of a transaction seen is not: one list with it, the other without', () => {
  const history = [beside([append(1, 10), append(2, 20)]), beside([read(1, 10), read(2)]), final(read(1, 10), read(2, 20))];
  assert.match(faultsOf(history).join(), /cycle/);
});

test('an old state after a newer one was acknowledged is not', () => {
  const history = [at(0, 1, [append(1, 10)]), at(2, 3, [read(1)]), final(read(1, 10))];
  assert.match(faultsOf(history).join(), /cycle/);
});

test('values of an aborted transaction, lost values, and values torn apart are named', () => {
  assert.match(faultsOf([beside([append(1, 10)], 'aborted'), final(read(1, 10))]).join(), /aborted/);
  assert.match(faultsOf([beside([append(1, 10)]), final(read(1))]).join(), /not there/);
  assert.match(faultsOf([beside([append(1, 10), append(2, 20)], 'unknown'), final(read(1, 10), read(2))]).join(), /half/);
  assert.match(faultsOf([beside([append(1, 10), append(1, 12)]), beside([append(1, 11)]), final(read(1, 10, 11, 12))]).join(), /came between/);
});

test('a transaction that was never answered may be there or not', () => {
  assert.deepEqual(faultsOf([beside([append(1, 10)], 'unknown'), final(read(1, 10))]), []);
  assert.deepEqual(faultsOf([beside([append(1, 10)], 'unknown'), final(read(1))]), []);
});
