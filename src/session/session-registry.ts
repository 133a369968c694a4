// The logical sessions of this server. A session is made when it is first named and forgotten after thirty minutes without use
// (logicalSessionTimeoutMinutes), or when the client ends it; what it did under its last number stays in storage for a later meeting.

import type { Clock } from '../env/index.ts';
import type { Document } from '../bson/index.ts';
import { LogicalSession } from './logical-session.ts';

/** Minutes without use after which a session ends; `hello` tells it. */
export const SESSION_TIMEOUT_MINUTES = 30;

const SESSION_TIMEOUT_MS = SESSION_TIMEOUT_MINUTES * 60_000;

/** All live sessions. */
export class SessionRegistry {
  readonly #clock: Clock;
  readonly #sessions: Map<string, LogicalSession> = new Map();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** The session of this key, made if it is new (its id is asked for only then); its idle time starts again. */
  use(named: { readonly key: string; readonly id: Document }, user: string): LogicalSession {
    let session = this.#sessions.get(named.key);
    const nowMs = this.#clock.monotonicMs();
    if (session === undefined) {
      session = new LogicalSession(named.key, named.id, { user, nowMs });
      this.#sessions.set(named.key, session);
    }
    session.lastUsedMs = nowMs;
    return session;
  }

  find(key: string): LogicalSession | undefined {
    return this.#sessions.get(key);
  }

  all(): readonly LogicalSession[] {
    return [...this.#sessions.values()];
  }

  /**
   * Stops what runs under the session and aborts its transaction; `forget` drops the session itself too. Resolves when all of it has ended.
   */
  async kill(session: LogicalSession, forget: boolean): Promise<void> {
    for (const operation of [...session.operations]) operation.interrupt('session-killed');
    const endTurn = await session.takeTurn();
    session.abortOpen();
    endTurn();
    if (forget && !session.busy) this.#sessions.delete(session.key);
  }

  /** Forgets sessions that were not used for the time-out and aborts transactions older than `transactionLifetimeMs`. */
  async sweep(transactionLifetimeMs: number): Promise<readonly LogicalSession[]> {
    const nowMs = this.#clock.monotonicMs();
    const ended: LogicalSession[] = [];
    for (const session of this.#sessions.values()) {
      const open = session.transaction;
      if (open !== undefined && open.isLoading !== true && nowMs - open.startedMs >= transactionLifetimeMs) await this.kill(session, false);
      if (session.busy || nowMs - session.lastUsedMs < SESSION_TIMEOUT_MS) continue;
      session.abortOpen();
      this.#sessions.delete(session.key);
      ended.push(session);
    }
    return ended;
  }
}
