// One upload into a bucket of this server. Chunks are laid down as bytes come and committed a megabyte at a time; the commit of the last ones
// has the file document too, so the file is listed whole or not at all. A file that fits in one commit needs no marker (leftovers.ts).

import { createHash } from 'node:crypto';
import { DateTime, Document } from '../bson/index.ts';
import type { ObjectId, Value } from '../bson/index.ts';
import type { Catalog, CatalogTransaction, Namespace } from '../catalog/index.ts';
import { ChunkBuffer, chunkMemory } from './chunk-document.ts';
import { FileError } from './file-error.ts';
import { FileId } from './file-id.ts';
import type { FileUpload, NewFile, StoredFile } from './file-store.ts';
import type { LeftoverFile, Leftovers } from './leftovers.ts';
import { readFileDocument } from './stored-file.ts';

/** What an upload is made of. */
export interface UploadParts {
  readonly catalog: Catalog;
  readonly leftovers: Leftovers;
  readonly ids: { next(): ObjectId };
  readonly clock: { nowMs(): number };
  readonly files: Namespace;
  readonly chunks: Namespace;
  readonly request: NewFile;
  readonly chunkSize: number;
  /** Called in the last transaction, before anything is written. */
  readonly beforeFinish: (txn: CatalogTransaction) => Promise<void>;
}

/** Bytes of full chunks that are committed together. */
const commitBytes = 1024 * 1024;

/** The one FileUpload over a catalog. */
export class EmbeddedUpload implements FileUpload {
  readonly id: FileId;
  readonly #parts: UploadParts;
  readonly #markerId: Value;
  readonly #hash = createHash('sha256');
  #full: ChunkBuffer[] = [];
  readonly #spare: Uint8Array[] = [];
  #filling: ChunkBuffer | undefined;
  #length = 0;
  #count = 0;
  #isMarked = false;
  #state: 'open' | 'ended' = 'open';
  /** The commit under way. */
  #committing: Promise<void> = Promise.resolve();

  constructor(parts: UploadParts) {
    this.#parts = parts;
    this.id = FileId.of(parts.ids.next());
    this.#markerId = parts.ids.next();
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#checkOpen();
    this.#hash.update(bytes);
    this.#length += bytes.length;
    let offset = 0;
    while (offset < bytes.length) {
      this.#filling ??= this.#nextChunk();
      offset = this.#filling.fill(bytes, offset);
      if (!this.#filling.isFull) continue;
      this.#full.push(this.#filling);
      this.#filling = undefined;
      if (this.#full.length * this.#parts.chunkSize >= commitBytes) await this.#commitFull();
    }
  }

  #nextChunk(): ChunkBuffer {
    const capacity = this.#parts.chunkSize;
    const memory = this.#spare.pop() ?? chunkMemory(capacity);
    return new ChunkBuffer({ id: this.#parts.ids.next(), file: this.id.value }, this.#count++, { capacity, memory });
  }

  /** Waits for the commit before, begins the next and lets it run while more bytes come: at most two commits' worth is in memory. */
  async #commitFull(): Promise<void> {
    await this.#committing;
    const chunks = this.#full;
    this.#full = [];
    this.#committing = this.#commit(chunks);
    // Whoever waits for it next is told; until then nobody listens.
    this.#committing.catch(() => undefined);
  }

  async #commit(chunks: readonly ChunkBuffer[]): Promise<void> {
    const { catalog, leftovers } = this.#parts;
    await catalog.run(async (txn) => {
      if (!this.#isMarked) await leftovers.mark(txn, this.#leftover, this.#markerId);
      await this.#insert(txn, chunks);
    });
    this.#isMarked = true;
    // The storage has copied them: the next chunks are laid down in the same memory.
    for (const { memory } of chunks) this.#spare.push(memory);
  }

  async #insert(txn: CatalogTransaction, chunks: readonly ChunkBuffer[]): Promise<void> {
    const collection = await this.#parts.catalog.ensureCollection(txn, this.#parts.chunks);
    for (const chunk of chunks) await collection.insert(txn, collection.prepare(chunk.document()));
  }

  get #leftover(): LeftoverFile {
    return { files: this.#parts.files, chunks: this.#parts.chunks, id: this.id.value };
  }

  async finish(expected?: string): Promise<StoredFile> {
    this.#checkOpen();
    await this.#committing;
    const sha256 = this.#hash.digest('hex');
    if (expected !== undefined && expected !== sha256) throw new FileError('digest-mismatch', `the bytes have the SHA-256 ${sha256}, not ${expected}`);
    const last = this.#filling === undefined ? this.#full : [...this.#full, this.#filling];
    const { catalog, leftovers, beforeFinish } = this.#parts;
    const document = this.#document(sha256);
    await catalog.run(async (txn) => {
      await beforeFinish(txn);
      await this.#insert(txn, last);
      const collection = await catalog.ensureCollection(txn, this.#parts.files);
      await collection.insert(txn, collection.prepare(document));
      if (this.#isMarked) await leftovers.unmark(txn, this.#markerId);
    });
    this.#state = 'ended';
    return readFileDocument(document);
  }

  #document(sha256: string): Document {
    const { request, chunkSize, clock } = this.#parts;
    const metadata: [string, Value][] = [...request.metadata].filter(([name]) => name !== 'sha256' && name !== 'contentType');
    if (request.contentType !== undefined) metadata.push(['contentType', request.contentType]);
    metadata.push(['sha256', sha256]);
    return Document.of({
      _id: this.id.value,
      length: BigInt(this.#length),
      chunkSize,
      uploadDate: new DateTime(clock.nowMs()),
      filename: request.filename,
      metadata: Document.fromEntries(metadata),
    });
  }

  async abort(): Promise<void> {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.#full = [];
    this.#spare.length = 0;
    this.#filling = undefined;
    await this.#committing.catch(() => undefined);
    if (this.#isMarked) await this.#parts.leftovers.remove(this.#leftover, this.#markerId);
  }

  #checkOpen(): void {
    if (this.#state === 'ended') throw new FileError('ended', 'the upload has ended', { place: { id: this.id.text } });
  }
}
