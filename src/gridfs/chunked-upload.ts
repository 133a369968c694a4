// One upload: bytes are laid down as chunks as they come, digested, and handed to the storage a megabyte at a time while more come. The file document
// is made at the end, from what really came. An upload that can be resumed begins in the middle: with the bytes before, their digest, and the
// part of a chunk that they end in.

import { createHash } from 'node:crypto';
import type { Hash } from 'node:crypto';
import { DateTime, Document } from '../bson/index.ts';
import type { ObjectId, Value } from '../bson/index.ts';
import { ChunkBuffer, chunkMemory } from './chunk-document.ts';
import { FileError } from './file-error.ts';
import type { FileId } from './file-id.ts';
import type { NewFile, ResumedUpload, StoredFile } from './file-store.ts';
import type { Soon } from '../catalog/index.ts';
import { readFileDocument } from './stored-file.ts';
import type { UploadStorage } from './upload-storage.ts';

/** What an upload is made of. */
export interface UploadPlan {
  readonly id: FileId;
  readonly ids: { next(): ObjectId };
  readonly clock: { nowMs(): number };
  readonly request: Pick<NewFile, 'filename' | 'contentType' | 'metadata'>;
  readonly chunkSize: number;
  readonly storage: UploadStorage;
  /** Of an upload that is gone on with. */
  readonly begun?: BegunUpload;
  /** Told where the upload stands when it is left, so that it can be gone on with without reading it all. */
  readonly onSuspend?: (length: number, hash: Hash) => void;
}

/** What is there of an upload that is gone on with. */
export interface BegunUpload {
  readonly length: number;
  readonly hash: Hash;
  /** The last chunk, where it is not full. */
  readonly tail: { readonly id: ObjectId; readonly bytes: Uint8Array } | undefined;
}

/** Bytes of full chunks that are committed together. */
const commitBytes = 1024 * 1024;

/** The one FileUpload, over any storage. */
export class ChunkedUpload implements ResumedUpload {
  readonly id: FileId;
  readonly offset: number;
  readonly #plan: UploadPlan;
  readonly #hash: Hash;
  #full: ChunkBuffer[] = [];
  readonly #spare: Uint8Array[] = [];
  #filling: ChunkBuffer | undefined;
  #length: number;
  #count: number;
  #state: 'open' | 'ended' = 'open';
  /** The commit under way, or one that failed; undefined: those before are through. */
  #committing: Promise<void> | undefined;

  constructor(plan: UploadPlan) {
    const { begun, chunkSize } = plan;
    this.#plan = plan;
    this.id = plan.id;
    this.#hash = begun?.hash.copy() ?? createHash('sha256');
    this.offset = begun?.length ?? 0;
    this.#length = this.offset;
    this.#count = Math.floor(this.offset / chunkSize);
    this.#filling = this.#beginning();
  }

  /** The chunk that the upload begins in the middle of. */
  #beginning(): ChunkBuffer | undefined {
    const tail = this.#plan.begun?.tail;
    if (tail === undefined) return undefined;
    const chunk = this.#nextChunk(tail.id);
    chunk.fill(tail.bytes, 0);
    return chunk;
  }

  write(bytes: Uint8Array): Soon<void> {
    this.#checkOpen();
    this.#hash.update(bytes);
    this.#length += bytes.length;
    return this.#lay(bytes, 0);
  }

  /** Lays down bytes from `offset` on; it waits only where a commit is full while the one before is under way. */
  #lay(bytes: Uint8Array, offset: number): Soon<void> {
    for (let at = offset; at < bytes.length; ) {
      this.#filling ??= this.#nextChunk(this.#plan.ids.next());
      at = this.#filling.fill(bytes, at);
      if (!this.#filling.isFull) continue;
      this.#full.push(this.#filling);
      this.#filling = undefined;
      if (this.#full.length * this.#plan.chunkSize < commitBytes) continue;
      const before = this.#committing;
      if (before !== undefined) return before.then(() => this.#commitFull()).then(() => this.#lay(bytes, at));
      this.#commitFull();
    }
    return undefined;
  }

  #nextChunk(id: ObjectId): ChunkBuffer {
    const capacity = this.#plan.chunkSize;
    const memory = this.#spare.pop() ?? chunkMemory(capacity);
    return new ChunkBuffer({ id, file: this.id.value }, this.#count++, { capacity, memory });
  }

  /** Begins a commit when the one before is through, and lets it run while more bytes come: at most two commits' worth is in memory. */
  #commitFull(): void {
    const chunks = this.#full;
    this.#full = [];
    const committing = this.#commit(chunks, this.#count * this.#plan.chunkSize);
    this.#committing = committing;
    // Whoever waits for it next is told of a failure; until then nobody listens.
    committing.catch(() => undefined);
  }

  async #commit(chunks: readonly ChunkBuffer[], length: number): Promise<void> {
    await this.#plan.storage.commit(chunks, length);
    // The storage has copied them: the next chunks are laid down in the same memory.
    for (const { memory } of chunks) this.#spare.push(memory);
    this.#committing = undefined;
  }

  /** What was not handed to the storage yet. */
  #rest(): readonly ChunkBuffer[] {
    return this.#filling === undefined ? this.#full : [...this.#full, this.#filling];
  }

  async finish(expected?: string): Promise<StoredFile> {
    this.#checkOpen();
    await this.#committing;
    const sha256 = this.#hash.copy().digest('hex');
    if (expected !== undefined && expected !== sha256) throw new FileError('digest-mismatch', `the bytes have the SHA-256 ${sha256}, not ${expected}`);
    const document = this.#document(sha256);
    await this.#plan.storage.finish(this.#rest(), document);
    this.#end();
    return readFileDocument(document);
  }

  #document(sha256: string): Document {
    const { request, chunkSize, clock } = this.#plan;
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

  async suspend(): Promise<number> {
    this.#checkOpen();
    await this.#committing;
    const rest = this.#rest();
    if (rest.length > 0) await this.#plan.storage.commit(rest, this.#length);
    this.#plan.onSuspend?.(this.#length, this.#hash);
    this.#end();
    return this.#length;
  }

  async rewind(): Promise<void> {
    this.#checkOpen();
    // A commit that failed has kept nothing.
    await this.#committing?.catch(() => undefined);
    this.#count = Math.floor(this.offset / this.#plan.chunkSize);
    await this.#plan.storage.rewind(this.#beginning(), this.offset);
    this.#end();
  }

  async abort(): Promise<void> {
    if (this.#state === 'ended') return;
    this.#end();
    await this.#committing?.catch(() => undefined);
    await this.#plan.storage.abort();
  }

  #end(): void {
    this.#state = 'ended';
    this.#full = [];
    this.#spare.length = 0;
    this.#filling = undefined;
  }

  #checkOpen(): void {
    if (this.#state === 'ended') throw new FileError('ended', 'the upload has ended', { place: { id: this.id.text } });
  }
}
