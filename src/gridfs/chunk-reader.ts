// Reading a file by windows of chunks, each window in a short transaction of its own: between two windows nothing is held, so a player that
// pauses pins nothing. Each window sees the file document again, in the snapshot of its chunks: a file that was deleted meanwhile, or replaced
// under its own id, is gone. Every chunk is checked, n and length, before a byte of it is given (gateway.md, section 3).

import type { Catalog, CatalogTransaction, Collection, Namespace, RecordKey, Soon } from '../catalog/index.ts';
import { readChunk } from './chunk-document.ts';
import type { RawChunk } from './chunk-document.ts';
import { chunkIndex, chunkKeys, isWithin, walkForChunks } from './chunk-places.ts';
import type { ChunkSpan, NumberedPlace } from './chunk-places.ts';
import { FileError } from './file-error.ts';
import type { FileReader, StoredFile } from './file-store.ts';
import { Remembered, stateOf } from './remembered.ts';
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

/** What is remembered of a bucket: files by id and by name, and where their chunks are. */
export class BucketMemory {
  readonly files: Remembered<StoredFile> = new Remembered(1000);
  readonly places: Remembered<RecordKey> = new Remembered(10_000);
}

/** Where a reader reads. */
export interface ReadBucket {
  readonly files: Namespace;
  readonly chunks: Namespace;
  readonly memory: BucketMemory;
}

/** What is asked of a reader, and where it is: `n` is the next chunk. */
interface Window {
  n: number;
  readonly last: number;
  readonly take: (bytes: Uint8Array, n: number) => void;
}

/** The one FileReader over a catalog. What is remembered and in memory is read in one step. */
export class ChunkReader implements FileReader {
  readonly #catalog: Catalog;
  readonly #bucket: ReadBucket;
  readonly #file: StoredFile;
  readonly #key: string;
  /** In a bucket without the index: found once, for the collection would be read again for every window. */
  #walked: readonly NumberedPlace[] | undefined;

  constructor(catalog: Catalog, bucket: ReadBucket, file: StoredFile) {
    this.#catalog = catalog;
    this.#bucket = bucket;
    this.#file = file;
    this.#key = `id ${file.id.text}`;
  }

  read(first: number, last: number, take: (bytes: Uint8Array, n: number) => void): Soon<void> {
    const { fault } = this.#file;
    if (fault !== undefined) throw corruptFile(this.#file, fault);
    const txn = this.#catalog.begin('read');
    const window = { n: first, last, take };
    let waits = true;
    try {
      const reading = this.#readRemembered(txn, window);
      waits = window.n <= last;
      return waits ? this.#readRest(txn, window, reading) : undefined;
    } catch (error) {
      waits = false;
      throw error;
    } finally {
      if (!waits) txn.abort();
    }
  }

  /** Gives the chunks whose places are remembered, as far as they are in memory; a promise gives one more. */
  #readRemembered(txn: CatalogTransaction, window: Window): Promise<void> | undefined {
    const { files, chunks, memory } = this.#bucket;
    const [fileRows, collection] = [this.#catalog.collection(txn, files), this.#catalog.collection(txn, chunks)];
    if (fileRows instanceof Promise || collection instanceof Promise || collection === undefined) return undefined;
    const [filesState, state] = [stateOf(txn, fileRows), stateOf(txn, collection)];
    if (filesState === undefined || state === undefined || memory.files.find(filesState, this.#key)?.version !== this.#file.version) return undefined;
    while (window.n <= window.last) {
      const key = memory.places.find(state, this.#placeKey(window.n));
      if (key === undefined) return undefined;
      const found = collection.peek(txn, key);
      if (found instanceof Promise) return found.then((document) => this.#give(window, document));
      this.#give(window, found);
    }
    return undefined;
  }

  #placeKey(n: number): string {
    return `${n} ${this.#file.id.text}`;
  }

  #give(window: Window, document: Uint8Array | undefined): void {
    const { n } = window;
    if (document === undefined) throw missingChunk(this.#file, n);
    window.n += 1;
    window.take(checkedChunk(this.#file, n, readChunk(document, 0)), n);
  }

  async #readRest(txn: CatalogTransaction, window: Window, begun: Promise<void> | undefined): Promise<void> {
    try {
      for (let reading = begun; reading !== undefined; reading = this.#readRemembered(txn, window)) await reading;
      if (window.n <= window.last) await this.#readUnknown(txn, window);
    } finally {
      txn.abort();
    }
  }

  /** Gives chunks whose places have to be found, and remembers these. */
  async #readUnknown(txn: CatalogTransaction, window: Window): Promise<void> {
    await this.#requireSame(txn);
    const collection = await this.#catalog.collection(txn, this.#bucket.chunks);
    if (collection === undefined) throw missingChunk(this.#file, window.n);
    const state = stateOf(txn, collection);
    const { n: first, last } = window;
    const keys: RecordKey[] = [];
    for await (const key of this.#keys(txn, collection, { first, last })) {
      keys.push(key.slice());
      if (window.n > last) throw corruptFile(this.#file, `chunk ${last} of ${this.#file.chunkCount} is there more than once, or between two numbers`, last);
      const found = collection.peek(txn, key);
      this.#give(window, found instanceof Promise ? await found : found);
    }
    if (window.n <= last) throw missingChunk(this.#file, window.n);
    if (state === undefined) return;
    for (const [i, key] of keys.entries()) this.#bucket.memory.places.keep(state, this.#placeKey(first + i), key);
  }

  /** FileError `gone` where the transaction does not see the file that was opened. */
  async #requireSame(txn: CatalogTransaction): Promise<void> {
    const files = await this.#catalog.collection(txn, this.#bucket.files);
    const state = stateOf(txn, files);
    const { memory } = this.#bucket;
    const known = state === undefined ? undefined : memory.files.find(state, this.#key);
    const document = known === undefined ? await files?.get(txn, files.keyOf(this.#file.id.value)) : undefined;
    const now = known ?? (document === undefined ? undefined : readFileDocument(document));
    if (now?.version !== this.#file.version) throw goneFile(this.#file);
    if (state !== undefined && known === undefined) memory.files.keep(state, this.#key, now);
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
