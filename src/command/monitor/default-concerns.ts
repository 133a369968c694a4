// The read and write concern of those who name none (setDefaultRWConcern): a document of `config.settings`, kept over restarts.

import { DateTime, Document, Timestamp } from '../../bson/index.ts';
import { namespaceOf, putDocument, type Catalog } from '../../catalog/index.ts';
import { parseWriteConcern, type WriteConcern } from '../concerns.ts';

const NAMESPACE = namespaceOf('config', 'settings');

const ID = 'ReadWriteConcernDefaults';

/** What was set. */
export interface ConcernDefaults {
  readonly readConcern: Document | undefined;
  readonly writeConcern: Document | undefined;
  /** When it was set; undefined: never. */
  readonly updated: { readonly at: DateTime; readonly time: Timestamp } | undefined;
}

/** The defaults, in memory and on disk. */
export class DefaultConcerns {
  readonly #catalog: Catalog;
  #now: ConcernDefaults = { readConcern: undefined, writeConcern: undefined, updated: undefined };

  #write: WriteConcern | undefined;

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
  }

  /** The write concern, read. */
  get write(): WriteConcern | undefined {
    return this.#write;
  }

  get now(): ConcernDefaults {
    return this.#now;
  }

  /** Reads what an earlier run has set. */
  async load(): Promise<void> {
    const txn = this.#catalog.begin('read');
    try {
      const collection = await this.#catalog.collection(txn, NAMESPACE);
      const stored = await collection?.get(txn, collection.keyOf(ID));
      if (stored === undefined) return;
      const [read, write, at, time] = ['defaultReadConcern', 'defaultWriteConcern', 'updateWallClockTime', 'updateOpTime'].map((name) => stored.get(name));
      this.#set({
        readConcern: read instanceof Document ? read : undefined,
        writeConcern: write instanceof Document ? write : undefined,
        updated: at instanceof DateTime && time instanceof Timestamp ? { at, time } : undefined,
      });
    } finally {
      txn.abort();
    }
  }

  /** Sets them; durable when it resolves. */
  async set(next: ConcernDefaults): Promise<void> {
    const after = Document.of({
      _id: ID,
      defaultReadConcern: next.readConcern,
      defaultWriteConcern: next.writeConcern,
      updateOpTime: next.updated?.time,
      updateWallClockTime: next.updated?.at,
    });
    await this.#catalog.run(async (txn) => {
      await putDocument(txn, await this.#catalog.ensureCollection(txn, NAMESPACE), after);
    });
    this.#set(next);
  }

  #set(next: ConcernDefaults): void {
    this.#now = next;
    this.#write = next.writeConcern === undefined ? undefined : parseWriteConcern(next.writeConcern);
  }
}
