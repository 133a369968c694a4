// TokuMX's transactions: begun by `beginTransaction` on a connection, for all that comes by it until `commitTransaction` or
// `rollbackTransaction`, and ended with the connection. At most one a connection. An error in it ends it, as it ends every transaction here.

import { CommandError } from '../base/errors.ts';
import type { ConnectionContext, CursorRegistry } from '../session/index.ts';
import type { CatalogTransaction } from '../catalog/index.ts';
import { HeldTransaction, type Isolation } from './held-transaction.ts';

/** Open transactions by connection. */
export class ConnectionTransactions {
  readonly #open: Map<ConnectionContext, HeldTransaction> = new Map();
  readonly #cursors: CursorRegistry;
  /** Numbers of these are negative: those of sessions are not. */
  #next = -1n;

  constructor(cursors: CursorRegistry) {
    this.#cursors = cursors;
  }

  /** Whether there is any: most servers never have one. */
  get any(): boolean {
    return this.#open.size > 0;
  }

  of(connection: ConnectionContext): HeldTransaction | undefined {
    return this.#open.get(connection);
  }

  all(): readonly [ConnectionContext, HeldTransaction][] {
    return [...this.#open];
  }

  /** Begins one; 16787 where there is one. */
  begin(connection: ConnectionContext, storage: CatalogTransaction, { startedMs, isolation }: { readonly startedMs: number; readonly isolation: Isolation }): void {
    if (this.#open.has(connection)) throw new CommandError(16787, 'Location16787', 'transaction already exists');
    const txnNumber = this.#next--;
    const transaction = new HeldTransaction(txnNumber, storage, {
      startedMs,
      isolation,
      onEnd: () => {
        this.#open.delete(connection);
        this.#cursors.killWhere((cursor) => cursor.options.txnNumber === txnNumber);
      },
    });
    this.#open.set(connection, transaction);
  }

  /** Forgets what was done in it, if there is one. */
  abort(connection: ConnectionContext): void {
    this.#open.get(connection)?.abort();
  }

  /** Ends those that have lived too long. */
  sweep(nowMs: number, lifetimeMs: number): void {
    for (const transaction of this.#open.values()) if (!transaction.isLoading && nowMs - transaction.startedMs >= lifetimeMs) transaction.abort();
  }
}
