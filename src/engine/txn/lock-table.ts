// Point locks on keys. A key is known here by a 52-bit hash: two keys that share one share a lock, which costs a wait that was not needed
// and nothing else. A `snapshot` transaction never waits; a `statement` waits in order, unless waiting would close a circle. Who holds what is in
// two arrays with open addressing, for a lock is taken and given back with every write; only those who wait are objects.

import { assert, must } from '../../base/assert.ts';
import { EngineError } from '../../base/errors.ts';

/** Who may hold and wait; known by its number, which no other has. */
export interface LockOwner {
  readonly id: number;
}

interface Waiter {
  readonly owner: LockOwner;
  readonly grant: () => void;
}

/** The number of the environment's own transactions, which move large values: short ones, that wait for nobody. */
export const ownTransaction = 0;

/** Memory charged for a held lock, and for one who waits. */
export const lockBytes = 64;

/** A lock somebody waits for. */
export interface PendingLock {
  readonly granted: Promise<void>;
  /** Gives up waiting: `granted` rejects with `error`. Nothing happens when it was granted before. */
  cancel(error: EngineError): void;
}

/** No key, and the number of nobody. */
const none = -1;
const slotsMin = 256;
/** A table that has become larger is not kept when it is empty. */
const slotsKept = 65_536;

/** All locks of an environment. */
export class LockTable {
  #keys: Float64Array = new Float64Array(slotsMin).fill(none);
  #holders: Float64Array = new Float64Array(slotsMin);
  #size: number = 0;
  /** Those who wait for a key, in order; absent when nobody does. */
  readonly #waiters: Map<number, Waiter[]> = new Map();
  /** What each waiting owner waits for: for the deadlock check. */
  readonly #waiting: Map<number, number> = new Map();

  get size(): number {
    return this.#size;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** The number of who holds the lock. */
  holderOf(key: number): number | undefined {
    const slot = this.#slotOf(key);
    return this.#keys[slot] === key ? this.#holders[slot] : undefined;
  }

  /** Whether `owner` holds the lock. */
  isHeldBy(key: number, owner: LockOwner): boolean {
    const slot = this.#slotOf(key);
    return this.#keys[slot] === key && this.#holders[slot] === owner.id;
  }

  /** Takes the lock for `owner`, who does not hold it; false when somebody else does. */
  tryLock(key: number, owner: LockOwner): boolean {
    if (this.#size * 2 >= this.#keys.length) this.#resize(this.#keys.length * 2);
    const slot = this.#slotOf(key);
    if (this.#keys[slot] === key) return false;
    this.#keys[slot] = key;
    this.#holders[slot] = owner.id;
    this.#size += 1;
    return true;
  }

  /** Joins the queue for a lock that somebody holds. `deadlock` at once when that would close a circle. */
  wait(key: number, owner: LockOwner): PendingLock {
    assert(this.#keys[this.#slotOf(key)] === key, 'only a lock that is held is waited for');
    this.#checkCircle(key, owner.id);
    this.#waiting.set(owner.id, key);
    const waiters = this.#waiters.get(key) ?? [];
    this.#waiters.set(key, waiters);
    let cancel: (error: EngineError) => void = () => undefined;
    const granted = new Promise<void>((resolve, reject) => {
      const waiter: Waiter = { owner, grant: resolve };
      waiters.push(waiter);
      cancel = (error) => {
        const at = waiters.indexOf(waiter);
        if (at < 0) return;
        waiters.splice(at, 1);
        if (waiters.length === 0) this.#waiters.delete(key);
        this.#waiting.delete(owner.id);
        reject(error);
      };
    });
    return { granted, cancel: (error) => cancel(error) };
  }

  /** Follows who waits for whom: each owner waits for one lock at most, whose holder and whose earlier waiters all come before it. */
  #checkCircle(key: number, owner: number): void {
    const seen = new Set<number>();
    const queue = this.#ahead(key, none);
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      if (next === owner) throw new EngineError('deadlock', 'waiting for this lock would never end');
      if (seen.has(next)) continue;
      seen.add(next);
      const waitsFor = this.#waiting.get(next);
      if (waitsFor !== undefined) queue.push(...this.#ahead(waitsFor, next));
    }
  }

  /** Those who get the lock before `owner` does. */
  #ahead(key: number, owner: number): number[] {
    const slot = this.#slotOf(key);
    if (this.#keys[slot] !== key) return [];
    const ahead = [this.#holders[slot] as number];
    for (const waiter of this.#waiters.get(key) ?? []) {
      if (waiter.owner.id === owner) break;
      ahead.push(waiter.owner.id);
    }
    return ahead;
  }

  /** Gives a lock back; the first waiter has it at once. */
  unlock(key: number, owner: LockOwner): void {
    const slot = this.#slotOf(key);
    assert(this.#keys[slot] === key && this.#holders[slot] === owner.id, 'only the holder gives a lock back');
    const waiters = this.#waiters.size === 0 ? undefined : this.#waiters.get(key);
    if (waiters === undefined) {
      this.#remove(slot);
      return;
    }
    const next = must(waiters.shift(), 'there is a queue only while somebody waits');
    if (waiters.length === 0) this.#waiters.delete(key);
    this.#holders[slot] = next.owner.id;
    this.#waiting.delete(next.owner.id);
    next.grant();
  }

  /** Where the key is, or where it would go. */
  #slotOf(key: number): number {
    const keys = this.#keys;
    const mask = keys.length - 1;
    let slot = homeOf(key, mask);
    for (;;) {
      const there = keys[slot] as number;
      if (there === key || there === none) return slot;
      slot = (slot + 1) & mask;
    }
  }

  /** Empties a slot and moves those up that lie behind it and would not be found any more. */
  #remove(slot: number): void {
    const keys = this.#keys;
    const holders = this.#holders;
    const mask = keys.length - 1;
    let gap = slot;
    for (let at = (slot + 1) & mask; keys[at] !== none; at = (at + 1) & mask) {
      const key = keys[at] as number;
      if (((at - homeOf(key, mask)) & mask) < ((at - gap) & mask)) continue;
      keys[gap] = key;
      holders[gap] = holders[at] as number;
      gap = at;
    }
    keys[gap] = none;
    this.#size -= 1;
    if (this.#size === 0 && keys.length > slotsKept) this.#resize(slotsMin);
  }

  #resize(slots: number): void {
    const [keys, holders] = [this.#keys, this.#holders];
    this.#keys = new Float64Array(slots).fill(none);
    this.#holders = new Float64Array(slots);
    for (let at = 0; at < keys.length; at++) {
      const key = keys[at] as number;
      if (key === none) continue;
      const slot = this.#slotOf(key);
      this.#keys[slot] = key;
      this.#holders[slot] = holders[at] as number;
    }
  }
}

/** Where a hash belongs: its low bits are as good as any. */
function homeOf(key: number, mask: number): number {
  return (key | 0) & mask;
}
