// Reading a file by windows of chunks, each window in a short transaction of its own: between two windows nothing is held, so a player that
// pauses pins nothing. Each window sees the file document again, in the snapshot of its chunks: a file that was deleted meanwhile, or replaced
// under its own id, is gone. Every chunk is checked, n and length, before a byte of it is given (gateway.md, section 3).

import type { Catalog, CatalogTransaction, Collection, Namespace, RecordKey, Soon } from '../catalog/index.ts';
import { readChunk, readChunkPlan } from './chunk-document.ts';
import { chunkIndex, chunkKeys, isWithin, walkForChunks } from './chunk-places.ts';
import type { ChunkSpan, NumberedPlace } from './chunk-places.ts';
import { FileError } from './file-error.ts';
import type { FileReader, ReadRoom, StoredFile } from './file-store.ts';
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

/** FileError `corrupt` where what is there is not chunk `n` of a file. `length`: of its bytes; undefined where there are none. */
export function checkChunk(file: StoredFile, n: number, chunk: { readonly n: number; readonly length: number | undefined }): void {
  if (Number.isNaN(chunk.n) || chunk.n > n) throw missingChunk(file, n);
  if (chunk.n !== n) throw repeatedChunk(file, chunk.n);
  const expected = expectedBytes(file, n);
  if (chunk.length === expected) return;
  const has = chunk.length === undefined ? 'no bytes' : `${chunk.length} bytes`;
  throw corruptFile(file, `chunk ${n} of ${file.chunkCount} has ${has} instead of ${expected}`, n);
}

function repeatedChunk(file: StoredFile, n: number): FileError {
  return corruptFile(file, `chunk ${n} of ${file.chunkCount} is there more than once, or between two numbers`, n);
}

/** Where a chunk is, and where in its document the bytes of the file begin. */
interface ChunkPlace {
  readonly key: RecordKey;
  readonly dataStart: number;
}

/** Of a chunk document, so much is looked at to know where its bytes begin. */
const beginningBytes = 512;
/** What of a chunk is before the bytes that are wanted, when they are read where they shall lie: up to a block, and what is before the blocks. */
const beforeMax = 20 * 1024;

/** What is remembered of a bucket: files by id and by name, and where their chunks are. */
export class BucketMemory {
  readonly files: Remembered<StoredFile> = new Remembered(1000);
  readonly places: Remembered<ChunkPlace> = new Remembered(10_000);
}

/** Where a reader reads. */
export interface ReadBucket {
  readonly files: Namespace;
  readonly chunks: Namespace;
  readonly memory: BucketMemory;
}

/** Bytes on their way into memory: `at` is the next one, those before it lie in memory[from, from + length). */
interface Window {
  at: number;
  last: number;
  readonly memory: Uint8Array;
  from: number;
  length: number;
}

/** The one FileReader over a catalog. What is remembered and in memory is read in one step. */
export class ChunkReader implements FileReader {
  readonly fills: boolean = true;
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

