// Where uploads into a bucket of this server are kept. Each commit is one transaction, and that of the last chunks has the file document too, so the
// file is listed whole or not at all. A file that fits in one commit needs no marker (leftovers.ts).

import type { Document, Value } from '../bson/index.ts';
import type { Catalog, CatalogTransaction, Namespace } from '../catalog/index.ts';
import type { ChunkBuffer } from './chunk-document.ts';
import type { LeftoverFile, Leftovers } from './leftovers.ts';
import type { UploadStorage } from './upload-storage.ts';

/** What the storage of an upload is made of. */
export interface EmbeddedUploadParts {
  readonly catalog: Catalog;
  readonly leftovers: Leftovers;
  readonly files: Namespace;
  readonly chunks: Namespace;
  readonly id: Value;
  readonly markerId: Value;
  /** Called in the last transaction, before anything is written. */
  readonly beforeFinish: (txn: CatalogTransaction) => Promise<void>;
}

/** Keeps an upload that is sent in one piece. */
export class EmbeddedUpload implements UploadStorage {
  readonly #parts: EmbeddedUploadParts;
  #isMarked = false;

  constructor(parts: EmbeddedUploadParts) {
    this.#parts = parts;
  }

  async commit(chunks: readonly ChunkBuffer[]): Promise<void> {
    const { catalog, leftovers, markerId } = this.#parts;
    await catalog.run(async (txn) => {
      if (!this.#isMarked) await leftovers.mark(txn, this.#leftover, markerId);
      await insertChunks(catalog, txn, this.#parts.chunks, chunks);
    });
    this.#isMarked = true;
  }

  get #leftover(): LeftoverFile {
    return { files: this.#parts.files, chunks: this.#parts.chunks, id: this.#parts.id };
  }

  async finish(chunks: readonly ChunkBuffer[], document: Document): Promise<void> {
    const { catalog, leftovers, beforeFinish, files, markerId } = this.#parts;
    await catalog.run(async (txn) => {
      await beforeFinish(txn);
      await insertChunks(catalog, txn, this.#parts.chunks, chunks);
      const collection = await catalog.ensureCollection(txn, files);
      await collection.insert(txn, collection.prepare(document));
      if (this.#isMarked) await leftovers.unmark(txn, markerId);
    });
  }

  /** There is nothing to go back to but the beginning. */
  async rewind(): Promise<void> {
    await this.abort();
  }

  async abort(): Promise<void> {
    if (this.#isMarked) await this.#parts.leftovers.remove(this.#leftover, this.#parts.markerId);
  }
}

/** Inserts chunks, which are copied by the storage, in the caller's transaction. */
export async function insertChunks(catalog: Catalog, txn: CatalogTransaction, ns: Namespace, chunks: readonly ChunkBuffer[]): Promise<void> {
  if (chunks.length === 0) return;
  const collection = await catalog.ensureCollection(txn, ns);
  for (const chunk of chunks) await collection.insert(txn, collection.prepare(chunk.document()));
}
