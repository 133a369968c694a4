// One operation: what it runs for, until when, and whether it has been told to stop. Everything that takes time asks `checkInterrupt` at
// every batch (server.md, "Fair"), so maxTimeMS, killOp, a client that has gone and a closing server end work within one batch.

import type { DateTime, Document, Timestamp, Value } from '../bson/index.ts';
import type { Clock } from '../env/index.ts';
import { CommandError } from '../base/errors.ts';
import { interruptError, type Interruptible, type InterruptReason } from './interrupt.ts';
import type { ConnectionContext } from './request.ts';
import type { LogicalSession } from './logical-session.ts';
import type { OpenTransaction } from './open-transaction.ts';
import type { Turns } from './turns.ts';

/** What is known of an operation when it starts. */
export interface OperationOptions {
  readonly id: number;
  readonly clock: Clock;
  readonly connection: ConnectionContext;
  readonly maxTimeMs?: number | undefined;
  readonly session?: LogicalSession | undefined;
  readonly transaction?: OpenTransaction | undefined;
  readonly writes?: boolean;
  /** Whether it ends when its client has gone: true for reads; a write is done also for a client that does not wait for the answer. */
  readonly endsWithClient: boolean;
  /** Whom it waits for its turns with; absent: it works on to its end. */
  readonly turns?: Turns;
}

/** What a plan that was run says of itself. */
export interface PlanAccount {
  readonly summary: string;
  examined(): { readonly keys: number; readonly documents: number };
  /** What each stage did so far, and whether one of them sorted; absent: it has no stages. */
  executed?(): { readonly stages: Document; readonly sorts: boolean; readonly shapeHash: string; readonly keyHash: string };
}

/** What somebody has settled for queries like this one. */
export interface QueryAdvice {
  /** As it was set, for `explain`. */
  readonly document: Document;
  /** Names, key patterns and `$natural` of what may be used of a collection; undefined: anything. */
  indexesFor(namespace: string): readonly Value[] | undefined;
}

/** What an operation takes for now, from its first question to its end. */
export interface OperationTimes {
  readonly now: DateTime;
  readonly clusterTime: Timestamp;
}

/** Work that an operation has begun and that must come to an end also where the operation fails. */
export interface Unfinished {
  /** Keeps what is done, or gives it up where that cannot be; nothing is left open. */
  end(): Promise<void>;
}

/** One running operation. */
export class OperationContext implements Interruptible {
  readonly id: number;
  readonly clock: Clock;
  readonly connection: ConnectionContext;
  readonly startedMs: number;
  readonly session: LogicalSession | undefined;
  /** The multi-statement transaction it belongs to. */
  readonly transaction: OpenTransaction | undefined;
  /** For currentOp: set once the command is known. */
  command = '';
  /** The database, and the collection behind it where the command names one. */
  namespace = '';
  /** The command as it was sent. */
  body: Document | undefined;
  /** Whether it waits for somebody else. */
  waitingForLock = false;
  /** Set when first asked for. */
  times: OperationTimes | undefined;
  /** What its plans must follow. */
  advice: QueryAdvice | undefined;
  /** Plans that it has run, in order. */
  readonly runs: PlanAccount[] = [];
  /** What it has begun: ended by whoever runs it, if it fails. */
  readonly unfinished: Unfinished[] = [];
  /** Whether it changes data. */
  readonly writes: boolean;
  readonly #endsWithClient: boolean;
  readonly #turns: Turns | undefined;
  #sliceSinceMs: number;
  #deadline: number;
  #interrupt: InterruptReason | undefined;
  #idleMs = 0;
  #sleep: AbortController | undefined;

  constructor(options: OperationOptions) {
    this.id = options.id;
    this.clock = options.clock;
    this.connection = options.connection;
    this.session = options.session;
    this.transaction = options.transaction;
    this.writes = options.writes ?? false;
    this.#endsWithClient = options.endsWithClient;
    this.#turns = options.turns;
    this.startedMs = options.clock.monotonicMs();
    this.#sliceSinceMs = this.startedMs;
    const limit = options.maxTimeMs ?? 0;
    this.#deadline = limit > 0 ? this.startedMs + limit : Number.POSITIVE_INFINITY;
  }

