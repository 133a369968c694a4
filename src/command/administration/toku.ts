// TokuMX's own commands: transactions by connection, and what the engine tells of itself.

import { CommandError } from '../../base/errors.ts';
import { BsonArray, DateTime, Document, type Value } from '../../bson/index.ts';
import type { DictionaryId } from '../../catalog/index.ts';
import type { ConnectionContext } from '../../session/index.ts';
import { defineCommand, type Command } from '../command.ts';
import { engineSection } from '../engine-report.ts';
import { anyField } from '../fields.ts';
import { HeldTransaction, type Isolation } from '../held-transaction.ts';
import { noteWrite } from '../note-write.ts';
import type { ServerState } from '../server-state.ts';

/** Whoever may read what is not committed is given a snapshot too: nothing here is written where others could see it before its commit. */
const ISOLATIONS: readonly Isolation[] = ['mvcc', 'serializable', 'readUncommitted'];

const beginTransaction: Command = defineCommand({
  name: 'beginTransaction',
  access: 'none',
  inTransaction: 'ends',
  about: 'begins a transaction of this connection',
  fields: { beginTransaction: anyField, isolation: anyField },
  run: ({ server, operation }, { isolation: said = 'mvcc' }) => {
    if (typeof said !== 'string') throw new CommandError(16738, 'Location16738', 'invalid isolation passed in');
    const isolation = ISOLATIONS.find((known) => known === said);
    if (isolation === undefined) throw new CommandError(16739, 'Location16739', 'invalid isolation passed in');
    const storage = server.catalog.begin('snapshot');
    try {
      server.connectionTransactions.begin(operation.connection, storage, { startedMs: server.env.clock.monotonicMs(), isolation });
    } catch (error) {
      storage.abort();
      throw error;
    }
    if (isolation === 'serializable') storage.isolate();
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

/** What a range of everything shows: of a lock on a whole dictionary no key is known. */
const EVERYTHING: BsonArray = BsonArray.of(['-infinity', '+infinity']);

/** Keys shown of one transaction. */
const ROW_LOCKS_MAX = 50;

type Owner = readonly [HeldTransaction, Readonly<Record<string, Value>>];

/** The transactions that clients hold, by their number in the engine. */
function ownersOf({ sessions, connectionTransactions }: ServerState): ReadonlyMap<number, Owner> {
  const owners = new Map<number, Owner>();
  for (const session of sessions.all()) {
    const { transaction } = session;
    if (transaction instanceof HeldTransaction) owners.set(transaction.storage.id, [transaction, { lsid: session.id, txnNumber: transaction.txnNumber }]);
  }
  for (const [connection, transaction] of connectionTransactions.all()) owners.set(transaction.storage.id, [transaction, { client: connection.remote }]);
  return owners;
}

const hexOf = (key: Uint8Array): string => Array.from(key, (byte) => byte.toString(16).padStart(2, '0')).join('');

/** What is locked, as TokuMX shows it: the index, and bounds, which of one key are equal. */
function lockFields({ catalog }: ServerState, dictionary: DictionaryId, key: Uint8Array | undefined): { index: string; bounds: BsonArray } {
  const found = catalog.describeKey(dictionary, key);
  const index = found?.index ?? '$internal';
  if (key === undefined) return { index, bounds: EVERYTHING };
  const values = found?.values ?? Document.of({ $key: hexOf(key) });
  return { index, bounds: BsonArray.of([values, values]) };
}

const showLiveTransactions: Command = defineCommand({
  name: 'showLiveTransactions',
  access: 'admin',
  about: 'transactions that are open, and what they have locked',
  fields: { showLiveTransactions: anyField },
  run: ({ server }) => {
    const owners = ownersOf(server);
    const { clock } = server.env;
    const shown = server.engine.liveTransactions(ROW_LOCKS_MAX).map(({ id, mode, locks, written }) => {
      const [held, where] = owners.get(id) ?? [undefined, {}];
      const ageMs = held === undefined ? 0 : clock.monotonicMs() - held.startedMs;
      return Document.of({
        txnid: BigInt(id),
        ...where,
        isolation: held?.isolation ?? 'mvcc',
        mode,
        ...(held === undefined ? {} : { started: new DateTime(clock.nowMs() - ageMs), secs: Math.floor(ageMs / 1000) }),
        lockedKeys: locks,
        rowLocks: BsonArray.of(written.map(({ dictionary, key }) => Document.of(lockFields(server, dictionary, key)))),
      });
    });
    return Promise.resolve({ transactions: BsonArray.of(shown) });
  },
});

const showPendingLockRequests: Command = defineCommand({
  name: 'showPendingLockRequests',
  access: 'admin',
  about: 'who waits for which lock, and who has it',
  fields: { showPendingLockRequests: anyField },
  run: ({ server }) => {
    const requests = server.engine.lockRequests().map(({ dictionary, key, requesting, blocking, waitedMs }) => {
      const { index, bounds } = lockFields(server, dictionary, key);
      const blockingTxnid = blocking === undefined ? {} : { blockingTxnid: BigInt(blocking) };
      return Document.of({ index, requestingTxnid: BigInt(requesting), ...blockingTxnid, started: new DateTime(server.env.clock.nowMs() - waitedMs), bounds });
    });
    return Promise.resolve({ requests: BsonArray.of(requests) });
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

export const TOKU_COMMANDS: readonly Command[] = [beginTransaction, rollbackTransaction, showLiveTransactions, showPendingLockRequests, engineStatus, checkpoint];
