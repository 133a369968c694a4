// A client's logical session: it outlives connections and carries at most one transaction number, either of a multi-statement transaction
// or of retryable writes (server.md, "Transactions"). Operations with a number take turns: two of them never run at a time.
// The number never goes back; what was done under it is in `record`, which is loaded from storage when the session is met again.

import { Binary, type Document } from '../bson/index.ts';
import type { OpenTransaction, TransactionState } from './open-transaction.ts';
import type { Interruptible } from './interrupt.ts';
import { RetryRecord } from './retry-record.ts';

/** How the session's present transaction number is used. */
export type TransactionUse = TransactionState | 'none' | 'retryable-write';

/** One logical session. */
export class LogicalSession {
  /** The text under which the registry keeps it. */
  readonly key: string;
  /** `{ id, uid }`, as it is stored. */
  readonly id: Document;
  readonly user: string;
  lastUsedMs: number;
  /** Highest number seen; -1 before the first. */
  txnNumber = -1n;
  use: TransactionUse = 'none';
  transaction: OpenTransaction | undefined;
  /** What was done under `txnNumber`; of an older number when the present one has done nothing yet. */
  record: RetryRecord | undefined;
  /** The key under which it is stored; kept by who stores it. */
  recordKey: Uint8Array | undefined;
  /** Whether `record` has been looked up in storage. */
  recordLoaded = false;
  readonly #operations: Interruptible[] = [];
  /** Whether somebody has the turn, and those who wait for it, in order. */
  #isTaken = false;
  readonly #waiters: (() => void)[] = [];
  #waiting = 0;

  constructor(key: string, id: Document, options: { user: string; nowMs: number }) {
    this.key = key;
    this.id = id;
    this.user = options.user;
    this.lastUsedMs = options.nowMs;
  }

  /** Its UUID in hexadecimal digits, for texts. */
  get text(): string {
    const id = this.id.get('id');
    if (!(id instanceof Binary)) return '';
    return Array.from(id.bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  }

  /** Whether an operation runs or waits under this session. */
  get busy(): boolean {
    return this.#operations.length > 0 || this.#waiting > 0;
  }

  /** Operations running under this session. */
  get operations(): readonly Interruptible[] {
    return this.#operations;
  }

  /** An operation begins under it. */
  enter(operation: Interruptible): void {
    this.#operations.push(operation);
  }

  /** An operation ends that may have begun under it. */
  exit(operation: Interruptible): void {
    const at = this.#operations.indexOf(operation);
    if (at >= 0) this.#operations.splice(at, 1);
  }

  /** Waits for this caller's turn among the operations with a transaction number; the function given back ends the turn. */
  takeTurn(): (() => void) | Promise<() => void> {
    if (this.#isTaken) return this.#waitForTurn();
    this.#isTaken = true;
    return this.#turnEnd();
  }

  async #waitForTurn(): Promise<() => void> {
    this.#waiting += 1;
    await new Promise<void>((resolve) => {
      this.#waiters.push(resolve);
    });
    this.#waiting -= 1;
    return this.#turnEnd();
  }

  /** What ends a turn, once: the next one in the queue has it then. */
  #turnEnd(): () => void {
    let hasEnded = false;
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      const next = this.#waiters.shift();
      if (next === undefined) this.#isTaken = false;
      else next();
    };
  }

  /** Goes on to a higher number; what was open under the old one is aborted. */
  advanceTo(txnNumber: bigint, use: TransactionUse): void {
    this.abortOpen();
    this.txnNumber = txnNumber;
    this.use = use;
  }

  /** Aborts the open transaction, if there is one. Only in the caller's turn, or when the session is not busy. */
  abortOpen(): void {
    const transaction = this.transaction;
    this.transaction = undefined;
    if (transaction === undefined) return;
    transaction.abort();
    this.use = 'aborted';
  }

  /** The results under the present number; empty when nothing was done. */
  currentRecord(): RetryRecord {
    return this.record?.txnNumber === this.txnNumber ? this.record : new RetryRecord(this.txnNumber);
  }

  /** What storage knows of this session, told once; a number used there counts as seen. */
  restore(record: RetryRecord | undefined): void {
    this.recordLoaded = true;
    this.record = record;
    if (record === undefined || record.txnNumber <= this.txnNumber) return;
    this.txnNumber = record.txnNumber;
    this.use = record.outcome ?? 'retryable-write';
  }
}
