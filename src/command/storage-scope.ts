// Which engine transaction a command works in: that of the multi-statement transaction it belongs to, or one of its own that ends with it.

import type { CatalogTransaction } from '../catalog/index.ts';
import type { CommandContext } from './command.ts';

/** A transaction to read in; `end` frees it if it is the command's own. */
export interface ReadScope {
  readonly txn: CatalogTransaction;
  end(): void;
}

/** A transaction for reading. */
export function beginRead(context: CommandContext): ReadScope {
  if (context.transaction !== undefined) return { txn: context.transaction.storage, end: () => undefined };
  const held = heldSnapshot(context);
  const txn = context.server.catalog.begin('read', held);
  return {
    txn,
    end: () => {
      txn.abort();
    },
  };
}

function heldSnapshot(context: CommandContext): CatalogTransaction | undefined {
  const { readConcern } = context.generic;
  if (readConcern?.level !== 'snapshot') return undefined;
  return context.server.snapshots.serve(readConcern.atClusterTime);
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
  context.operation.checkInterrupt();
  const result = await context.server.catalog.run(work);
  context.server.time.tick();
  return result;
}
