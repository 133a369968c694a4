// TokuMX's own commands: transactions by connection, and what the engine tells of itself.

import { CommandError } from '../../base/errors.ts';
import { BsonArray, DateTime, Document } from '../../bson/index.ts';
import type { ConnectionContext } from '../../session/index.ts';
import { defineCommand, type Command } from '../command.ts';
import { engineSection } from '../engine-report.ts';
import { anyField, stringField } from '../fields.ts';
import type { HeldTransaction } from '../held-transaction.ts';
import { noteWrite } from '../note-write.ts';
import type { ServerState } from '../server-state.ts';

const beginTransaction: Command = defineCommand({
  name: 'beginTransaction',
  access: 'none',
  inTransaction: 'ends',
  about: 'begins a transaction of this connection',
  fields: { beginTransaction: anyField, isolation: stringField },
  run: ({ server, operation }, { isolation = 'mvcc' }) => {
    if (isolation !== 'mvcc') throw new CommandError(2, 'BadValue', `isolation '${isolation}' is not offered; 'mvcc' is`);
    server.connectionTransactions.begin(operation.connection, server.catalog.begin('snapshot'), server.env.clock.monotonicMs());
    server.counters.transactionsStarted += 1;
    return Promise.resolve({ status: 'transaction began' });
  },
});

/** A load must be committed or aborted before its transaction is. */
export function checkNoLoad(transaction: HeldTransaction | undefined, code: number, doing: string): void {
  if (transaction?.load === undefined) return;
  throw new CommandError(code, `Location${String(code)}`, `a bulk load is still in progress. commit or abort the load before ${doing} the transaction.`);
}

/** Commits the transaction of a connection; 16788 where there is none. */
export async function commitOfConnection(server: ServerState, connection: ConnectionContext): Promise<void> {
  const transaction = server.connectionTransactions.of(connection);
  if (transaction === undefined) throw new CommandError(16788, 'Location16788', 'no transaction exists to be committed');
  checkNoLoad(transaction, 16889, 'committing');
  const { hasWritten } = transaction.storage;
  await transaction.commit();
  if (hasWritten) noteWrite(server);
  server.counters.transactionsCommitted += 1;
}

/** Forgets the transaction of a connection; 16789 where there is none. */
export function rollbackOfConnection(server: ServerState, connection: ConnectionContext): void {
  const transaction = server.connectionTransactions.of(connection);
  if (transaction === undefined) throw new CommandError(16789, 'Location16789', 'no transaction exists to be rolled back');
  checkNoLoad(transaction, 16890, 'aborting');
  server.connectionTransactions.abort(connection);
  server.counters.transactionsAborted += 1;
}

const rollbackTransaction: Command = defineCommand({
  name: 'rollbackTransaction',
  access: 'none',
  inTransaction: 'ends',
  about: 'forgets the transaction of this connection',
  fields: { rollbackTransaction: anyField },
  run: ({ server, operation }) => {
    rollbackOfConnection(server, operation.connection);
    return Promise.resolve({ status: 'transaction rolled back' });
  },
});

function describeTransaction(server: ServerState, transaction: Pick<HeldTransaction, 'txnNumber' | 'startedMs'>, where: { client?: string; lsid?: Document }): Document {
  const ageMs = server.env.clock.monotonicMs() - transaction.startedMs;
  return Document.of({
    txnid: transaction.txnNumber,
    ...where,
    isolation: 'mvcc',
    started: new DateTime(server.env.clock.nowMs() - ageMs),
    secs: Math.floor(ageMs / 1000),
  });
}

const showLiveTransactions: Command = defineCommand({
  name: 'showLiveTransactions',
  access: 'admin',
  about: 'transactions that are open',
  fields: { showLiveTransactions: anyField },
  run: ({ server }) => {
    const ofSessions = server.sessions.all().flatMap((session) => (session.transaction === undefined ? [] : [describeTransaction(server, session.transaction, { lsid: session.id })]));
    const ofConnections = server.connectionTransactions.all().map(([connection, transaction]) => describeTransaction(server, transaction, { client: connection.remote }));
    return Promise.resolve({ transactions: BsonArray.of([...ofSessions, ...ofConnections]) });
  },
});

const engineStatus: Command = defineCommand({
  name: 'engineStatus',
  access: 'admin',
  about: 'counters of the storage engine',
  fields: { engineStatus: anyField },
  run: ({ server }) => Promise.resolve(engineSection(server.engine)),
});

const checkpoint: Command = defineCommand({
  name: 'checkpoint',
  access: 'admin',
  about: 'writes a checkpoint',
  fields: { checkpoint: anyField },
  run: async ({ server }) => {
    await server.engine.checkpoint();
    return {};
  },
});

export const TOKU_COMMANDS: readonly Command[] = [beginTransaction, rollbackTransaction, showLiveTransactions, engineStatus, checkpoint];
