// The FileStore in front of any MongoDB server, over a driver. Nothing of what a foreign server promises is taken for granted: no transactions are
// used, a file document comes last and goes first, and a crash in between leaves chunks that a marker names (remote-upload.ts).

import { createHash } from 'node:crypto';
import type { Hash } from 'node:crypto';
import { CommandError } from '../base/errors.ts';
import { DateTime, Document, ObjectId, ObjectIdGenerator } from '../bson/index.ts';
import type { ObjectIdSources } from '../bson/index.ts';
import { namespaceOf } from '../catalog/index.ts';
import { ChunkedUpload } from './chunked-upload.ts';
import type { BegunUpload } from './chunked-upload.ts';
import { readChunk } from './chunk-document.ts';
import { DigestCache } from './digest-cache.ts';
import { changedDocument, readChange } from './file-change.ts';
import { ChunkTally } from './file-check.ts';
import { FileError } from './file-error.ts';
import { FileId } from './file-id.ts';
import type { FileBucket, FileChange, FileCheck, FilePage, FileQuery, FileReader, FileStore, FileUpload, NewFile, ResumableState, ResumedUpload, ResumeRequest, StoredFile } from './file-store.ts';
import { checkNewFile } from './new-file.ts';
import { connectRemote } from './remote.ts';
import type { RemoteDriver, RemoteOptions } from './remote-driver.ts';
import { chunkFilter, RemoteReader } from './remote-reader.ts';
import { countRevisions, equal, findById, findRevision, listFiles } from './remote-search.ts';
import { removeChunks, removeUpload, RemoteUpload } from './remote-upload.ts';
import type { RemoteUploadParts } from './remote-upload.ts';
import { readFileDocument } from './stored-file.ts';
import { readUploadDocument, uploadDocument } from './upload-document.ts';

/** An upload that is sent in one piece is given up when nothing came of it for so long. */
const plainKeptMs = 3_600_000;

interface Parts {
  readonly driver: RemoteDriver;
  readonly clock: { nowMs(): number };
  readonly ids: { next(): ObjectId };
  readonly digests: DigestCache;
  /** Databases whose buckets were asked for: there markers of given-up uploads are looked for. */
  readonly databases: Set<string>;
}

/** Connects to the server of a MongoDB connection string. FileError `unavailable`, CommandError. */
export async function openRemoteStore(uri: string, sources: ObjectIdSources, options: RemoteOptions): Promise<FileStore> {
  const driver = await connectRemote(uri, options);
  return new RemoteStore({ driver, clock: sources.clock, ids: new ObjectIdGenerator(sources), digests: new DigestCache(), databases: new Set() });
}

class RemoteStore implements FileStore {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  bucket(db: string, name: string): FileBucket {
    try {
      const bucket = bucketOf(db, name);
      this.#parts.databases.add(db);
      return new RemoteBucket(this.#parts, bucket);
    } catch (error) {
      if (error instanceof CommandError) throw new FileError('bad-name', error.message, { cause: error });
      throw error;
    }
  }

  ping(): Promise<void> {
    return this.#parts.driver.ping();
  }

  async removeExpired(): Promise<number> {
    const { driver, clock, databases } = this.#parts;
    let removed = 0;
    for (const db of databases) {
      for (const collection of await driver.collections(db)) {
        if (!collection.endsWith('.uploads')) continue;
        const bucket = bucketOf(db, collection.slice(0, -'.uploads'.length));
        for (const document of await driver.all(bucket.uploads, { filter: Document.of({ expires: Document.of({ $lte: new DateTime(clock.nowMs()) }) }) })) {
          if (await removeUpload(driver, bucket, document.get('_id') ?? null)) removed += 1;
        }
      }
    }
    return removed;
  }

