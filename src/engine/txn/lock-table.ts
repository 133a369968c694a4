// Point locks on keys. A key is known here by a 52-bit hash: two keys that share one share a lock, which costs a wait that was not needed
// and nothing else. A `snapshot` transaction never waits; a `statement` waits in order, unless waiting would close a circle.

import { assert } from '../../base/assert.ts';
import { EngineError } from '../../base/errors.ts';

/** Who may hold and wait; compared by identity. */
export interface LockOwner {
  readonly id: number;
}

interface Waiter {
  readonly owner: LockOwner;
  readonly grant: () => void;
  readonly refuse: (error: EngineError) => void;
}

interface Lock {
  owner: LockOwner;
  waiters: Waiter[];
}

/** Memory charged for a held lock, and for one who waits. */
export const lockBytes = 160;

/** A lock somebody waits for. */
export interface PendingLock {
  readonly granted: Promise<void>;
  /** Gives up waiting: `granted` rejects with `error`. Nothing happens when it was granted before. */
  cancel(error: EngineError): void;
}

/** All locks of an environment. */
export class LockTable {
  readonly #locks: Map<number, Lock> = new Map();
  /** What each waiting owner waits for: for the deadlock check. */
  readonly #waiting: Map<LockOwner, number> = new Map();

  get size(): number {
    return this.#locks.size;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Takes the lock for `owner`, who does not hold it; false when somebody else does. */
  tryLock(key: number, owner: LockOwner): boolean {
    if (this.#locks.has(key)) return false;
    this.#locks.set(key, { owner, waiters: [] });
    return true;
  }

  /** Joins the queue for a lock that somebody holds. `deadlock` at once when that would close a circle. */
  wait(key: number, owner: LockOwner): PendingLock {
    const lock = this.#locks.get(key);
    assert(lock !== undefined, 'only a lock that is held is waited for');
    this.#checkCircle(key, owner);
    this.#waiting.set(owner, key);
    let cancel: (error: EngineError) => void = () => undefined;
    const granted = new Promise<void>((resolve, reject) => {
      const waiter: Waiter = { owner, grant: resolve, refuse: reject };
      lock.waiters.push(waiter);
      cancel = (error) => {
        const at = lock.waiters.indexOf(waiter);
        if (at < 0) return;
        lock.waiters.splice(at, 1);
        this.#waiting.delete(owner);
        reject(error);
      };
    });
    return { granted, cancel: (error) => cancel(error) };
  }

  /** Follows who waits for whom: each owner waits for one lock at most, whose holder and whose earlier waiters all come before it. */
  #checkCircle(key: number, owner: LockOwner): void {
    const seen = new Set<LockOwner>();
    const queue = this.#ahead(key, undefined);
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      if (next === owner) throw new EngineError('deadlock', 'waiting for this lock would never end');
      if (seen.has(next)) continue;
      seen.add(next);
      const waitsFor = this.#waiting.get(next);
      if (waitsFor !== undefined) queue.push(...this.#ahead(waitsFor, next));
    }
  }

  /** Those who get the lock before `owner` does. */
  #ahead(key: number, owner: LockOwner | undefined): LockOwner[] {
    const lock = this.#locks.get(key);
    if (lock === undefined) return [];
    const ahead = [lock.owner];
    for (const waiter of lock.waiters) {
      if (waiter.owner === owner) break;
      ahead.push(waiter.owner);
    }
    return ahead;
  }

  /** Gives a lock back; the first waiter has it at once. */
  unlock(key: number, owner: LockOwner): void {
    const lock = this.#locks.get(key);
    assert(lock !== undefined && lock.owner === owner, 'only the holder gives a lock back');
    const next = lock.waiters.shift();
    if (next === undefined) {
      this.#locks.delete(key);
      return;
    }
    lock.owner = next.owner;
    this.#waiting.delete(next.owner);
    next.grant();
  }
}
