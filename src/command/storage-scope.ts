// Which engine transaction a command works in: that of the multi-statement transaction it belongs to, or one of its own that ends with it.

import { EngineError } from '../base/errors.ts';
import type { Timestamp } from '../bson/index.ts';
import type { CatalogTransaction } from '../catalog/index.ts';
import type { CommandContext } from './command.ts';
import { noteWrite } from './note-write.ts';

/** A transaction to read in; `end` frees it if it is the command's own. */
export interface ReadScope {
  readonly txn: CatalogTransaction;
  /** The time by which the same state can be read again, where the read concern asks for one. */
  readonly atClusterTime?: Timestamp | undefined;
  end(): void;
}

/** A transaction for reading. */
export function beginRead(context: CommandContext): ReadScope {
  if (context.transaction !== undefined) return { txn: context.transaction.storage, end: () => undefined };
  const { catalog, snapshots } = context.server;
  const { readConcern } = context.generic;
  const atClusterTime = readConcern?.level === 'snapshot' ? (readConcern.atClusterTime ?? snapshots.hold()) : undefined;
  const txn = catalog.begin('read', snapshots.serve(atClusterTime));
  return {
    txn,
    atClusterTime,
    end: () => {
      txn.abort();
    },
  };
}

/** Runs `work` on one state of the data, all of it within this call. */
export async function reading<T>(context: CommandContext, work: (txn: CatalogTransaction) => Promise<T>): Promise<T> {
  const scope = beginRead(context);
  try {
    return await work(scope.txn);
  } finally {
    scope.end();
  }
}

/** Runs a change of the catalog: in the open transaction, or by itself, durable when it resolves. */
export async function changing<T>(context: CommandContext, work: (txn: CatalogTransaction) => Promise<T>): Promise<T> {
  if (context.transaction !== undefined) return work(context.transaction.storage);
  for (;;) {
    context.operation.checkInterrupt();
    try {
      const result = await context.server.catalog.run(work);
      noteWrite(context.server);
      return result;
    } catch (error) {
      // A lock that somebody holds for long is waited for until the client's own limit.
      if (!(error instanceof EngineError) || error.code !== 'locked') throw error;
    }
  }
}
