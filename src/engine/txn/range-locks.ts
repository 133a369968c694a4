// Locks on ranges of keys, against writers of single keys (law 12). A dictionary's users are the transactions that have locked or written a key
// in it. A range is had when there is no other user, for nobody knows which keys those hold; from then on whoever wants a key of the range
// waits or has a conflict, and other keys stay free. One who waits for a range holds back only those who are not users yet, so that the
// users it waits for come to their end.

import type { EngineError } from '../../base/errors.ts';
import { NumberTable } from '../../base/number-table.ts';
import { coversKey } from '../run/range-delete.ts';
import type { KeyRange } from '../types.ts';
import type { LockOwner } from './lock-table.ts';

interface RangeLock {
  readonly owner: LockOwner;
  readonly range: { readonly from: Uint8Array | undefined; readonly to: Uint8Array | undefined; readonly seq: number };
  held: boolean;
  readonly grant: () => void;
  readonly refuse: (error: EngineError) => void;
}

/** A range that is waited for. */
export interface PendingRange {
  readonly granted: Promise<void>;
  /** Gives up waiting: `granted` rejects with `error`. */
  cancel(error: EngineError): void;
}

/** How a key stands to the ranges of others. */
export type RangeStand = 'free' | 'wanted' | 'held';

/** So many lists of users are kept also while they are empty. */
const emptyListsMax = 64;

/** Users and range locks of all dictionaries. */
export class RangeLocks {
  /** Each once; of a dictionary that somebody used lately there may be an empty list. */
  readonly #users: NumberTable<LockOwner[]> = new NumberTable();
  readonly #locks: Map<number, RangeLock[]> = new Map();
  #waiting: (() => void)[] = [];

  /** Whether there is any range lock, held or wanted. */
  get isEmpty(): boolean {
    return this.#locks.size === 0;
  }

  /** Somebody else who uses the dictionary, or has a range of it. */
  otherThan(dictionary: number, owner: LockOwner): number | undefined {
    const held = this.#locks.get(dictionary)?.find((lock) => lock.held && lock.owner !== owner)?.owner;
    return (held ?? [...(this.#users.get(dictionary) ?? [])].find((user) => user !== owner))?.id;
  }

  /** Whether an owner of that number is a user of a dictionary. */
  isUsedBy(dictionary: number, id: number): boolean {
    return [...(this.#users.get(dictionary) ?? [])].some((owner) => owner.id === id);
  }

  /** Makes `owner` a user of a dictionary. */
  enter(dictionary: number, owner: LockOwner): void {
    const users = this.#users.get(dictionary);
    if (users === undefined) this.#users.set(dictionary, [owner]);
    else if (!users.includes(owner)) users.push(owner);
  }

  /** The owner has ended: what it used and locked in these dictionaries is free. */
  leave(dictionaries: Iterable<number>, owner: LockOwner): void {
    for (const dictionary of dictionaries) {
      const users = this.#users.get(dictionary);
      if (users !== undefined) this.#forget(dictionary, users, owner);
      const locks = this.#locks.get(dictionary);
      if (locks === undefined) continue;
      const left = locks.filter((lock) => lock.owner !== owner);
      if (left.length === 0) this.#locks.delete(dictionary);
      else this.#locks.set(dictionary, left);
      this.#grant(dictionary);
    }
    if (this.#waiting.length > 0) this.#wake();
  }

  #forget(dictionary: number, users: LockOwner[], owner: LockOwner): void {
    const at = users.indexOf(owner);
    if (at < 0) return;
    const last = users.pop();
    if (last !== undefined && last !== owner) users[at] = last;
    if (users.length === 0 && this.#users.size > emptyListsMax) this.#users.delete(dictionary);
  }

  /** How others' ranges stand to a key. */
  stand(dictionary: number, key: Uint8Array, owner: LockOwner): RangeStand {
    let stand: RangeStand = 'free';
    for (const lock of this.#locks.get(dictionary) ?? []) {
      if (lock.owner === owner || !coversKey(lock.range, key)) continue;
      if (lock.held) return 'held';
      stand = 'wanted';
    }
    return stand;
  }

  /** Takes the range at once, if there is no other user and no other range; whether it was had. */
  tryLock(dictionary: number, range: KeyRange, owner: LockOwner): boolean {
    if (!this.isFree(dictionary, owner)) return false;
    this.#add(dictionary, range, { owner, held: true, grant: () => undefined, refuse: () => undefined });
    return true;
  }

  /** Joins those who wait for a range of the dictionary. */
  wait(dictionary: number, range: KeyRange, owner: LockOwner): PendingRange {
    let cancel: PendingRange['cancel'] = () => undefined;
    const granted = new Promise<void>((resolve, reject) => {
      const lock = this.#add(dictionary, range, { owner, held: false, grant: resolve, refuse: reject });
      cancel = (error) => {
        const locks = this.#locks.get(dictionary) ?? [];
        if (lock.held || !locks.includes(lock)) return;
        const left = locks.filter((other) => other !== lock);
        if (left.length === 0) this.#locks.delete(dictionary);
        else this.#locks.set(dictionary, left);
        lock.refuse(error);
        this.#grant(dictionary);
        this.#wake();
      };
    });
    this.#grant(dictionary);
    return { granted, cancel: (error) => cancel(error) };
  }

  /** Resolves at the next change of any range lock. */
  changed(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  #add(dictionary: number, { from, to }: KeyRange, given: Omit<RangeLock, 'range'>): RangeLock {
    const lock = { ...given, range: { from: from?.slice(), to: to?.slice(), seq: 0 } };
    this.#locks.set(dictionary, [...(this.#locks.get(dictionary) ?? []), lock]);
    return lock;
  }

  /** Whether nobody but `owner` uses the dictionary, or has a range of it. */
  isFree(dictionary: number, owner: LockOwner): boolean {
    if (this.#locks.get(dictionary)?.some((lock) => lock.held && lock.owner !== owner) === true) return false;
    const users = this.#users.get(dictionary);
    return users === undefined || users.length === 0 || (users.length === 1 && users[0] === owner);
  }

  #grant(dictionary: number): void {
    const next = this.#locks.get(dictionary)?.find((lock) => !lock.held);
    if (next === undefined || !this.isFree(dictionary, next.owner)) return;
    next.held = true;
    next.grant();
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const go of waiting) go();
  }
}
