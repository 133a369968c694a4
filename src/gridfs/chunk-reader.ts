// Reading a file by windows of chunks, each window in a short transaction of its own: between two windows nothing is held, so a player that
// pauses pins nothing. Every chunk is checked, n and length, before a byte of it is given (gateway.md, section 3).

import type { Document } from '../bson/index.ts';
import type { Catalog, CatalogTransaction, Collection, Namespace, RecordKey } from '../catalog/index.ts';
import { readChunk } from './chunk-document.ts';
import { chunkIndex, chunkKeys, isWithin, walkForChunks } from './chunk-places.ts';
import type { ChunkSpan, NumberedPlace } from './chunk-places.ts';
import { FileError } from './file-error.ts';
import type { FileReader, StoredFile } from './file-store.ts';

/** FileError `corrupt` of a file, or of one of its chunks. */
function corruptFile(file: Pick<StoredFile, 'id'>, message: string, n?: number): FileError {
  const id = file.id.text;
  return new FileError('corrupt', message, { place: n === undefined ? { id } : { id, n } });
}

/** Bytes that chunk `n` of a whole file has. */
export function expectedBytes(file: StoredFile, n: number): number {
  return Math.min(file.chunkSize, file.length - n * file.chunkSize);
}

/** The one FileReader over a catalog. */
export class ChunkReader implements FileReader {
  readonly #catalog: Catalog;
  readonly #chunks: Namespace;
  readonly #file: StoredFile;
  /** In a bucket without the index: found once, for the collection would be read again for every window. */
  #walked: readonly NumberedPlace[] | undefined;

  constructor(catalog: Catalog, chunks: Namespace, file: StoredFile) {
    this.#catalog = catalog;
    this.#chunks = chunks;
    this.#file = file;
  }

  async chunks(first: number, last: number): Promise<readonly Uint8Array[]> {
    const { fault } = this.#file;
    if (fault !== undefined) throw corruptFile(this.#file, fault);
    const txn = this.#catalog.begin('read');
    try {
      const collection = await this.#catalog.collection(txn, this.#chunks);
      if (collection === undefined) throw this.#missing(first);
      return await this.#read(txn, collection, { first, last });
    } finally {
      txn.abort();
    }
  }

  async #read(txn: CatalogTransaction, collection: Collection, span: ChunkSpan): Promise<Uint8Array[]> {
    const found: Uint8Array[] = [];
    for await (const key of this.#keys(txn, collection, span)) {
      const n = span.first + found.length;
      found.push(this.#checked(n, await collection.get(txn, key)));
    }
    if (found.length <= span.last - span.first) throw this.#missing(span.first + found.length);
    return found;
  }

  async *#keys(txn: CatalogTransaction, collection: Collection, span: ChunkSpan): AsyncGenerator<RecordKey, void> {
    if (chunkIndex(collection) !== undefined) {
      yield* chunkKeys(txn, collection, this.#file.id.value, span);
      return;
    }
    this.#walked ??= await walkForChunks(txn, collection, this.#file.id.value);
    for (const { n, key } of this.#walked) if (isWithin(n, span)) yield key;
  }

  /** The bytes of a document that must be chunk `n`. */
  #checked(n: number, document: Document | undefined): Uint8Array {
    if (document === undefined) throw this.#missing(n);
    const chunk = readChunk(document.raw.bytes, document.raw.start);
    if (chunk.n > n) throw this.#missing(n);
    if (chunk.n !== n) throw corruptFile(this.#file, `chunk ${chunk.n} of ${this.#file.chunkCount} is there more than once, or between two numbers`, chunk.n);
    const expected = expectedBytes(this.#file, n);
    if (chunk.data?.length === expected) return chunk.data;
    const has = chunk.data === undefined ? 'no bytes' : `${chunk.data.length} bytes`;
    throw corruptFile(this.#file, `chunk ${n} of ${this.#file.chunkCount} has ${has} instead of ${expected}`, n);
  }

  #missing(n: number): FileError {
    return corruptFile(this.#file, `chunk ${n} of ${this.#file.chunkCount} is missing`, n);
  }
}
