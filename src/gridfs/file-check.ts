// Walks all chunks of one file and says what is there, what is not, and what the bytes add up to: the honest answer to a corrupt file.
// One chunk is in memory at a time; the walk sees one state of the bucket.

import { createHash } from 'node:crypto';
import type { CatalogTransaction, Collection } from '../catalog/index.ts';
import { readChunk } from './chunk-document.ts';
import type { RawChunk } from './chunk-document.ts';
import { chunkKeys } from './chunk-places.ts';
import { expectedBytes } from './chunk-reader.ts';
import type { FileCheck, StoredFile } from './file-store.ts';

const namedMax = 100;

/** The walk. `collection` undefined: the bucket has no chunks at all. */
export async function checkFile(txn: CatalogTransaction, collection: Collection | undefined, file: StoredFile): Promise<FileCheck> {
  const tally = new ChunkTally(file);
  if (collection !== undefined) {
    for await (const key of chunkKeys(txn, collection, file.id.value)) {
      const document = await collection.peek(txn, key);
      if (document !== undefined) tally.add(readChunk(document, 0));
    }
  }
  return tally.finish();
}

/** Counts chunks that come in order of their numbers. */
export class ChunkTally {
  readonly #file: StoredFile;
  readonly #hash = createHash('sha256');
  readonly #missing: number[] = [];
  readonly #extra: number[] = [];
  readonly #wrongLength: number[] = [];
  #next = 0;
  #found = 0;
  #bytes = 0;
  #sound = true;

  constructor(file: StoredFile) {
    this.#file = file;
  }

  add({ n, data }: RawChunk): void {
    this.#found += 1;
    this.#bytes += data?.length ?? 0;
    if (!Number.isInteger(n) || n < this.#next || n >= this.#file.chunkCount) {
      // Some drivers store one empty chunk for an empty file.
      if (!(this.#file.length === 0 && n === 0 && data?.length === 0)) this.#note(this.#extra, n);
      return;
    }
    this.#skipTo(n);
    this.#next = n + 1;
    if (data?.length !== expectedBytes(this.#file, n)) this.#note(this.#wrongLength, n);
    else if (this.#sound) this.#hash.update(data);
  }

  #skipTo(n: number): void {
    for (let missing = this.#next; missing < n && this.#missing.length < namedMax; missing++) this.#note(this.#missing, missing);
    if (this.#next < n) this.#sound = false;
  }

  #note(list: number[], n: number): void {
    this.#sound = false;
    if (list.length < namedMax) list.push(n);
  }

  finish(): FileCheck {
    const { chunkCount, fault, sha256 } = this.#file;
    this.#skipTo(chunkCount);
    const digest = this.#hash.digest('hex');
    const sound = this.#sound && fault === undefined;
    return {
      sound: sound && (sha256 === undefined || sha256 === digest),
      chunksExpected: chunkCount,
      chunksFound: this.#found,
      bytesFound: this.#bytes,
      missing: this.#missing,
      extra: this.#extra,
      wrongLength: this.#wrongLength,
      sha256: digest,
      sha256Agrees: sha256 === undefined ? undefined : sound && sha256 === digest,
      fault,
    };
  }
}
