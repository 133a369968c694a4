// The FileStore over this server's own catalog: no protocol, no driver and no BSON decoding between a chunk and its reader.

import { ObjectIdGenerator, Document } from '../bson/index.ts';
import type { ObjectId, ObjectIdSources, Value } from '../bson/index.ts';
import { CommandError, EngineError } from '../base/errors.ts';
import { namespaceOf } from '../catalog/index.ts';
import type { Catalog, CatalogTransaction, Collection, Namespace, Soon } from '../catalog/index.ts';
import { chunkIndex } from './chunk-places.ts';
import { BucketMemory, ChunkReader } from './chunk-reader.ts';
import type { ReadBucket } from './chunk-reader.ts';
import { ChunkedUpload } from './chunked-upload.ts';
import { DigestCache } from './digest-cache.ts';
import { EmbeddedResumables } from './embedded-resumable.ts';
import { EmbeddedUpload } from './embedded-upload.ts';
import { FileError } from './file-error.ts';
import { changedDocument, readChange } from './file-change.ts';
import { checkFile } from './file-check.ts';
import { FileId } from './file-id.ts';
import { FileSearch, nameIndex } from './file-search.ts';
import { checkNewFile } from './new-file.ts';
import type { FileBucket, FileChange, FileCheck, FilePage, FileQuery, FileReader, FileStore, FileUpload, NewFile, ResumableState, ResumedUpload, ResumeRequest, StoredFile } from './file-store.ts';
import { Leftovers, removeDocument } from './leftovers.ts';
import { stateOf } from './remembered.ts';
import { readFileDocument } from './stored-file.ts';
import type { BucketNamespaces } from './upload-storage.ts';

interface StoreParts {
  readonly catalog: Catalog;
  readonly clock: { nowMs(): number };
  readonly ids: { next(): ObjectId };
  readonly leftovers: Leftovers;
  readonly digests: DigestCache;
  readonly resumables: EmbeddedResumables;
}

/** Opens the store and begins, in the background, to delete what a crash left; `close` waits for that. Nothing of the catalog is closed. */
export async function openFileStore(catalog: Catalog, sources: ObjectIdSources): Promise<FileStore> {
  const { clock } = sources;
  const leftovers = new Leftovers(catalog, clock);
  await leftovers.open();
  const ids = new ObjectIdGenerator(sources);
  const digests = new DigestCache();
  const resumables = new EmbeddedResumables({ catalog, leftovers, ids, digests, clock });
  return new EmbeddedStore({ catalog, clock, ids, leftovers, digests, resumables }, leftovers.sweep());
}

/** Buckets that are kept ready, each with what it remembers. */
const bucketsMax = 32;

class EmbeddedStore implements FileStore {
  readonly #buckets: Map<string, EmbeddedBucket> = new Map();
  readonly #parts: StoreParts;
  readonly #sweeping: Promise<void>;

