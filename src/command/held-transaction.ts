// A multi-statement transaction: one engine transaction held by its session from the first statement to the last (server.md). Its snapshot
// is taken with its first operation. Cursors opened in it end with it.

import type { CatalogTransaction } from '../catalog/index.ts';
import type { OpenTransaction } from '../session/index.ts';

/** What a session holds while a transaction is open. */
export class HeldTransaction implements OpenTransaction {
  readonly txnNumber: bigint;
  readonly startedMs: number;
  readonly storage: CatalogTransaction;
  readonly #onEnd: () => void;
  #ended = false;

  constructor(txnNumber: bigint, storage: CatalogTransaction, options: { startedMs: number; onEnd: () => void }) {
    this.txnNumber = txnNumber;
    this.storage = storage;
    this.startedMs = options.startedMs;
    this.#onEnd = options.onEnd;
  }

  abort(): void {
    if (this.#ended) return;
    this.#end();
    this.storage.abort();
  }

  /** Durable and visible when it resolves. After an error it is over, too. */
  async commit(): Promise<void> {
    try {
      await this.storage.commit();
    } finally {
      this.#end();
    }
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#onEnd();
  }
}
