// Resumable uploads into buckets of this server. What is known of each is one document in `local.gridfsUploads`, changed in the transaction of the chunks
// that it tells of, so it is exact after any crash. Chunks beyond its offset can only be there while something is taken back; they are removed
// before anything is added. An upload that ends without a file becomes a leftover, which the next start removes if this one cannot.

import { createHash } from 'node:crypto';
import type { Hash } from 'node:crypto';
import { Document, ObjectId } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';
import { AssertionError } from '../base/errors.ts';
import { namespaceOf, putDocument } from '../catalog/index.ts';
import type { Catalog, CatalogTransaction, RecordKey } from '../catalog/index.ts';
import type { ChunkBuffer } from './chunk-document.ts';
import { readChunk } from './chunk-document.ts';
import { chunkKeys } from './chunk-places.ts';
import type { BegunUpload } from './chunked-upload.ts';
import type { DigestCache } from './digest-cache.ts';
import { insertChunks } from './embedded-upload.ts';
import { FileError } from './file-error.ts';
import { FileId } from './file-id.ts';
import type { NewFile, ResumableState, ResumeRequest } from './file-store.ts';
import type { Leftovers} from './leftovers.ts';
import { removeDocument } from './leftovers.ts';
import { movedOn, readUploadDocument, uploadDocument } from './upload-document.ts';
import type { BucketNamespaces, UploadStorage } from './upload-storage.ts';

const uploads = namespaceOf('local', 'gridfsUploads');
const removedAtOnce = 32;
const rowsAtOnce = { rows: 256, bytes: 1 << 20 };

interface Parts {
  readonly catalog: Catalog;
  readonly leftovers: Leftovers;
  readonly ids: { next(): ObjectId };
  readonly digests: DigestCache;
  readonly clock: { nowMs(): number };
}