  constructor(parts: StoreParts, sweeping: Promise<void>) {
    this.#parts = parts;
    // What it did not get done, the next start does.
    this.#sweeping = sweeping.catch((error: unknown) => {
      if (!(error instanceof EngineError || error instanceof CommandError)) throw error;
    });
  }

  bucket(db: string, name: string): FileBucket {
    const text = `${db}\0${name}`;
    const known = this.#buckets.get(text);
    if (known !== undefined) return known;
    try {
      const bucket = new EmbeddedBucket(this.#parts, namespaceOf(db, `${name}.files`), namespaceOf(db, `${name}.chunks`));
      if (this.#buckets.size >= bucketsMax) this.#buckets.clear();
      this.#buckets.set(text, bucket);
      return bucket;
    } catch (error) {
      if (error instanceof CommandError) throw new FileError('bad-name', error.message, { cause: error });
      throw error;
    }
  }

  async ping(): Promise<void> {
    const txn = this.#parts.catalog.begin('read');
    try {
      await this.#parts.catalog.databases(txn);
    } finally {
      txn.abort();
    }
  }

  removeExpired(): Promise<number> {
    return this.#parts.resumables.removeExpired();
  }

  async close(): Promise<void> {
    await this.#sweeping;
  }
}

class EmbeddedBucket implements FileBucket {
  readonly db: string;
  readonly name: string;
  readonly #parts: StoreParts;
  readonly #files: Namespace;
  readonly #chunks: Namespace;
  readonly #memory: BucketMemory = new BucketMemory();
  readonly #read: ReadBucket;

  constructor(parts: StoreParts, files: Namespace, chunks: Namespace) {
    this.#parts = parts;
    this.#files = files;
    this.#chunks = chunks;
    this.#read = { files, chunks, memory: this.#memory };
    this.db = files.db;
    this.name = files.collection.slice(0, -'.files'.length);
  }

  byId(id: FileId): Soon<StoredFile | undefined> {
    return this.#find(`id ${id.text}`, (search) => search.byId(id.value));
  }

  byName(filename: string, revision: number): Soon<StoredFile | undefined> {
    return this.#find(`name ${revision} ${filename}`, (search) => search.revision(filename, revision));
  }

  /** What is remembered under the key, if that is still so; else what the search finds. */
  #find(key: string, find: (search: FileSearch) => Promise<StoredFile | undefined>): Soon<StoredFile | undefined> {
    const txn = this.#parts.catalog.begin('read');
    const collection = this.#parts.catalog.collection(txn, this.#files);
    const state = collection instanceof Promise ? undefined : stateOf(txn, collection);
    const known = state === undefined ? undefined : this.#memory.files.find(state, key);
    if (known === undefined) return this.#findIn(txn, collection, { key, find });
    txn.abort();
    return known;
  }

  async #findIn(txn: CatalogTransaction, given: Soon<Collection | undefined>, { key, find }: { readonly key: string; readonly find: (search: FileSearch) => Promise<StoredFile | undefined> }): Promise<StoredFile | undefined> {
    try {
      const collection = await given;
      if (collection === undefined) return undefined;
      const file = await find(new FileSearch(txn, collection));
      const state = stateOf(txn, collection);
      if (file !== undefined && state !== undefined) {
        this.#memory.files.keep(state, key, file);
        this.#memory.files.keep(state, `id ${file.id.text}`, file);
      }
      return file;
    } finally {
      txn.abort();
    }
  }

  revisions(filename: string): Promise<number> {
    return this.#search((search) => search.countRevisions(filename), 0);
  }

  list(query: FileQuery): Promise<FilePage> {
    return this.#search((search) => search.list(query), { files: [], next: undefined });
  }

  async #search<T>(find: (search: FileSearch) => Promise<T>, absent: T): Promise<T> {
    return await this.#reading(async (txn) => {
      const collection = await this.#parts.catalog.collection(txn, this.#files);
      return collection === undefined ? absent : await find(new FileSearch(txn, collection));
    });
  }

  async #reading<T>(read: (txn: CatalogTransaction) => Promise<T>): Promise<T> {
    const txn = this.#parts.catalog.begin('read');
    try {
      return await read(txn);
    } finally {
      txn.abort();
    }
  }

  open(file: StoredFile): FileReader {
    return new ChunkReader(this.#parts.catalog, this.#read, file);
  }

  check(file: StoredFile): Promise<FileCheck> {
    return this.#reading(async (txn) => await checkFile(txn, await this.#parts.catalog.collection(txn, this.#chunks), file));
  }

  /** Checks what is asked of a new file; its chunk size. */
  async #prepare(request: NewFile): Promise<number> {
    const { filename, onlyIfAbsent } = request;
    const chunkSize = checkNewFile(request);
    if (onlyIfAbsent && (await this.byName(filename, -1)) !== undefined) throw exists(filename);
    await this.#ensureIndexes();
    return chunkSize;
  }

  async create(request: NewFile): Promise<FileUpload> {
    const chunkSize = await this.#prepare(request);
    const { ids, clock } = this.#parts;
    const id = FileId.of(ids.next());
    const storage = new EmbeddedUpload({ ...this.#parts, ...this.#namespaces, id: id.value, markerId: ids.next(), beforeFinish: this.#claiming(request) });
    return new ChunkedUpload({ id, ids, clock, request, chunkSize, storage });
  }

  get #namespaces(): BucketNamespaces {
    return { files: this.#files, chunks: this.#chunks };
  }

  #claiming({ filename, onlyIfAbsent }: Pick<NewFile, 'filename' | 'onlyIfAbsent'>): (txn: CatalogTransaction) => Promise<void> {
    return async (txn) => {
      if (onlyIfAbsent) await this.#claimName(txn, filename);
    };
  }

  async createResumable(request: NewFile, plan: ResumeRequest): Promise<ResumableState> {
    await this.#prepare(request);
    return await this.#parts.resumables.create(this.#namespaces, request, plan);
  }

  async resumable(id: FileId): Promise<ResumableState | undefined> {
    return (await this.#parts.resumables.find(this.#namespaces, id))?.state;
  }

  async resume(id: FileId, request: ResumeRequest): Promise<ResumedUpload | undefined> {
    const { ids, clock, resumables, digests } = this.#parts;
    const found = await resumables.find(this.#namespaces, id);
    if (found === undefined) return undefined;
    const { state, onlyIfAbsent } = found;
    const { begun, storage } = await resumables.begin(this.#namespaces, state, { ...request, beforeFinish: this.#claiming({ filename: state.filename, onlyIfAbsent }) });
    return new ChunkedUpload({ id, ids, clock, request: state, chunkSize: state.chunkSize, storage, begun, onSuspend: (length, hash) => digests.keep(id.text, length, hash) });
  }

  removeResumable(id: FileId): Promise<boolean> {
    return this.#parts.resumables.remove(this.#namespaces, id);
  }

  /** As drivers do: before the first file. A bucket that has files keeps the indexes it has. */
  async #ensureIndexes(): Promise<void> {
    const { catalog } = this.#parts;
    const wanting = await this.#reading(async (txn) => {
      const files = await catalog.collection(txn, this.#files);
      const chunks = await catalog.collection(txn, this.#chunks);
      if (files !== undefined && files.totals(txn).rows > 0) return { files: false, chunks: false };
      return { files: !has(files, nameIndex), chunks: !has(chunks, chunkIndex) };
    });
    if (wanting.files) await catalog.createIndexes(this.#files, [indexSpec(['filename', 'uploadDate'], {})]);
    if (wanting.chunks) await catalog.createIndexes(this.#chunks, [indexSpec(['files_id', 'n'], { unique: true })]);
  }

  /**
   * Lets one upload of a name that must be new finish at a time, and only if there is no file of it. The lock is on a key that no document has;
   * what the one before it committed is seen because the look is taken in a snapshot made under the lock.
   */
  async #claimName(txn: CatalogTransaction, filename: string): Promise<void> {
    const collection = await this.#parts.catalog.ensureCollection(txn, this.#files);
    await collection.lock(txn, collection.keyOf(Document.of({ claimedName: filename })));
    if ((await this.byName(filename, -1)) !== undefined) throw exists(filename);
  }

  async change(id: FileId, change: FileChange): Promise<StoredFile | undefined> {
    const wanted = readChange(change);
    return await this.#parts.catalog.run(async (txn) => {
      const collection = await this.#parts.catalog.collection(txn, this.#files);
      if (collection === undefined) return undefined;
      const key = collection.keyOf(id.value);
      await collection.lock(txn, key);
      const before = await collection.getLatest(txn, key);
      if (before === undefined) return undefined;
      const after = changedDocument(before, wanted);
      await collection.update(txn, key, { before, after });
      return readFileDocument(after);
    });
  }

  async remove(id: FileId): Promise<boolean> {
    const { catalog, ids, leftovers } = this.#parts;
    const markerId = ids.next();
    const file = { files: this.#files, chunks: this.#chunks, id: id.value };
    const removed = await catalog.run(async (txn) => {
      const collection = await catalog.collection(txn, this.#files);
      if (collection === undefined || !(await removeDocument(txn, collection, collection.keyOf(id.value)))) return false;
      await leftovers.mark(txn, file, markerId);
      return true;
    });
    if (removed) await leftovers.remove(file, markerId);
    return removed;
  }
}

const exists = (filename: string): FileError => new FileError('exists', `there is a file named ${filename}`);

function has(collection: Collection | undefined, find: (collection: Collection) => unknown): boolean {
  return collection !== undefined && find(collection) !== undefined;
}

/** An ascending index, named as drivers name theirs. */
function indexSpec(paths: readonly string[], options: Readonly<Record<string, Value>>): Document {
  const key = Document.fromEntries(paths.map((path) => [path, 1]));
  return Document.of({ key, name: paths.map((path) => `${path}_1`).join('_'), ...options });
}
