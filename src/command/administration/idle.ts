// What is there and waits for its client: connections without an operation, sessions with an open transaction, cursors between two batches.
// Follows the manual's page "$currentOp (aggregation)", sections of `idleConnections`, `idleSessions` and `idleCursors`.

import { clusterTarget } from '../../auth/index.ts';
import { BsonArray, DateTime, Document, type Value } from '../../bson/index.ts';
import type { ClientCursor, ConnectionContext, LogicalSession } from '../../session/index.ts';
import type { CommandContext } from '../command.ts';
import type { ServerState } from '../server-state.ts';

/** Which of it is asked for. */
export interface IdleChoice {
  readonly connections: boolean;
  readonly sessions: boolean;
  readonly cursors: boolean;
  /** Only what belongs to whoever asks. */
  readonly ownOnly: boolean;
}

const hostOf = (server: ServerState): string => `${server.env.host.hostname}:${String(server.options.port)}`;
const micros = (ms: number): bigint => BigInt(Math.max(0, Math.round(ms * 1000)));

/** Fields that say whose connection it is. */
export function connectionFields(connection: ConnectionContext): Record<string, Value | undefined> {
  const at = connection.user.lastIndexOf('@');
  const users = connection.user === '' ? [] : [Document.of({ user: connection.user.slice(0, at), db: connection.user.slice(at + 1) })];
  const appName = connection.metadata?.appName;
  return {
    desc: `conn${String(connection.id)}`,
    connectionId: connection.id,
    client: connection.remote,
    appName: appName === '' ? undefined : appName,
    clientMetadata: connection.metadata?.document,
    effectiveUsers: BsonArray.of(users),
  };
}

function idleConnection(server: ServerState, connection: ConnectionContext): Document {
  return Document.of({
    type: 'op',
    host: hostOf(server),
    ...connectionFields(connection),
    active: false,
    currentOpTime: new Date(server.env.clock.nowMs()).toISOString().replace('Z', '+00:00'),
    threaded: true,
  });
}

function idleSession(server: ServerState, session: LogicalSession): Document {
  const { clock } = server.env;
  const open = session.transaction;
  const openMs = open === undefined ? 0 : clock.monotonicMs() - open.startedMs;
  const expiry = server.transactionLifetimeSeconds * 1000 - openMs;
  return Document.of({
    type: 'idleSession',
    host: hostOf(server),
    desc: 'inactive transaction',
    active: false,
    lsid: session.id,
    transaction: Document.of({
      parameters: Document.of({ txnNumber: session.txnNumber, autocommit: false, readConcern: Document.of({ level: 'snapshot' }) }),
      startWallClockTime: new Date(clock.nowMs() - openMs).toISOString().replace('Z', '+00:00'),
      timeOpenMicros: micros(openMs),
      timeInactiveMicros: micros(clock.monotonicMs() - session.lastUsedMs),
      expiryTime: new Date(clock.nowMs() + expiry).toISOString().replace('Z', '+00:00'),
    }),
    waitingForLock: false,
    waitingForFlowControl: false,
    locks: Document.empty,
    lockStats: Document.empty,
  });
}

/** What a cursor is, for the operation that uses it too. */
export function cursorDescription(server: ServerState, cursor: ClientCursor): Document {
  const { clock } = server.env;
  const { tail, command, noTimeout, limit } = cursor.options;
  return Document.of({
    cursorId: cursor.id,
    lastAccessDate: new DateTime(Math.floor(clock.nowMs() - (clock.monotonicMs() - cursor.lastUsedMs))),
    nDocsReturned: BigInt(cursor.given),
    noCursorTimeout: noTimeout === true,
    tailable: tail !== undefined,
    awaitData: tail?.wait !== undefined,
    limit: limit === undefined ? undefined : BigInt(limit),
    originatingCommand: command,
  });
}

function idleCursor(server: ServerState, cursor: ClientCursor): Document {
  const { sessionKey, user, namespace } = cursor.options;
  const at = user.lastIndexOf('@');
  return Document.of({
    type: 'idleCursor',
    host: hostOf(server),
    ns: namespace,
    lsid: sessionKey === undefined ? undefined : server.sessions.find(sessionKey)?.id,
    redacted: false,
    effectiveUsers: BsonArray.of(user === '' ? [] : [Document.of({ user: user.slice(0, at), db: user.slice(at + 1) })]),
    cursor: cursorDescription(server, cursor),
  });
}

/** The rows of all that is idle, as far as whoever asks may see it. */
export async function idleRows({ server, operation }: CommandContext, choice: IdleChoice): Promise<Document[]> {
  const { user: asker } = operation.connection;
  const limits = await server.access.limits(operation.connection);
  const seesAll = !choice.ownOnly && (limits?.allows(clusterTarget, 'inprog') ?? true);
  const sees = (user: string): boolean => seesAll || user === asker;
  const busy = new Set([...server.operations.values()].map(({ connection }) => connection));
  const connections = rowsOf(choice.connections, server.connections, (one) => !busy.has(one) && sees(one.user), (one) => idleConnection(server, one));
  const sessions = rowsOf(choice.sessions, server.sessions.all(), (one) => one.transaction !== undefined && !one.busy && sees(one.user), (one) => idleSession(server, one));
  const cursors = rowsOf(choice.cursors, server.cursors.all(), (one) => one.usedBy === undefined && sees(one.options.user), (one) => idleCursor(server, one));
  return [...connections, ...sessions, ...cursors];
}

function rowsOf<T>(isAsked: boolean, all: Iterable<T>, isIdle: (one: T) => boolean, row: (one: T) => Document): Document[] {
  return isAsked ? [...all].filter(isIdle).map(row) : [];
}