  get database(): string {
    const dot = this.namespace.indexOf('.');
    return dot < 0 ? this.namespace : this.namespace.slice(0, dot);
  }

  /** On the clock's monotonic scale; infinite when there is none. */
  get deadline(): number {
    return this.#deadline;
  }

  /** Ends at the earlier of the present deadline and `ms` from the start. */
  limitTo(ms: number): void {
    this.#deadline = Math.min(this.#deadline, this.startedMs + ms);
  }

  /** Tells the operation to stop at its next check. The first reason stands. */
  interrupt(reason: InterruptReason): void {
    this.#interrupt ??= reason;
    this.#sleep?.abort();
  }

  /**
   * Waits so many milliseconds, or less: until `subscribe`'s callback is called, the operation is told to stop, its client goes, the server
   * closes or its time is over. Whoever waits asks `checkInterrupt` afterwards. `subscribe` gives what undoes it. One sleep at a time.
   */
  async sleep(ms: number, subscribe?: (wake: () => void) => () => void): Promise<void> {
    const ended = new AbortController();
    const end = (): void => {
      ended.abort();
    };
    const { signal, stopping } = this.connection;
    const left = Math.min(ms, this.#deadline - this.clock.monotonicMs());
    if (left <= 0 || signal.aborted || stopping.aborted || this.#interrupt !== undefined) return;
    this.#sleep = ended;
    for (const source of [signal, stopping]) source.addEventListener('abort', end, { once: true });
    const unsubscribe = subscribe?.(end);
    try {
      await this.clock.sleep(left, ended.signal);
    } finally {
      unsubscribe?.();
      for (const source of [signal, stopping]) source.removeEventListener('abort', end);
      this.#sleep = undefined;
    }
    // Many may have waited for the same.
    if (subscribe !== undefined && this.#turns !== undefined) {
      await this.#turns.next();
      this.#sliceSinceMs = this.clock.monotonicMs();
    }
  }

  /** As `sleep`, for a client that only waits for news: that is no part of how long the operation took (`opLatencies`, slow operations). */
  async idle(ms: number, subscribe?: (wake: () => void) => () => void): Promise<void> {
    const since = this.clock.monotonicMs();
    await this.sleep(ms, subscribe);
    this.#idleMs += this.clock.monotonicMs() - since;
  }

  /** How long it has waited for news. */
  get idleMs(): number {
    return this.#idleMs;
  }

  /** Throws the CommandError for which the operation must stop, if there is one. */
  checkInterrupt(): void {
    this.#checkAt(this.clock.monotonicMs());
  }

  /**
   * To be asked at each step of long work, and awaited where it gives a promise: then the operation has worked for long, and the event loop
   * turns before it goes on. Throws as `checkInterrupt`.
   */
  turn(): Promise<void> | undefined {
    const now = this.clock.monotonicMs();
    this.#checkAt(now);
    return this.#turns?.isOver(now - this.#sliceSinceMs) === true ? this.#nextSlice(this.#turns) : undefined;
  }

  /** Whether `turn` would give a promise. */
  get sliceIsOver(): boolean {
    return this.#turns?.isOver(this.clock.monotonicMs() - this.#sliceSinceMs) === true;
  }

  async #nextSlice(turns: Turns): Promise<void> {
    await turns.next();
    this.#sliceSinceMs = this.clock.monotonicMs();
    this.#checkAt(this.#sliceSinceMs);
  }

  #checkAt(nowMs: number): void {
    if (this.#endsWithClient && this.connection.signal.aborted) this.#interrupt ??= 'client-gone';
    if (this.#interrupt !== undefined) throw interruptError(this.#interrupt);
    if (nowMs >= this.#deadline) throw new CommandError(50, 'MaxTimeMSExpired', 'operation exceeded time limit');
  }
}
