// Reading a file by windows of chunks, each window in a short transaction of its own: between two windows nothing is held, so a player that
// pauses pins nothing. Each window sees the file document again, in the snapshot of its chunks: a file that was deleted meanwhile, or replaced
// under its own id, is gone. Every chunk is checked, n and length, before a byte of it is given (gateway.md, section 3).

import type { Catalog, CatalogTransaction, Collection, Namespace, RecordKey } from '../catalog/index.ts';
import { equalBytes } from '../base/bytes.ts';
import { readChunk } from './chunk-document.ts';
import type { RawChunk } from './chunk-document.ts';
import { chunkIndex, chunkKeys, isWithin, walkForChunks } from './chunk-places.ts';
import type { ChunkSpan, NumberedPlace } from './chunk-places.ts';
import { FileError } from './file-error.ts';
import type { FileReader, StoredFile } from './file-store.ts';
import { readFileDocument } from './stored-file.ts';

/** FileError `corrupt` of a file, or of one of its chunks. */
export function corruptFile(file: Pick<StoredFile, 'id'>, message: string, n?: number): FileError {
  const id = file.id.text;
  return new FileError('corrupt', message, { place: n === undefined ? { id } : { id, n } });
}

/** FileError `gone` of a file that was opened. */
export function goneFile(file: Pick<StoredFile, 'id'>): FileError {
  return new FileError('gone', 'the file is not here any more', { place: { id: file.id.text } });
}

/** Bytes that chunk `n` of a whole file has. */
export function expectedBytes(file: StoredFile, n: number): number {
  return Math.min(file.chunkSize, file.length - n * file.chunkSize);
}

/** FileError `corrupt` of a chunk that is not there. */
export function missingChunk(file: StoredFile, n: number): FileError {
  return corruptFile(file, `chunk ${n} of ${file.chunkCount} is missing`, n);
}

/** The bytes of a chunk that must be number `n` of a file. */
export function checkedChunk(file: StoredFile, n: number, chunk: RawChunk): Uint8Array {
  if (Number.isNaN(chunk.n) || chunk.n > n) throw missingChunk(file, n);
  if (chunk.n !== n) throw corruptFile(file, `chunk ${chunk.n} of ${file.chunkCount} is there more than once, or between two numbers`, chunk.n);
  const expected = expectedBytes(file, n);
  if (chunk.data?.length === expected) return chunk.data;
  const has = chunk.data === undefined ? 'no bytes' : `${chunk.data.length} bytes`;
  throw corruptFile(file, `chunk ${n} of ${file.chunkCount} has ${has} instead of ${expected}`, n);
}

/** The one FileReader over a catalog. */
export class ChunkReader implements FileReader {
  readonly #catalog: Catalog;
  readonly #files: Namespace;
  readonly #chunks: Namespace;
  readonly #file: StoredFile;
  /** The file document as it was last seen; equal bytes need not be read again. */
  #seen: Uint8Array | undefined;
  /** In a bucket without the index: found once, for the collection would be read again for every window. */
  #walked: readonly NumberedPlace[] | undefined;

  constructor(catalog: Catalog, { files, chunks }: { readonly files: Namespace; readonly chunks: Namespace }, file: StoredFile) {
    this.#catalog = catalog;
    this.#files = files;
    this.#chunks = chunks;
    this.#file = file;
  }

  async read(first: number, last: number, take: (bytes: Uint8Array, n: number) => void): Promise<void> {
    const { fault } = this.#file;
    if (fault !== undefined) throw corruptFile(this.#file, fault);
    const txn = this.#catalog.begin('read');
    try {
      await this.#requireSame(txn);
      const collection = await this.#catalog.collection(txn, this.#chunks);
      if (collection === undefined) throw missingChunk(this.#file, first);
      let n = first;
      for await (const key of this.#keys(txn, collection, { first, last })) {
        const found = collection.peek(txn, key);
        const document = found instanceof Promise ? await found : found;
        if (document === undefined) throw missingChunk(this.#file, n);
        take(checkedChunk(this.#file, n, readChunk(document, 0)), n);
        n += 1;
      }
      if (n <= last) throw missingChunk(this.#file, n);
    } finally {
      txn.abort();
    }
  }

  /** FileError `gone` where the transaction does not see the file that was opened. */
  async #requireSame(txn: CatalogTransaction): Promise<void> {
    const files = await this.#catalog.collection(txn, this.#files);
    const found = await files?.get(txn, files.keyOf(this.#file.id.value));
    const bytes = found?.toBytes();
    if (bytes !== undefined && this.#seen !== undefined && equalBytes(bytes, this.#seen)) return;
    if (found === undefined || readFileDocument(found).version !== this.#file.version) throw goneFile(this.#file);
    this.#seen = bytes;
  }

  async *#keys(txn: CatalogTransaction, collection: Collection, span: ChunkSpan): AsyncGenerator<RecordKey, void> {
    if (chunkIndex(collection) !== undefined) {
      yield* chunkKeys(txn, collection, this.#file.id.value, span);
      return;
    }
    this.#walked ??= await walkForChunks(txn, collection, this.#file.id.value);
    for (const { n, key } of this.#walked) if (isWithin(n, span)) yield key;
  }
}
