import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '../../../src/base/errors.ts';
import { LockTable } from '../../../src/engine/txn/lock-table.ts';

const owner = (id: number): { readonly id: number } => ({ id });

async function isGranted(granted: Promise<void>): Promise<boolean> {
  return Promise.race([granted.then(() => true), Promise.resolve().then(() => Promise.resolve()).then(() => false)]);
}

test('those who wait get the lock in the order in which they came', async () => {
  const locks = new LockTable();
  const [a, b, c] = [owner(1), owner(2), owner(3)];
  assert.equal(locks.tryLock(7, a), true);
  assert.equal(locks.tryLock(7, b), false);
  const [second, third] = [locks.wait(7, b), locks.wait(7, c)];
  assert.equal(await isGranted(second.granted), false);
  locks.unlock(7, a);
  assert.equal(await isGranted(second.granted), true);
  assert.equal(await isGranted(third.granted), false);
  locks.unlock(7, b);
  assert.equal(await isGranted(third.granted), true);
  locks.unlock(7, c);
  assert.deepEqual([locks.size, locks.waiting], [0, 0]);
});

test('waiting that would close a circle is a deadlock at once, over any number of steps', () => {
  const locks = new LockTable();
  const owners = [1, 2, 3, 4].map(owner);
  owners.forEach((holder, key) => assert.equal(locks.tryLock(key, holder), true));
  for (let i = 0; i < 3; i++) void locks.wait(i + 1, owners[i] as { readonly id: number });
  assert.throws(() => locks.wait(0, owners[3] as { readonly id: number }), { code: 'deadlock' });
});

test('those who wait before count as holders: waiting behind one who waits for me is a deadlock', () => {
  const locks = new LockTable();
  const [a, b, c] = [owner(1), owner(2), owner(3)];
  locks.tryLock(1, a);
  locks.tryLock(2, c);
  void locks.wait(2, b);
  void locks.wait(1, c);
  // b waits for what c holds, and c for what a holds: behind b, a would wait for itself.
  assert.throws(() => locks.wait(2, a), { code: 'deadlock' });
});

test('who gives up waiting is refused and the next in line moves up; giving up after the grant does nothing', async () => {
  const locks = new LockTable();
  const [a, b, c] = [owner(1), owner(2), owner(3)];
  locks.tryLock(1, a);
  const [second, third] = [locks.wait(1, b), locks.wait(1, c)];
  second.cancel(new EngineError('locked', 'enough'));
  await assert.rejects(second.granted, { code: 'locked' });
  locks.unlock(1, a);
  await third.granted;
  third.cancel(new EngineError('locked', 'too late'));
  assert.equal(locks.tryLock(1, a), false);
  locks.unlock(1, c);
  assert.equal(locks.size, 0);
});
