// Where the bytes of an upload go. One upload knows how bytes become chunks and what they digest to (chunked-upload.ts); what it takes to keep them, and
// to forget them, is the store's: one transaction here, several writes in the right order elsewhere.

import type { Document } from '../bson/index.ts';
import type { Namespace } from '../catalog/index.ts';
import type { ChunkBuffer } from './chunk-document.ts';

/** The collections of a bucket. */
export interface BucketNamespaces {
  readonly files: Namespace;
  readonly chunks: Namespace;
}

/** Keeps the chunks of one upload. Calls come one after the other. */
export interface UploadStorage {
  /** Makes chunks durable. `length`: bytes of the file with them. Their memory is the caller's again when it resolves. */
  commit(chunks: readonly ChunkBuffer[], length: number): Promise<void>;
  /** Makes the last chunks and the file document durable: from then on the file is listed. */
  finish(chunks: readonly ChunkBuffer[], document: Document): Promise<void>;
  /** Takes back what was kept beyond `length` bytes; `tail` is the chunk that these end in, where they end in the middle of one. */
  rewind(tail: ChunkBuffer | undefined, length: number): Promise<void>;
  /** Deletes all that was kept. */
  abort(): Promise<void>;
}
