// Where sessions' retryable writes are remembered: `config.transactions`, one document a session, written by the engine transaction that
// does the write. So whoever asks again after a crash is answered from what was committed, and nothing is done twice (server.md).

import { afterSoon, namespaceOf, type Catalog, type CatalogTransaction, type Collection, type Soon } from '../catalog/index.ts';
import { DateTime, Document } from '../bson/index.ts';
import type { Clock } from '../env/index.ts';
import { RetryRecord, SESSION_TIMEOUT_MINUTES, type LogicalSession, type OperationContext } from '../session/index.ts';

const NAMESPACE = namespaceOf('config', 'transactions');

/** A record is kept this long after the last write of its session: thirty minutes more than the session itself. */
const KEPT_MS = 2 * SESSION_TIMEOUT_MINUTES * 60_000;

/** Most records removed by one engine transaction. */
const REMOVED_AT_ONCE = 256;

/** Reads and writes session records. */
export class RetryStore {
  readonly #catalog: Catalog;
  readonly #clock: Clock;

  constructor(catalog: Catalog, clock: Clock) {
    this.#catalog = catalog;
    this.#clock = clock;
  }

  /** Makes the collection if it is not there. */
  async open(): Promise<void> {
    await this.#catalog.run(async (txn) => {
      await this.#catalog.ensureCollection(txn, NAMESPACE);
    });
  }

  /** Looks up, once, what the session did before this server knew it. */
  async load(session: LogicalSession): Promise<void> {
    if (session.recordLoaded) return;
    const txn = this.#catalog.begin('read');
    try {
      const collection = await this.#collection(txn);
      const stored = await collection.get(txn, collection.keyOf(session.id));
      session.restore(stored === undefined ? undefined : RetryRecord.fromDocument(stored));
    } finally {
      txn.abort();
    }
  }

  /** Writes the record with the transaction. The caller remembers it in the session when the commit has succeeded. */
  write(txn: CatalogTransaction, session: LogicalSession, record: RetryRecord): Soon<void> {
    const found = this.#catalog.collection(txn, NAMESPACE);
    const collection = found instanceof Promise || found === undefined ? this.#collection(txn) : found;
    return afterSoon(collection, (there) => this.#writeTo(there, txn, session, record));
  }

  #writeTo(collection: Collection, txn: CatalogTransaction, session: LogicalSession, record: RetryRecord): Soon<void> {
    const key = (session.recordKey ??= collection.keyOf(session.id));
    return afterSoon(collection.lock(txn, key), () =>
      afterSoon(txn.mode === 'statement' ? collection.getLatest(txn, key) : collection.get(txn, key), (before) => {
        const after = record.toDocument(session.id, new DateTime(this.#clock.nowMs()));
        return before === undefined ? collection.insert(txn, collection.prepare(after)) : collection.update(txn, key, { before, after });
      }),
    );
  }

  /** Removes records that are older than any client may still ask for. */
  async sweep(context: Pick<OperationContext, 'checkInterrupt'>): Promise<void> {
    const limit = this.#clock.nowMs() - KEPT_MS;
    const old = await this.#oldRecords(limit, context);
    for (let at = 0; at < old.length; at += REMOVED_AT_ONCE) {
      await this.#catalog.run(async (txn) => {
        const collection = await this.#collection(txn);
        for (const key of old.slice(at, at + REMOVED_AT_ONCE)) {
          await collection.lock(txn, key);
          const stored = await collection.getLatest(txn, key);
          if (stored !== undefined && isOlder(stored, limit)) await collection.remove(txn, key, stored);
        }
      });
    }
  }

  async #oldRecords(limit: number, context: Pick<OperationContext, 'checkInterrupt'>): Promise<Uint8Array[]> {
    const txn = this.#catalog.begin('read');
    const old: Uint8Array[] = [];
    try {
      const collection = await this.#collection(txn);
      const cursor = collection.scan(txn, {}, 1);
      for (;;) {
        context.checkInterrupt();
        const batch = await cursor.nextBatch({ rows: 256, bytes: 1 << 20 });
        if (batch.length === 0) break;
        for (let i = 0; i < batch.length; i++) {
          if (isOlder(Document.fromBytes(batch.value(i)), limit)) old.push(batch.key(i).slice());
        }
      }
      cursor.close();
    } finally {
      txn.abort();
    }
    return old;
  }

  async #collection(txn: CatalogTransaction): Promise<Collection> {
    const found = await this.#catalog.collection(txn, NAMESPACE);
    return found ?? (await this.#catalog.ensureCollection(txn, NAMESPACE));
  }
}

function isOlder(stored: Document, limitMs: number): boolean {
  const date = stored.get('lastWriteDate');
  return date instanceof DateTime && date.ms < limitMs;
}