  close(): Promise<void> {
    return this.#parts.driver.close();
  }
}

type Bucket = RemoteUploadParts['bucket'];

function bucketOf(db: string, name: string): Bucket {
  return { files: namespaceOf(db, `${name}.files`), chunks: namespaceOf(db, `${name}.chunks`), uploads: namespaceOf(db, `${name}.uploads`) };
}

class RemoteBucket implements FileBucket {
  readonly db: string;
  readonly name: string;
  readonly #parts: Parts;
  readonly #bucket: Bucket;

  constructor(parts: Parts, bucket: Bucket) {
    this.#parts = parts;
    this.#bucket = bucket;
    this.db = bucket.files.db;
    this.name = bucket.files.collection.slice(0, -'.files'.length);
  }

  get #driver(): RemoteDriver {
    return this.#parts.driver;
  }

  async byId(id: FileId): Promise<StoredFile | undefined> {
    const document = await findById(this.#driver, this.#bucket.files, id.value);
    return document === undefined ? undefined : readFileDocument(document);
  }

  byName(filename: string, revision: number): Promise<StoredFile | undefined> {
    return findRevision(this.#driver, this.#bucket.files, filename, revision);
  }

  revisions(filename: string): Promise<number> {
    return countRevisions(this.#driver, this.#bucket.files, filename);
  }

  list(query: FileQuery): Promise<FilePage> {
    return listFiles(this.#driver, this.#bucket.files, query);
  }

  open(file: StoredFile): FileReader {
    return new RemoteReader(this.#driver, this.#bucket, file);
  }

  async check(file: StoredFile): Promise<FileCheck> {
    const tally = new ChunkTally(file);
    for await (const document of this.#driver.walk(this.#bucket.chunks, { filter: equal('files_id', file.id.value), sort: [['n', 1]] })) tally.add(readChunk(document.bytes, document.start));
    return tally.finish();
  }

  async create(request: NewFile): Promise<FileUpload> {
    const chunkSize = await this.#prepare(request);
    const { ids, clock } = this.#parts;
    const id = FileId.of(ids.next());
    const marker = uploadDocument(id.value, { ...request, chunkSize }, { length: undefined, expiresMs: clock.nowMs() + plainKeptMs }, {});
    const storage = this.#storage(id, marker, { isMarked: false, keptMs: plainKeptMs, claims: request.onlyIfAbsent ? request.filename : undefined });
    return new ChunkedUpload({ id, ids, clock, request, chunkSize, storage });
  }

  #storage(id: FileId, marker: Document, choices: Pick<RemoteUploadParts, 'isMarked' | 'keptMs' | 'claims'>): RemoteUpload {
    return new RemoteUpload({ driver: this.#driver, clock: this.#parts.clock, bucket: this.#bucket, id: id.value, marker, ...choices });
  }

  /** Checks what is asked of a new file, and makes the indexes before the first one, as drivers do; its chunk size. */
  async #prepare(request: NewFile): Promise<number> {
    const chunkSize = checkNewFile(request);
    const { filename, onlyIfAbsent } = request;
    if (onlyIfAbsent && (await this.byName(filename, -1)) !== undefined) throw new FileError('exists', `there is a file named ${filename}`);
    if ((await this.#driver.all(this.#bucket.files, { filter: Document.empty, limit: 1 })).length === 0) {
      await this.#driver.createIndex(this.#bucket.files, ['filename', 'uploadDate'], {});
      await this.#driver.createIndex(this.#bucket.chunks, ['files_id', 'n'], { unique: true });
    }
    return chunkSize;
  }

  async createResumable(request: NewFile, plan: ResumeRequest): Promise<ResumableState> {
    const chunkSize = await this.#prepare(request);
    const document = uploadDocument(this.#parts.ids.next(), { ...request, chunkSize }, plan, { resumable: true });
    await this.#driver.insert(this.#bucket.uploads, [document]);
    return readUploadDocument(document);
  }

  async #findUpload(id: FileId): Promise<Document | undefined> {
    const found = await findById(this.#driver, this.#bucket.uploads, id.value);
    return found?.get('resumable') === true && readUploadDocument(found).expiresMs > this.#parts.clock.nowMs() ? found : undefined;
  }

  async resumable(id: FileId): Promise<ResumableState | undefined> {
    const document = await this.#findUpload(id);
    return document === undefined ? undefined : readUploadDocument(document);
  }

  async resume(id: FileId, request: ResumeRequest): Promise<ResumedUpload | undefined> {
    const document = await this.#findUpload(id);
    if (document === undefined) return undefined;
    const { ids, clock, digests } = this.#parts;
    const state = readUploadDocument(document);
    const length = request.length ?? state.length;
    const marker = Document.fromEntries(document.fields.map(([name, value]) => [name, name === 'length' && length !== undefined ? BigInt(length) : value]));
    await removeChunks(this.#driver, this.#bucket, id.value, state.offset === 0 ? 0 : Math.ceil(state.offset / state.chunkSize));
    const begun = await this.#begun(state, digests.find(id.text, state.offset));
    const storage = this.#storage(id, marker, { isMarked: true, keptMs: request.expiresMs - clock.nowMs(), claims: document.get('onlyIfAbsent') === true ? state.filename : undefined });
    await storage.commit([], state.offset);
    return new ChunkedUpload({ id, ids, clock, request: state, chunkSize: state.chunkSize, storage, begun, onSuspend: (at, hash) => digests.keep(id.text, at, hash) });
  }

  /** Reads the last chunk if it is not full, and all before it where their digest is not known. */
  async #begun({ id, offset, chunkSize }: ResumableState, known: Hash | undefined): Promise<BegunUpload> {
    const full = Math.floor(offset / chunkSize);
    const tailBytes = offset % chunkSize;
    const hash = known ?? createHash('sha256');
    let n = known === undefined ? 0 : full;
    const last = tailBytes > 0 ? full : full - 1;
    let tail: BegunUpload['tail'];
    for await (const document of this.#driver.walk(this.#bucket.chunks, { filter: chunkFilter(id.value, n, last), sort: [['n', 1]] })) {
      const { n: number, data } = readChunk(document.bytes, document.start);
      const wanted = n === full ? tailBytes : chunkSize;
      const chunkId = document.get('_id');
      if (number !== n || data === undefined || data.length < wanted || !(chunkId instanceof ObjectId)) break;
      const bytes = data.subarray(0, wanted);
      if (known === undefined) hash.update(bytes);
      if (n === full) tail = { id: chunkId, bytes: bytes.slice() };
      n += 1;
    }
    if (n <= last) throw new FileError('corrupt', `chunk ${n} of an upload is missing`, { place: { id: id.text, n } });
    return { length: offset, hash, tail };
  }

  async removeResumable(id: FileId): Promise<boolean> {
    if ((await this.#findUpload(id)) === undefined) return false;
    this.#parts.digests.forget(id.text);
    return await removeUpload(this.#driver, this.#bucket, id.value);
  }

  async change(id: FileId, change: FileChange): Promise<StoredFile | undefined> {
    const wanted = readChange(change);
    const before = await findById(this.#driver, this.#bucket.files, id.value);
    if (before === undefined) return undefined;
    const after = changedDocument(before, wanted);
    return (await this.#driver.replace(this.#bucket.files, after)) ? readFileDocument(after) : undefined;
  }

  /** The marker that says which chunks are to go is there before the file document goes. */
  async remove(id: FileId): Promise<boolean> {
    const { driver, clock } = this.#parts;
    if ((await findById(driver, this.#bucket.files, id.value)) === undefined) return false;
    const request = { filename: '', contentType: undefined, metadata: new Map<string, string>(), chunkSize: undefined, onlyIfAbsent: false };
    await driver.put(this.#bucket.uploads, uploadDocument(id.value, request, { length: undefined, expiresMs: clock.nowMs() }, {}));
    const removed = await driver.remove(this.#bucket.files, equal('_id', id.value));
    await removeUpload(driver, this.#bucket, id.value);
    return removed > 0;
  }
}
