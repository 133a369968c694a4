// Where uploads into a bucket of another server are kept: chunks first, the file document last, as the drivers' specification wants, and with the
// durability that the connection string asks for. Before the first chunk a document in `NAME.uploads` says that an upload is under way; it goes with the
// end. What a gateway leaves when it is killed is found by it when its time is over.

import { Document } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';
import type { ChunkBuffer } from './chunk-document.ts';
import { FileError } from './file-error.ts';
import type { RemoteDriver } from './remote-driver.ts';
import { equal, findById, findRevision } from './remote-search.ts';
import { movedOn } from './upload-document.ts';
import type { BucketNamespaces, UploadStorage } from './upload-storage.ts';
import { CommandError } from '../base/errors.ts';

/** What the storage of an upload is made of. */
export interface RemoteUploadParts {
  readonly driver: RemoteDriver;
  readonly clock: { nowMs(): number };
  readonly bucket: BucketNamespaces & { readonly uploads: BucketNamespaces['files'] };
  readonly id: Value;
  /** The document that says that this upload is under way; expired ones are removed with their chunks. */
  readonly marker: Document;
  /** Whether the marker is there already. */
  readonly isMarked: boolean;
  /** How long the marker holds from now on. */
  readonly keptMs: number;
  /** The name, where it must be new. */
  readonly claims: string | undefined;
}

/** Keeps one upload, resumable or not. */
export class RemoteUpload implements UploadStorage {
  readonly #parts: RemoteUploadParts;
  #marker: Document;
  #isMarked: boolean;
  #isFirst = true;

  constructor(parts: RemoteUploadParts) {
    this.#parts = parts;
    this.#marker = parts.marker;
    this.#isMarked = parts.isMarked;
  }

  async commit(chunks: readonly ChunkBuffer[], length: number): Promise<void> {
    if (!this.#isMarked) {
      await this.#parts.driver.insert(this.#parts.bucket.uploads, [this.#marker]);
      this.#isMarked = true;
    }
    await this.#put(chunks);
    await this.#move(length);
  }

  /** Says how far the upload is, and that it goes on. */
  async #move(offset: number): Promise<void> {
    const { driver, bucket, clock, keptMs } = this.#parts;
    this.#marker = movedOn(this.#marker, { offset, expiresMs: clock.nowMs() + keptMs });
    if (!(await driver.replace(bucket.uploads, this.#marker))) throw new FileError('gone', 'the upload is not here any more');
  }

  /** The first chunk may be there already, with fewer bytes. */
  async #put(chunks: readonly ChunkBuffer[]): Promise<void> {
    const { driver, bucket } = this.#parts;
    const [first, ...others] = chunks.map((chunk) => chunk.document());
    if (first === undefined) return;
    await (this.#isFirst && this.#parts.isMarked ? driver.put(bucket.chunks, first) : driver.insert(bucket.chunks, [first]));
    this.#isFirst = false;
    await driver.insert(bucket.chunks, others);
  }

  async finish(chunks: readonly ChunkBuffer[], document: Document): Promise<void> {
    const { driver, bucket, claims } = this.#parts;
    const keep = async (): Promise<void> => {
      await this.#put(chunks);
      await driver.insert(bucket.files, [document]);
    };
    await (claims === undefined ? keep() : this.#claim(claims, keep));
    if (this.#isMarked) await driver.remove(bucket.uploads, equal('_id', this.#parts.id));
  }

  /** Lets one upload of a name that must be new finish at a time, and only if there is no file of it. */
  async #claim(filename: string, finish: () => Promise<void>): Promise<void> {
    const { driver, bucket, clock } = this.#parts;
    const claim = movedOn(Document.of({ _id: Document.of({ name: filename }) }), { expiresMs: clock.nowMs() + 60_000 });
    const taken = new FileError('exists', `there is a file named ${filename}`);
    try {
      await driver.insert(bucket.uploads, [claim]);
    } catch (error) {
      // 11000: another one is just being finished.
      if (error instanceof CommandError && error.code === 11000) throw taken;
      throw error;
    }
    try {
      if ((await findRevision(driver, bucket.files, filename, -1)) !== undefined) throw taken;
      await finish();
    } finally {
      await driver.remove(bucket.uploads, equal('_id', Document.of({ name: filename })));
    }
  }

  async rewind(tail: ChunkBuffer | undefined, length: number): Promise<void> {
    const { driver, bucket, id } = this.#parts;
    await this.#move(length);
    if (tail !== undefined) await driver.put(bucket.chunks, tail.document());
    await removeChunks(driver, bucket, id, (tail?.n ?? -1) + 1);
  }

  async abort(): Promise<void> {
    const { driver, bucket, id } = this.#parts;
    await removeUpload(driver, bucket, id);
  }
}

/** Removes the chunks of a file from number `first` on; all of them, whatever their numbers are, with 0. */
export async function removeChunks(driver: RemoteDriver, { chunks }: BucketNamespaces, id: Value, first = 0): Promise<void> {
  const whose = { files_id: Document.of({ $eq: id }) };
  await driver.remove(chunks, first === 0 ? Document.of(whose) : Document.of({ ...whose, n: Document.of({ $gte: first }) }));
}

/** Removes what is there of an upload, then what says that it is. Chunks of a file that is listed are never touched. */
export async function removeUpload(driver: RemoteDriver, bucket: RemoteUploadParts['bucket'], id: Value): Promise<boolean> {
  if ((await findById(driver, bucket.files, id)) === undefined) await removeChunks(driver, bucket, id);
  return (await driver.remove(bucket.uploads, equal('_id', id))) > 0;
}