/** All resumable uploads of a store. */
export class EmbeddedResumables {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async create(bucket: BucketNamespaces, request: NewFile, plan: ResumeRequest): Promise<ResumableState> {
    const { files, chunks } = bucket;
    const document = uploadDocument(this.#parts.ids.next(), request, plan, { db: files.db, files: files.collection, chunks: chunks.collection });
    await this.#parts.catalog.run(async (txn) => {
      const collection = await this.#parts.catalog.ensureCollection(txn, uploads);
      await collection.insert(txn, collection.prepare(document));
    });
    return readUploadDocument(document);
  }

  async find(bucket: BucketNamespaces, id: FileId): Promise<{ readonly state: ResumableState; readonly onlyIfAbsent: boolean } | undefined> {
    const document = await this.#reading(async (txn) => {
      const collection = await this.#parts.catalog.collection(txn, uploads);
      return await collection?.get(txn, collection.keyOf(id.value));
    });
    if (document === undefined || document.get('db') !== bucket.files.db || document.get('files') !== bucket.files.collection) return undefined;
    const state = readUploadDocument(document);
    return state.expiresMs <= this.#parts.clock.nowMs() ? undefined : { state, onlyIfAbsent: document.get('onlyIfAbsent') === true };
  }

  async #reading<T>(read: (txn: CatalogTransaction) => Promise<T>): Promise<T> {
    const txn = this.#parts.catalog.begin('read');
    try {
      return await read(txn);
    } finally {
      txn.abort();
    }
  }

  /** What is there of an upload, and where it is kept. */
  async begin(bucket: BucketNamespaces, state: ResumableState, choices: ResumeRequest & { readonly beforeFinish: (txn: CatalogTransaction) => Promise<void> }): Promise<{ readonly begun: BegunUpload; readonly storage: UploadStorage }> {
    const storage = new EmbeddedResumable(this.#parts, { ...bucket, id: state.id.value, expiresMs: choices.expiresMs, beforeFinish: choices.beforeFinish, markerId: this.#parts.ids.next() });
    await storage.moveOn(choices);
    const full = Math.floor(state.offset / state.chunkSize);
    const tailBytes = state.offset % state.chunkSize;
    await storage.removeFrom(full + (tailBytes > 0 ? 1 : 0));
    const known = this.#parts.digests.find(state.id.text, state.offset);
    return { begun: await this.#begun(bucket, state, known), storage };
  }

  /** Reads the last chunk if it is not full, and all before it where their digest is not known. */
  async #begun({ chunks }: BucketNamespaces, { id, offset, chunkSize }: ResumableState, known: Hash | undefined): Promise<BegunUpload> {
    const full = Math.floor(offset / chunkSize);
    const tailBytes = offset % chunkSize;
    const hash = known ?? createHash('sha256');
    let n = known === undefined ? 0 : full;
    const last = tailBytes > 0 ? full : full - 1;
    let tail: BegunUpload['tail'];
    if (n > last) return { length: offset, hash, tail };
    await this.#reading(async (txn) => {
      const collection = await this.#parts.catalog.collection(txn, chunks);
      if (collection === undefined) return;
      for await (const key of chunkKeys(txn, collection, id.value, { first: n, last })) {
        const document = await collection.peek(txn, key);
        const { n: number, data } = document === undefined ? { n: -1, data: undefined } : readChunk(document, 0);
        if (number !== n || data?.length !== (n === full ? tailBytes : chunkSize)) break;
        if (known === undefined) hash.update(data);
        if (n === full) tail = { id: await this.#idOf(txn, collection, key), bytes: data.slice() };
        n += 1;
      }
    });
    if (n <= last) throw new FileError('corrupt', `chunk ${n} of an upload is missing`, { place: { id: id.text, n } });
    return { length: offset, hash, tail };
  }

  async #idOf(txn: CatalogTransaction, collection: NonNullable<Awaited<ReturnType<Catalog['collection']>>>, key: RecordKey): Promise<ObjectId> {
    const id = (await collection.get(txn, key))?.get('_id');
    if (!(id instanceof ObjectId)) throw new AssertionError('a chunk of an upload has an ObjectId');
    return id;
  }

  async remove(bucket: BucketNamespaces, id: FileId): Promise<boolean> {
    const storage = new EmbeddedResumable(this.#parts, { ...bucket, id: id.value, expiresMs: 0, beforeFinish: () => Promise.resolve(), markerId: this.#parts.ids.next() });
    this.#parts.digests.forget(id.text);
    return await storage.discard();
  }

  /** Removes those whose time is over; how many. */
  async removeExpired(): Promise<number> {
    const nowMs = this.#parts.clock.nowMs();
    let removed = 0;
    for (const document of await this.#all()) {
      if (readUploadDocument(document).expiresMs > nowMs) continue;
      const [db, files, chunks] = ['db', 'files', 'chunks'].map((name) => document.get(name));
      if (typeof db !== 'string' || typeof files !== 'string' || typeof chunks !== 'string') continue;
      if (await this.remove({ files: namespaceOf(db, files), chunks: namespaceOf(db, chunks) }, FileId.of(document.get('_id') ?? null))) removed += 1;
    }
    return removed;
  }

  async #all(): Promise<readonly Document[]> {
    return await this.#reading(async (txn) => {
      const found: Document[] = [];
      const collection = await this.#parts.catalog.collection(txn, uploads);
      if (collection === undefined) return found;
      const cursor = collection.scan(txn, {}, 1);
      for (;;) {
        const batch = await cursor.nextBatch(rowsAtOnce);
        if (batch.length === 0) break;
        for (let i = 0; i < batch.length; i++) found.push(Document.fromBytes(batch.value(i).slice()));
      }
      cursor.close();
      return found;
    });
  }
}

interface Place extends BucketNamespaces {
  readonly id: Value;
  readonly expiresMs: number;
  readonly markerId: Value;
  readonly beforeFinish: (txn: CatalogTransaction) => Promise<void>;
}

/** Keeps one resumable upload. */
class EmbeddedResumable implements UploadStorage {
  readonly #parts: Parts;
  readonly #place: Place;

