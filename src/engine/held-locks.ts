// What one transaction holds of its environment's locks: keys, ranges of keys, whole dictionaries in the place of many keys (law 7), and what it
// waits for. A lock is had first, then the recent keys are asked (law 4). All of it is free when the transaction ends.

import { EngineError } from '../base/errors.ts';
import { hash52 } from '../base/hash.ts';
import { waitForRange, whileRangesHold } from './range-waits.ts';
import type { EngineState } from './state.ts';
import { lockBytes, ownTransaction } from './txn/lock-table.ts';
import type { LockOwner, PendingLock } from './txn/lock-table.ts';
import type { PendingRange } from './txn/range-locks.ts';
import type { WaitingFor } from './txn/waiting-for.ts';
import type { DictionaryId, KeyRange, Seq, Soon, TransactionMode } from './types.ts';

/** Fewer locks on keys stay what they are. */
const escalateFrom = 1000;

/** Locks are charged to the budget by so many. */
const chargedAtOnce = 32;

/** The transaction whose locks they are. */
export interface LockingTransaction {
  readonly id: number;
  readonly mode: TransactionMode;
  readonly snapshot: Seq;
  readonly isOpen: boolean;
  /** Throws when the transaction has ended, or can write to the dictionary no more: asked again after each wait. */
  checkWritable(id: DictionaryId): void;
}

const environmentItself: LockOwner = { id: ownTransaction };

/** The locks of one transaction. */
export class HeldLocks implements LockOwner {
  readonly #state: EngineState;
  readonly #of: LockingTransaction;
  /** Keys locked, by hash. */
  #keys: number[] = [];
  #charged: number = 0;
  /** Dictionaries of which it has all, in the place of locks on keys. */
  #escalated: readonly DictionaryId[] = [];
  /** Dictionaries in which it has locked or written a key, or locked a range. */
  readonly #used: DictionaryId[] = [];
  #lastUsed: DictionaryId | undefined;
  #waiting: PendingLock | PendingRange | undefined;

  constructor(state: EngineState, of: LockingTransaction) {
    this.#state = state;
    this.#of = of;
  }

  get id(): number {
    return this.#of.id;
  }

  /** Takes the lock of a key. */
  lock(id: DictionaryId, key: Uint8Array): Soon<void> {
    const hash = hash52(id, key);
    const state = this.#state;
    if (state.locks.isHeldBy(hash, this)) return undefined;
    if (!state.ranges.isEmpty) {
      const free = this.#waitForRanges(id, key);
      if (free !== undefined) return this.#lockAfter(free, id, key);
    }
    this.#use(id);
    if (this.#escalated.includes(id)) { this.#checkRecent(id, key, hash); return; }
    if (!state.locks.tryLock(hash, this)) {
      if (this.#of.mode === 'statement') {
        return this.#told({ dictionary: id, key: key.slice(), range: {} }, () => state.locks.holderOf(hash), () => this.#waitForLock(hash, id));
      }
      // The environment's own ends soon, waits for nobody, and changes no value.
      if (state.moving !== undefined && state.locks.isHeldBy(hash, environmentItself)) return this.#lockAfter(state.moving, id, key);
      throw this.#conflict('another transaction holds the key');
    }
    this.#hold(hash);
    this.#checkRecent(id, key, hash);
  }

  async #lockAfter(free: Promise<void>, id: DictionaryId, key: Uint8Array): Promise<void> {
    await free;
    this.#of.checkWritable(id);
    await this.lock(id, key);
  }