  read(first: number, last: number, { bytes, memory }: ReadRoom): Soon<readonly Uint8Array[]> {
    const { fault } = this.#file;
    if (fault !== undefined) throw corruptFile(this.#file, fault);
    const txn = this.#catalog.begin('read');
    const window = { at: first, last: this.#lastOf(first, last, Math.min(bytes, memory.length)), memory, from: 0, length: 0 };
    let waits = false;
    try {
      const reading = this.#readRemembered(txn, window);
      waits = window.at <= window.last;
      return waits ? this.#readRest(txn, window, reading) : filled(window);
    } finally {
      if (!waits) txn.abort();
    }
  }

  /** The last byte of a window: a chunk that fills the memory is read by itself, smaller ones together, whole where the range does not end before. */
  #lastOf(first: number, last: number, room: number): number {
    const { chunkSize } = this.#file;
    const end = first - (first % chunkSize) + chunkSize;
    const left = room - (end - first) - beforeMax;
    if (last < end || left < Math.min(chunkSize, last + 1 - end)) return Math.min(last, end - 1, first + room - 1);
    return last < end + left ? last : end + Math.floor(left / chunkSize) * chunkSize - 1;
  }

  /** Reads the chunks whose places are remembered, as far as they can be had at once; a promise reads some more. */
  #readRemembered(txn: CatalogTransaction, window: Window): Promise<void> | undefined {
    const { files, chunks, memory } = this.#bucket;
    const [fileRows, collection] = [this.#catalog.collection(txn, files), this.#catalog.collection(txn, chunks)];
    if (fileRows instanceof Promise || collection instanceof Promise || collection === undefined) return undefined;
    const [filesState, state] = [stateOf(txn, fileRows), stateOf(txn, collection)];
    if (filesState === undefined || state === undefined || memory.files.find(filesState, this.#key)?.version !== this.#file.version) return undefined;
    while (window.at <= window.last) {
      const place = memory.places.find(state, this.#placeKey(this.#chunkAt(window)));
      if (place === undefined) return undefined;
      const reading = this.#readPart(txn, collection, window, place);
      if (reading !== undefined) return reading;
    }
    return undefined;
  }

  #chunkAt({ at }: Window): number {
    return Math.floor(at / this.#file.chunkSize);
  }

  #placeKey(n: number): string {
    return `${n} ${this.#file.id.text}`;
  }

  /** Reads what the window wants of the chunk that it is at. The first part is put where it shall lie, and may be all that there is room for. */
  #readPart(txn: CatalogTransaction, collection: Collection, window: Window, { key, dataStart }: ChunkPlace): Promise<void> | undefined {
    const n = this.#chunkAt(window);
    const begin = n * this.#file.chunkSize;
    const [from, to] = [window.at - begin, Math.min(expectedBytes(this.#file, n), window.last + 1 - begin)];
    const isFirst = window.length === 0;
    const take = (bytes: Uint8Array | undefined): void => {
      if (bytes === undefined || bytes.length === 0) throw missingChunk(this.#file, n);
      const isThere = isFirst && bytes.buffer === window.memory.buffer;
      if (!isThere && bytes.length < to - from) throw missingChunk(this.#file, n);
      if (isThere) window.from = bytes.byteOffset - window.memory.byteOffset;
      else makeRoom(window, bytes.length).set(bytes);
      window.at += bytes.length;
      window.length += bytes.length;
      if (bytes.length < to - from) window.last = window.at - 1;
    };
    const found = collection.peek(txn, key, { from: dataStart + from, to: dataStart + to, memory: isFirst ? window.memory : undefined });
    if (found instanceof Promise) return found.then(take);
    take(found);
    return undefined;
  }

  async #readRest(txn: CatalogTransaction, window: Window, begun: Promise<void> | undefined): Promise<readonly Uint8Array[]> {
    try {
      for (let reading = begun; reading !== undefined; reading = this.#readRemembered(txn, window)) await reading;
      if (window.at <= window.last) await this.#readUnknown(txn, window);
      return filled(window);
    } finally {
      txn.abort();
    }
  }

  /** Reads chunks whose places have to be found, and remembers these. */
  async #readUnknown(txn: CatalogTransaction, window: Window): Promise<void> {
    await this.#requireSame(txn);
    const collection = await this.#catalog.collection(txn, this.#bucket.chunks);
    const [first, last] = [this.#chunkAt(window), Math.floor(window.last / this.#file.chunkSize)];
    if (collection === undefined) throw missingChunk(this.#file, first);
    const state = stateOf(txn, collection);
    const places: ChunkPlace[] = [];
    for await (const key of this.#keys(txn, collection, { first, last })) {
      if (window.at > window.last) throw repeatedChunk(this.#file, last);
      const place = await this.#placeOf(txn, collection, key.slice(), this.#chunkAt(window));
      places.push(place);
      await this.#readPart(txn, collection, window, place);
    }
    if (window.at <= window.last) throw missingChunk(this.#file, this.#chunkAt(window));
    if (state === undefined) return;
    for (const [i, place] of places.entries()) this.#bucket.memory.places.keep(state, this.#placeKey(first + i), place);
  }

  /** Checks a chunk document, as far as can be told without all its bytes. */
  async #placeOf(txn: CatalogTransaction, collection: Collection, key: RecordKey, n: number): Promise<ChunkPlace> {
    const beginning = await collection.peek(txn, key, { from: 0, to: beginningBytes });
    if (beginning === undefined) throw missingChunk(this.#file, n);
    const plan = readChunkPlan(beginning);
    if (plan !== undefined) {
      checkChunk(this.#file, n, { n: plan.n, length: plan.dataLength });
      return { key, dataStart: plan.dataStart };
    }
    const document = (await collection.peek(txn, key)) ?? beginning;
    const { n: number, data } = readChunk(document, 0);
    checkChunk(this.#file, n, { n: number, length: data?.length });
    return { key, dataStart: (data?.byteOffset ?? 0) - document.byteOffset };
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

/** Where the next `bytes` go. What is there is moved to the beginning where more is before it than was thought. */
function makeRoom(window: Window, bytes: number): Uint8Array {
  const { memory, from, length } = window;
  if (from + length + bytes > memory.length) {
    memory.copyWithin(0, from, from + length);
    window.from = 0;
  }
  return memory.subarray(window.from + length);
}

const filled = ({ memory, from, length }: Window): readonly Uint8Array[] => [memory.subarray(from, from + length)];
