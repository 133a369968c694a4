// A multi-statement transaction: one engine transaction held by its session from the first statement to the last (server.md). Its snapshot
// is taken with its first operation. Cursors opened in it end with it.

import type { CatalogTransaction, CollectionLoad } from '../catalog/index.ts';
import type { OpenTransaction } from '../session/index.ts';

/** TokuMX's names of what a transaction may see of others. */
export type Isolation = 'mvcc' | 'serializable' | 'readUncommitted';

/** What a session holds while a transaction is open. */
export class HeldTransaction implements OpenTransaction {
  readonly txnNumber: bigint;
  readonly startedMs: number;
  readonly storage: CatalogTransaction;
  readonly isolation: Isolation;
  readonly #onEnd: () => void;
  #ended = false;
  /** Bulk loads that are part of it; the last may be under way. */
  readonly #loads: CollectionLoad[] = [];
  #load: CollectionLoad | undefined;

  constructor(txnNumber: bigint, storage: CatalogTransaction, options: { startedMs: number; onEnd: () => void; isolation?: Isolation }) {
    this.txnNumber = txnNumber;
    this.storage = storage;
    this.startedMs = options.startedMs;
    this.isolation = options.isolation ?? 'mvcc';
    this.#onEnd = options.onEnd;
  }

  /** The bulk load under way. */
  get load(): CollectionLoad | undefined {
    return this.#load;
  }

  get isLoading(): boolean {
    return this.#load !== undefined;
  }

  beginLoad(load: CollectionLoad): void {
    this.#load = load;
    this.#loads.push(load);
  }

  /** Gives the load under way to whoever commits or aborts it; there is none from now on. */
  endLoad(): CollectionLoad | undefined {
    const load = this.#load;
    this.#load = undefined;
    return load;
  }

  abort(): void {
    if (this.#ended) return;
    this.#end();
    this.storage.abort();
    this.#dropLoads();
  }

  /** Durable and visible when it resolves. After an error it is over, too. */
  async commit(): Promise<void> {
    try {
      await this.storage.commit();
    } catch (error) {
      this.#dropLoads();
      throw error;
    } finally {
      this.#end();
    }
  }

  #dropLoads(): void {
    this.#load = undefined;
    for (const load of this.#loads) void load.abort();
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#onEnd();
  }
}