  #conflict(message: string): EngineError {
    this.#state.counters.conflicts += 1;
    return new EngineError('write-conflict', message);
  }

  /** Whoever has the lock looks whether somebody was there since the snapshot (law 4). */
  #checkRecent(id: DictionaryId, key: Uint8Array, hash: number): undefined {
    const { recent } = this.#state;
    const { mode, snapshot } = this.#of;
    if (mode === 'snapshot' && (recent.conflicts(hash, snapshot) || recent.removedSince(id, key, snapshot))) {
      throw this.#conflict('the key was changed after the snapshot');
    }
    return undefined;
  }

  /** Makes the transaction a user of the dictionary, whom those wait for who want a range of it. */
  #use(id: DictionaryId): void {
    if (id === this.#lastUsed) return;
    this.#lastUsed = id;
    if (!this.#used.includes(id)) this.#used.push(id);
    this.#state.ranges.enter(id, this);
  }

  /** A key that another lock covers; a range that somebody holds is a conflict all the same. */
  cover(id: DictionaryId, key: Uint8Array): void {
    const { ranges } = this.#state;
    if (!ranges.isEmpty && ranges.stand(id, key, this) === 'held') throw this.#conflict('another transaction holds a range with the key');
    this.#use(id);
  }

  /** Undefined when no range of others keeps the key from this transaction; else a conflict, or a wait. */
  #waitForRanges(id: DictionaryId, key: Uint8Array): Promise<void> | undefined {
    const isStatement = this.#of.mode === 'statement';
    const stand = this.#state.ranges.stand(id, key, this);
    if (stand === 'free' || (stand === 'wanted' && (!isStatement || this.#used.includes(id)))) return undefined;
    if (isStatement) {
      const wait = (): Promise<void> => whileRangesHold(this.#state, { id, key, owner: this }, () => this.#of.isOpen);
      return this.#told({ dictionary: id, key: key.slice(), range: {} }, () => this.#state.ranges.otherThan(id, this), wait);
    }
    throw this.#conflict('another transaction holds a range with the key');
  }

  /** What a transaction waits for that wants a range where the environment moves large values; undefined: it does not, or the transaction waits anyway. */
  moveIn(id: DictionaryId): Promise<void> | undefined {
    const { moving, ranges } = this.#state;
    return moving !== undefined && this.#of.mode === 'snapshot' && ranges.isUsedBy(id, ownTransaction) ? moving : undefined;
  }

  /** Takes a range if that can be done at once; whether it was. */
  tryRange(id: DictionaryId, range: KeyRange): boolean {
    if (!this.#used.includes(id)) this.#used.push(id);
    return this.#state.ranges.tryLock(id, range, this);
  }

  /** Takes a range: a `statement` waits for it. */
  lockRange(id: DictionaryId, range: KeyRange): Soon<void> {
    if (this.tryRange(id, range)) return undefined;
    if (this.#of.mode === 'statement') return this.waitForRange(id, range);
    throw this.#conflict('other transactions have written to the dictionary');
  }

  async waitForRange(id: DictionaryId, range: KeyRange): Promise<void> {
    const wait = (): Promise<void> =>
      waitForRange(this.#state, { id, range, owner: this }, (pending) => {
        this.#waiting = pending;
      });
    await this.#told({ dictionary: id, key: undefined, range }, () => this.#state.ranges.otherThan(id, this), wait);
    this.#of.checkWritable(id);
  }

  /** Waits, and lets others be told of it meanwhile. */
  async #told(what: Pick<WaitingFor, 'dictionary' | 'key' | 'range'>, blocking: () => number | undefined, wait: () => Promise<void>): Promise<void> {
    const { requests, env } = this.#state;
    const request: WaitingFor = { ...what, requesting: this.id, blocking, sinceMs: env.clock.monotonicMs() };
    requests.add(request);
    try {
      await wait();
    } finally {
      requests.delete(request);
    }
  }

  /** How many keys are locked. */
  get count(): number {
    return this.#keys.length;
  }

  #hold(hash: number): void {
    this.#keys.push(hash);
    if (this.#keys.length * lockBytes <= this.#charged) return;
    // Charged for some that are to come: to state it for each would cost more than the lock.
    const more = lockBytes * Math.min(chargedAtOnce, this.#keys.length);
    this.#charged += more;
    this.#state.budget.change('locks', more);
  }

  async #waitForLock(hash: number, id: DictionaryId): Promise<void> {
    const state = this.#state;
    const pending = state.locks.wait(hash, this);
    this.#waiting = pending;
    const timer = new AbortController();
    const limit = state.env.clock.sleep(state.options.lockWaitMs, timer.signal).then(() => {
      if (!timer.signal.aborted) pending.cancel(new EngineError('locked', `a lock was not granted in ${state.options.lockWaitMs} ms`));
    });
    try {
      await pending.granted;
      if (this.#of.isOpen) this.#hold(hash);
      else state.locks.unlock(hash, this);
    } finally {
      this.#waiting = undefined;
      timer.abort();
      await limit;
    }
    this.#of.checkWritable(id);
  }

  /** One lock on each dictionary in the place of many on keys, if nobody else writes to any of them. */
  escalate(): void {
    const { ranges } = this.#state;
    if (this.#keys.length < escalateFrom || !this.#used.every((id) => ranges.isFree(id, this))) return;
    for (const id of this.#used) ranges.tryLock(id, {}, this);
    this.#escalated = [...this.#used];
    this.#unlockKeys();
  }

  #unlockKeys(): void {
    const { locks, budget } = this.#state;
    for (const hash of this.#keys) locks.unlock(hash, this);
    this.#keys = [];
    budget.change('locks', -this.#charged);
    this.#charged = 0;
  }

  /** The transaction has ended: who waits in it hears of it, and everything is free. */
  release(): void {
    this.#waiting?.cancel(new EngineError('closed', 'the transaction has ended'));
    this.#unlockKeys();
    this.#state.ranges.leave(this.#used, this);
  }
}
