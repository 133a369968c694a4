// commitTransaction and abortTransaction. The outcome of a commit is remembered with the commit itself, so that a client that did not hear
// the answer is told the same again, also after a crash (server.md, "Transactions").

import { CommandError } from '../../base/errors.ts';
import { RetryRecord } from '../../session/index.ts';
import { checkNoLoad, commitOfConnection, rollbackOfConnection } from '../administration/toku.ts';
import { defineCommand, type Command, type CommandContext } from '../command.ts';
import { anyField } from '../fields.ts';
import { noteWrite } from '../note-write.ts';
import type { HeldTransaction } from '../held-transaction.ts';

/** Both commands belong to a transaction: a session, a number, and autocommit false. */
function checkNamed(context: CommandContext, name: string): void {
  if (context.db !== 'admin') throw new CommandError(13, 'Unauthorized', `${name} may only be run against the admin database.`);
  if (context.operation.session !== undefined && context.generic.inTransaction) return;
  throw new CommandError(125, 'CommandFailed', `${name} must be run within a transaction`);
}

/** Whether the transaction of the connection is meant: the session has none. */
function isOfConnection({ generic, server, operation, transaction }: CommandContext): boolean {
  const { connectionTransactions } = server;
  if (!connectionTransactions.any || transaction !== undefined) return false;
  return !generic.inTransaction || connectionTransactions.of(operation.connection) !== undefined;
}

async function commit(context: CommandContext, transaction: HeldTransaction): Promise<void> {
  const { server, operation } = context;
  const { session } = operation;
  if (session === undefined) return;
  const record = new RetryRecord(transaction.txnNumber, 'committed');
  session.transaction = undefined;
  try {
    const { hasWritten } = transaction.storage;
    if (hasWritten) await server.retries.write(transaction.storage, session, record);
    transaction.storage.identify({ lsid: session.id, txnNumber: transaction.txnNumber });
    await transaction.commit();
    if (hasWritten) noteWrite(server);
    session.use = 'committed';
    session.record = record;
    server.counters.transactionsCommitted += 1;
  } catch (error) {
    transaction.abort();
    session.use = 'aborted';
    server.counters.transactionsAborted += 1;
    throw error;
  }
}

const commitTransaction: Command = defineCommand({
  name: 'commitTransaction',
  access: 'write',
  inTransaction: 'ends',
  about: 'makes the open transaction of the session durable',
  fields: { commitTransaction: anyField, recoveryToken: anyField },
  run: async (context) => {
    if (isOfConnection(context)) {
      await commitOfConnection(context.server, context.operation.connection);
      return { status: 'transaction committed' };
    }
    checkNamed(context, 'commitTransaction');
    checkNoLoad(context.transaction, 16889, 'committing');
    if (context.transaction !== undefined) await commit(context, context.transaction);
    return {};
  },
});

const abortTransaction: Command = defineCommand({
  name: 'abortTransaction',
  access: 'write',
  inTransaction: 'ends',
  about: 'forgets the open transaction of the session',
  fields: { abortTransaction: anyField, recoveryToken: anyField },
  run: (context) => {
    if (isOfConnection(context)) {
      rollbackOfConnection(context.server, context.operation.connection);
      return Promise.resolve({ status: 'transaction rolled back' });
    }
    checkNamed(context, 'abortTransaction');
    context.operation.session?.abortOpen();
    context.server.counters.transactionsAborted += 1;
    return Promise.resolve({});
  },
});

export const TRANSACTION_COMMANDS: readonly Command[] = [commitTransaction, abortTransaction];
