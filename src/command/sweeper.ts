// The server's own housekeeping: idle cursors and sessions are ended, transactions that have lived too long are aborted, records of
// retryable writes that nobody may ask for any more are removed, and so are documents whose time to live is over.

import { expireDocuments, type Interruptible } from '../plan/index.ts';
import type { ServerState } from './server-state.ts';

const PERIOD_MS = 1000;

/** Seconds between two looks at stored records: they are kept for an hour, so being late by some minutes is nothing. */
const RECORDS_PERIOD_SECONDS = 300;

/** Seconds between two looks at TTL indexes, as `ttlMonitorSleepSecs` of MongoDB. */
const EXPIRY_PERIOD_SECONDS = 60;

/** Housekeeping that is under way. */
export interface Sweeper {
  stop(): void;
  /** Resolves when it has stopped. */
  readonly stopped: Promise<void>;
}

/** Starts the housekeeping of a server. */
export function serverSweeper(server: ServerState): Sweeper {
  const stopping = new AbortController();
  const stopped = sweepUntil(server, stopping.signal);
  return {
    stop: () => {
      stopping.abort();
    },
    stopped,
  };
}

async function sweepUntil(server: ServerState, signal: AbortSignal): Promise<void> {
  const { clock } = server.env;
  for (let round = 1; ; round++) {
    await clock.sleep(PERIOD_MS, signal);
    if (signal.aborted) return;
    server.cursors.sweep();
    server.snapshots.sweep();
    server.connectionTransactions.sweep(clock.monotonicMs(), server.transactionLifetimeSeconds * 1000);
    await keepTimeAhead(server);
    await trimLog(server);
    await server.sessions.sweep(server.transactionLifetimeSeconds * 1000);
    if (round % expiryPeriod(server) === 0 && server.gate.locks === 0) await expire(server, signal);
    if (round % RECORDS_PERIOD_SECONDS === 0 && server.gate.locks === 0) await sweepRecords(server, signal);
  }
}

/** Rounds between two looks at TTL indexes (ttlMonitorSleepSecs). */
function expiryPeriod(server: ServerState): number {
  const said = server.parameters.get('ttlMonitorSleepSecs');
  return typeof said === 'number' ? said : EXPIRY_PERIOD_SECONDS;
}

async function expire(server: ServerState, signal: AbortSignal): Promise<void> {
  try {
    await expireDocuments(server.catalog, server.env.clock.nowMs(), backgroundWork(server, signal));
  } catch {
    // What could not be removed now is met again in a minute; an engine that cannot write says so by `fatal`.
    return;
  }
}

/** Work of the server itself: it lets others on at every step. */
function backgroundWork({ env }: ServerState, signal: AbortSignal): Interruptible {
  const checkInterrupt = (): void => {
    signal.throwIfAborted();
  };
  return {
    checkInterrupt,
    sliceIsOver: true,
    turn: () => {
      checkInterrupt();
      return env.tasks.pause();
    },
  };
}

async function keepTimeAhead(server: ServerState): Promise<void> {
  try {
    await server.times.keepAhead(server.time.operationTime);
  } catch {
    // Tried again in a second; an engine that cannot write says so by `fatal`.
    return;
  }
}

async function trimLog(server: ServerState): Promise<void> {
  try {
    await server.catalog.oplog.trim();
  } catch {
    // Tried again in a second; an engine that cannot write says so by `fatal`.
    return;
  }
}

async function sweepRecords(server: ServerState, signal: AbortSignal): Promise<void> {
  try {
    await server.retries.sweep({
      checkInterrupt: () => {
        signal.throwIfAborted();
      },
    });
  } catch {
    // Records that could not be removed now are met again in the next round; an engine that cannot write says so by `fatal`.
    return;
  }
}
