// Chunks that belong to no file: those of an upload that was cut, and those of a file that is being deleted. Before the first such chunk can be
// there without its file document, a marker in the collection `local.gridfsLeftovers` says so, in the same commit; it goes with the last of them.
// So a crash at any point leaves a marker, and the next start deletes what it names. Chunks without a marker (another program's upload, still
// under way) are never touched.

import { DateTime, Document } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';
import { namespaceOf } from '../catalog/index.ts';
import type { Catalog, CatalogTransaction, Collection, Namespace, RecordKey } from '../catalog/index.ts';
import { chunkKeys } from './chunk-places.ts';

const markers = namespaceOf('local', 'gridfsLeftovers');

/** Removed by one transaction: few enough to fit any write set, though each is read. */
const removedAtOnce = 32;
const rowsAtOnce = { rows: 256, bytes: 1 << 20 };

/** Whose chunks: the namespaces of the bucket and the id of the file. */
export interface LeftoverFile {
  readonly files: Namespace;
  readonly chunks: Namespace;
  readonly id: Value;
}

/** Where markers are written and what they name is deleted. */
export class Leftovers {
  readonly #catalog: Catalog;
  readonly #clock: { nowMs(): number };

  constructor(catalog: Catalog, clock: { nowMs(): number }) {
    this.#catalog = catalog;
    this.#clock = clock;
  }

  /** Makes the collection, so that a marker never has to wait for one to be made. */
  async open(): Promise<void> {
    await this.#catalog.run(async (txn) => {
      await this.#catalog.ensureCollection(txn, markers);
    });
  }

  /** Writes the marker of a file in the caller's transaction. Its id, for `unmark`. */
  async mark(txn: CatalogTransaction, file: LeftoverFile, markerId: Value): Promise<void> {
    const collection = await this.#catalog.ensureCollection(txn, markers);
    const { files, chunks, id } = file;
    const marker = { _id: markerId, db: files.db, files: files.collection, chunks: chunks.collection, file: id, since: new DateTime(this.#clock.nowMs()) };
    await collection.insert(txn, collection.prepare(Document.of(marker)));
  }

  /** Takes a marker away in the caller's transaction. */
  async unmark(txn: CatalogTransaction, markerId: Value): Promise<void> {
    const collection = await this.#catalog.ensureCollection(txn, markers);
    await removeDocument(txn, collection, collection.keyOf(markerId));
  }

  /** Deletes the chunks, then the marker. */
  async remove(file: LeftoverFile, markerId: Value): Promise<void> {
    while (await this.#removeSome(file));
    await this.#catalog.run((txn) => this.unmark(txn, markerId));
  }

  async #removeSome({ chunks, id }: LeftoverFile): Promise<boolean> {
    return await this.#catalog.run(async (txn) => {
      const collection = await this.#catalog.collection(txn, chunks);
      if (collection === undefined) return false;
      const keys: RecordKey[] = [];
      for await (const key of chunkKeys(txn, collection, id)) {
        keys.push(key.slice());
        if (keys.length === removedAtOnce) break;
      }
      for (const key of keys) await removeDocument(txn, collection, key);
      return keys.length === removedAtOnce;
    });
  }

  /** Deletes what uploads and deletions of an earlier run left. Uploads that begin while it runs are not in its list. */
  async sweep(): Promise<void> {
    for (const marker of await this.#markers()) {
      const file = fileOf(marker);
      const markerId = marker.get('_id') ?? null;
      if (file === undefined || (await this.#isThere(file))) await this.#catalog.run((txn) => this.unmark(txn, markerId));
      else await this.remove(file, markerId);
    }
  }

  async #markers(): Promise<readonly Document[]> {
    const txn = this.#catalog.begin('read');
    const found: Document[] = [];
    try {
      const collection = await this.#catalog.collection(txn, markers);
      if (collection === undefined) return found;
      const cursor = collection.scan(txn, {}, 1);
      for (;;) {
        const batch = await cursor.nextBatch(rowsAtOnce);
        if (batch.length === 0) break;
        for (let i = 0; i < batch.length; i++) found.push(Document.fromBytes(batch.value(i).slice()));
      }
      cursor.close();
      return found;
    } finally {
      txn.abort();
    }
  }

  async #isThere({ files, id }: LeftoverFile): Promise<boolean> {
    const txn = this.#catalog.begin('read');
    try {
      const collection = await this.#catalog.collection(txn, files);
      return collection !== undefined && (await collection.get(txn, collection.keyOf(id))) !== undefined;
    } finally {
      txn.abort();
    }
  }
}

function fileOf(marker: Document): LeftoverFile | undefined {
  const [db, files, chunks, id] = ['db', 'files', 'chunks', 'file'].map((name) => marker.get(name));
  if (typeof db !== 'string' || typeof files !== 'string' || typeof chunks !== 'string' || id === undefined) return undefined;
  return { files: namespaceOf(db, files), chunks: namespaceOf(db, chunks), id };
}

/** Removes the document with this key if it is still there; whether it was. */
export async function removeDocument(txn: CatalogTransaction, collection: Collection, key: RecordKey): Promise<boolean> {
  await collection.lock(txn, key);
  const document = await collection.getLatest(txn, key);
  if (document === undefined) return false;
  await collection.remove(txn, key, document);
  return true;
}
