// Lets a request into its session: finds the session, waits for its turn, and holds the transaction number against what the session did
// before (server.md, "Transactions"; the rules and codes are those of MongoDB's TransactionParticipant). What comes out is what the command
// runs in: a held transaction, the memory of a retryable write, or neither.

import { CommandError } from '../base/errors.ts';
import type { ConnectionContext, LogicalSession } from '../session/index.ts';
import type { Command } from './command.ts';
import type { GenericFields } from './generic-fields.ts';
import { HeldTransaction } from './held-transaction.ts';
import { RetryScope } from './retry-scope.ts';
import type { ServerState } from './server-state.ts';

/** What a request runs in. `leave` must be called once, whatever happened. */
export interface Admission {
  readonly session: LogicalSession | undefined;
  readonly transaction: HeldTransaction | undefined;
  readonly retry: RetryScope | undefined;
  leave(): void;
}

const nothing = (): undefined => undefined;
const NO_SESSION: Admission = { session: undefined, transaction: undefined, retry: undefined, leave: nothing };

const TRANSIENT = { labels: ['TransientTransactionError'] };

function noSuchTransaction(text: string): CommandError {
  return new CommandError(251, 'NoSuchTransaction', text, TRANSIENT);
}

function tooOld(session: LogicalSession, txnNumber: bigint, what: string): CommandError {
  const text = `${what} ${String(txnNumber)} on session ${session.text} because a newer ${session.use === 'retryable-write' ? 'retryable write' : 'transaction'} with txnNumber ${String(session.txnNumber)} has already started on this session.`;
  return new CommandError(225, 'TransactionTooOld', text);
}

/** What may be part of a connection's transaction though MongoDB's has no place for it: TokuMX's definitions are transactional. */
const CHANGES_OF_CONNECTION: ReadonlySet<string> = new Set(['drop', 'dropDatabase', 'dropIndexes', 'renameCollection']);

/** Whether a command is part of the transaction of its connection, or stands beside it; 263 where it can be neither. */
function checkPart({ name, access, inTransaction }: Command): boolean {
  if (inTransaction === 'yes' || access === 'read' || CHANGES_OF_CONNECTION.has(name)) return true;
  if (access !== 'write') return false;
  throw new CommandError(263, 'OperationNotSupportedInTransaction', `Cannot run '${name}' in a multi-document transaction.`);
}

/** Admits a request. Throws or rejects with the CommandError that the numbers deserve; then nothing is held. */
export function enterSession(server: ServerState, command: Command, { generic, connection }: { generic: GenericFields; connection: ConnectionContext }): Admission | Promise<Admission> {
  const { user } = connection;
  const ofConnection = server.connectionTransactions.any && !generic.inTransaction ? server.connectionTransactions.of(connection) : undefined;
  if (ofConnection !== undefined && command.inTransaction !== 'ends') {
    const isPart = checkPart(command);
    const session = generic.lsid === undefined ? undefined : server.sessions.use(generic.lsid, user);
    return { session, transaction: isPart ? ofConnection : undefined, retry: undefined, leave: nothing };
  }
  if (generic.lsid === undefined) return NO_SESSION;
  const session = server.sessions.use(generic.lsid, user);
  if (generic.txnNumber === undefined || endsOfConnection(server, command, session, { generic, connection })) return { session, transaction: undefined, retry: undefined, leave: nothing };
  const leave = session.takeTurn();
  if (leave instanceof Promise || !session.recordLoaded) return enterLater(server, command, { generic, session, leave });
  return enterNumbered(server, command, { generic, session, leave });
}

/**
 * Whether an end of a transaction is meant for that of the connection: drivers put the session's number into every `commitTransaction` and
 * `abortTransaction`, also where the session has no transaction.
 */
function endsOfConnection({ connectionTransactions }: ServerState, command: Command, session: LogicalSession, { generic, connection }: { readonly generic: GenericFields; readonly connection: ConnectionContext }): boolean {
  if (!connectionTransactions.any || command.inTransaction !== 'ends' || connectionTransactions.of(connection) === undefined) return false;
  return session.transaction?.txnNumber !== generic.txnNumber;
}

async function enterLater(server: ServerState, command: Command, { generic, session, leave: waiting }: { generic: GenericFields; session: LogicalSession; leave: (() => void) | Promise<() => void> }): Promise<Admission> {
  const leave = await waiting;
  try {
    await server.retries.load(session);
  } catch (error) {
    leave();
    throw error;
  }
  return enterNumbered(server, command, { generic, session, leave });
}

/** Admits a request with a transaction number, whose turn it is. */
function enterNumbered(server: ServerState, command: Command, { generic, session, leave }: { generic: GenericFields; session: LogicalSession; leave: () => void }): Admission {
  const { txnNumber = 0n } = generic;
  try {
    if (!generic.inTransaction) {
      enterRetryableWrite(session, txnNumber);
      const retry = new RetryScope(session, server, generic.statementIds);
      return { session, transaction: undefined, retry, leave };
    }
    const transaction = generic.startTransaction
      ? startTransaction(server, session, txnNumber)
      : continueTransaction(session, txnNumber, command);
    return { session, transaction, retry: undefined, leave };
  } catch (error) {
    leave();
    throw error;
  }
}