  constructor(parts: Parts, place: Place) {
    this.#parts = parts;
    this.#place = place;
  }

  async moveOn(change: Pick<ResumeRequest, 'length' | 'expiresMs'>): Promise<void> {
    await this.#parts.catalog.run((txn) => this.#move(txn, change));
  }

  /** Changes the upload's document in the caller's transaction. FileError `gone` where it was removed meanwhile. */
  async #move(txn: CatalogTransaction, change: Parameters<typeof movedOn>[1]): Promise<void> {
    const collection = await this.#parts.catalog.ensureCollection(txn, uploads);
    const key = collection.keyOf(this.#place.id);
    await collection.lock(txn, key);
    const before = await collection.getLatest(txn, key);
    if (before === undefined) throw new FileError('gone', 'the upload is not here any more');
    await collection.update(txn, key, { before, after: movedOn(before, change) });
  }

  async commit(chunks: readonly ChunkBuffer[], length: number): Promise<void> {
    await this.#parts.catalog.run(async (txn) => {
      await this.#move(txn, { offset: length, expiresMs: this.#place.expiresMs });
      await this.#put(txn, chunks);
    });
  }

  /** Inserts chunks; the first may be there already, with fewer bytes. */
  async #put(txn: CatalogTransaction, chunks: readonly ChunkBuffer[]): Promise<void> {
    const [first, ...others] = chunks;
    if (first === undefined) return;
    const collection = await this.#parts.catalog.ensureCollection(txn, this.#place.chunks);
    await putDocument(txn, collection, first.document());
    await insertChunks(this.#parts.catalog, txn, this.#place.chunks, others);
  }

  async finish(chunks: readonly ChunkBuffer[], document: Document): Promise<void> {
    const { catalog } = this.#parts;
    await catalog.run(async (txn) => {
      await this.#place.beforeFinish(txn);
      await this.#put(txn, chunks);
      const files = await catalog.ensureCollection(txn, this.#place.files);
      await files.insert(txn, files.prepare(document));
      if (!(await this.#forget(txn))) throw new FileError('gone', 'the upload is not here any more');
    });
  }

  async #forget(txn: CatalogTransaction): Promise<boolean> {
    const collection = await this.#parts.catalog.ensureCollection(txn, uploads);
    return await removeDocument(txn, collection, collection.keyOf(this.#place.id));
  }

  async rewind(tail: ChunkBuffer | undefined, length: number): Promise<void> {
    await this.#parts.catalog.run(async (txn) => {
      await this.#move(txn, { offset: length });
      if (tail !== undefined) await this.#put(txn, [tail]);
    });
    if (tail !== undefined) await this.removeFrom(tail.n + 1);
  }

  /** Removes chunks from number `first` on. */
  async removeFrom(first: number): Promise<void> {
    const { catalog } = this.#parts;
    let isMore = true;
    while (isMore) {
      isMore = await catalog.run(async (txn) => {
        const collection = await catalog.collection(txn, this.#place.chunks);
        if (collection === undefined) return false;
        const keys: RecordKey[] = [];
        for await (const key of chunkKeys(txn, collection, this.#place.id, { first, last: Number.MAX_SAFE_INTEGER })) {
          keys.push(key.slice());
          if (keys.length === removedAtOnce) break;
        }
        for (const key of keys) await removeDocument(txn, collection, key);
        return keys.length === removedAtOnce;
      });
    }
  }

  async abort(): Promise<void> {
    await this.discard();
  }

  /** Makes the upload a leftover and removes that. Whether there was one. */
  async discard(): Promise<boolean> {
    const { catalog, leftovers } = this.#parts;
    const { files, chunks, id, markerId } = this.#place;
    const leftover = { files, chunks, id };
    const removed = await catalog.run(async (txn) => {
      if (!(await this.#forget(txn))) return false;
      await leftovers.mark(txn, leftover, markerId);
      return true;
    });
    if (removed) await leftovers.remove(leftover, markerId);
    return removed;
  }
}