/** Refuses a command that has no place in a transaction, or carries a number it may not. */
export function checkTransactionAllowed(command: Command, generic: GenericFields): void {
  const { name } = command;
  if (generic.txnNumber === undefined) return;
  if (!generic.inTransaction) {
    if (command.inTransaction === 'ends') {
      throw new CommandError(50768, 'NotARetryableWriteCommand', `txnNumber may only be provided for multi-document transactions and retryable write commands. autocommit:false was not provided, and ${name} is not a retryable write command.`);
    }
    if (command.retryable) return;
    throw new CommandError(50768, 'NotARetryableWriteCommand', `txnNumber may only be provided for multi-document transactions and retryable write commands. autocommit:false was not provided, and ${name} is not a retryable write command.`);
  }
  if (command.inTransaction === 'no') {
    throw new CommandError(263, 'OperationNotSupportedInTransaction', `Cannot run '${name}' in a multi-document transaction.`);
  }
  if (command.inTransaction === 'ends') {
    if (!generic.startTransaction) return;
    throw new CommandError(263, 'OperationNotSupportedInTransaction', `Cannot run '${name}' as the first command of a multi-document transaction.`);
  }
  const { db } = generic;
  if (db === 'local' || db === 'config' || (db === 'admin' && !command.adminOnly)) {
    throw new CommandError(263, 'OperationNotSupportedInTransaction', `Cannot run command against the '${db}' database in a transaction.`);
  }
  checkConcerns(generic);
}

function checkConcerns(generic: GenericFields): void {
  const { readConcern, writeConcern, startTransaction: starts } = generic;
  if (writeConcern !== undefined) {
    throw new CommandError(72, 'InvalidOptions', 'writeConcern is not allowed within a multi-statement transaction');
  }
  if (readConcern === undefined) return;
  if (!starts) {
    throw new CommandError(72, 'InvalidOptions', 'Only the first command in a transaction may specify a readConcern');
  }
  const { level } = readConcern;
  if (level === undefined || level === 'local' || level === 'majority' || level === 'snapshot') return;
  throw new CommandError(72, 'InvalidOptions', "The readConcern level must be either 'local' (default), 'majority' or 'snapshot' in order to run in a transaction");
}

function enterRetryableWrite(session: LogicalSession, txnNumber: bigint): void {
  if (txnNumber < session.txnNumber) throw tooOld(session, txnNumber, 'Cannot start retryable write with txnNumber');
  if (txnNumber > session.txnNumber) {
    session.advanceTo(txnNumber, 'retryable-write');
    return;
  }
  if (session.use === 'retryable-write') return;
  throw new CommandError(217, 'IncompleteTransactionHistory', 'Cannot retry a retryable write with a txnNumber that was used for a multi-document transaction');
}

function startTransaction(server: ServerState, session: LogicalSession, txnNumber: bigint): HeldTransaction {
  if (txnNumber < session.txnNumber) throw tooOld(session, txnNumber, 'Cannot start transaction with txnNumber');
  if (txnNumber === session.txnNumber) {
    throw new CommandError(50911, 'Location50911', `Only servers in a sharded cluster can start a new transaction at the active transaction number`);
  }
  session.advanceTo(txnNumber, 'in-progress');
  const transaction = new HeldTransaction(txnNumber, server.catalog.begin('snapshot'), {
    startedMs: server.env.clock.monotonicMs(),
    onEnd: () => {
      server.cursors.killWhere((cursor) => cursor.options.sessionKey === session.key && cursor.options.txnNumber === txnNumber);
    },
  });
  session.transaction = transaction;
  server.counters.transactionsStarted += 1;
  return transaction;
}

/** The open transaction; undefined where the command ends one that was committed before. */
function continueTransaction(session: LogicalSession, txnNumber: bigint, command: Command): HeldTransaction | undefined {
  if (txnNumber < session.txnNumber) throw tooOld(session, txnNumber, 'Cannot continue transaction with txnNumber');
  if (txnNumber > session.txnNumber || session.use === 'retryable-write' || session.use === 'none') {
    throw noSuchTransaction(`Given transaction number ${String(txnNumber)} does not match any in-progress transactions. The active transaction number is ${String(session.txnNumber)}`);
  }
  if (session.use === 'aborted') {
    throw noSuchTransaction(`Transaction with { txnNumber: ${String(txnNumber)} } has been aborted.`);
  }
  if (session.use === 'committed') {
    if (command.name === 'commitTransaction') return undefined;
    throw new CommandError(256, 'TransactionCommitted', `Transaction with { txnNumber: ${String(txnNumber)} } has been committed.`);
  }
  const { transaction } = session;
  if (transaction instanceof HeldTransaction) return transaction;
  throw noSuchTransaction(`Transaction with { txnNumber: ${String(txnNumber)} } has been aborted.`);
}
