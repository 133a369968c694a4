// A file store over the real engine with its files in memory, and ways to plant what drivers, old tools and accidents leave in a bucket.

import { Binary, DateTime, Document, ObjectId } from '../../src/bson/index.ts';
import type { Value } from '../../src/bson/index.ts';
import { namespaceOf, openCatalog } from '../../src/catalog/index.ts';
import type { Catalog } from '../../src/catalog/index.ts';
import { openEnvironment } from '../../src/engine/index.ts';
import type { Environment } from '../../src/engine/index.ts';
import { openMemoryEnv } from '../../src/env/index.ts';
import type { Env } from '../../src/env/index.ts';
import { openFileStore } from '../../src/gridfs/index.ts';
import type { FileBucket, FileStore, StoredFile } from '../../src/gridfs/index.ts';

/** The same bytes for the same length and seed; no two stretches of them are alike. */
export function patternBytes(length: number, seed = 1): Uint8Array {
  const bytes = new Uint8Array(length);
  let state = seed * 2654435761;
  for (let i = 0; i < length; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    bytes[i] = state;
  }
  return bytes;
}

/** What a planted file is like; what is not said is as a driver would write it. */
export interface PlantedFile {
  readonly id?: Value;
  readonly filename?: Value | undefined;
  readonly bytes: Uint8Array;
  readonly chunkSize?: number;
  /** Fields of the file document that are other than usual; undefined leaves one out. */
  readonly fields?: Readonly<Record<string, Value | undefined>>;
  /** Changes the chunk documents before they are stored. */
  readonly chunks?: (usual: readonly Document[]) => readonly Document[];
}

/** One environment with a store over it. */
export class StoreForTest {
  readonly env: Env;
  readonly engine: Environment;
  readonly catalog: Catalog;
  readonly store: FileStore;
  #ids = 0;

  constructor(env: Env, engine: Environment, parts: { readonly catalog: Catalog; readonly store: FileStore }) {
    this.env = env;
    this.engine = engine;
    this.catalog = parts.catalog;
    this.store = parts.store;
  }

  static async open(env?: Env): Promise<StoreForTest> {
    const own = env ?? (await openMemoryEnv());
    const engine = await openEnvironment(own, '/data', { cacheBytes: 64 * 1024 * 1024 });
    const catalog = await openCatalog(engine, own);
    return new StoreForTest(own, engine, { catalog, store: await openFileStore(catalog, own) });
  }

  /** The bucket `fs` of the database `test`. */
  get bucket(): FileBucket {
    return this.store.bucket('test', 'fs');
  }

  /** A new ObjectId, greater than those before. */
  nextId(): ObjectId {
    this.#ids += 1;
    return ObjectId.from(this.#ids.toString(16).padStart(24, '0'));
  }

  /** What puts documents in, where it is not the catalog; it gives back what it cannot put in. */
  insertThrough: ((collection: string, documents: readonly Document[]) => Promise<readonly Document[]>) | undefined;

  /** Puts documents into a collection of the database `test`. */
  async insert(collection: string, documents: readonly Document[]): Promise<void> {
    const rest = this.insertThrough === undefined ? documents : await this.insertThrough(collection, documents);
    for (const document of rest) {
      await this.catalog.run(async (txn) => {
        const found = await this.catalog.ensureCollection(txn, namespaceOf('test', collection));
        await found.insert(txn, found.prepare(document));
      });
    }
  }

  async createIndexes(bucket = 'fs'): Promise<void> {
    const spec = (key: Readonly<Record<string, Value>>, name: string, unique: boolean): Document => Document.of({ key: Document.of(key), name, unique });
    await this.catalog.createIndexes(namespaceOf('test', `${bucket}.files`), [spec({ filename: 1, uploadDate: 1 }, 'filename_1_uploadDate_1', false)]);
    await this.catalog.createIndexes(namespaceOf('test', `${bucket}.chunks`), [spec({ files_id: 1, n: 1 }, 'files_id_1_n_1', true)]);
  }

  /** Stores the documents of a file as they are said, whole or not. */
  async plant(file: PlantedFile, bucket = 'fs'): Promise<Value> {
    const { bytes, chunkSize = 255 * 1024 } = file;
    const id = file.id ?? this.nextId();
    const usual: Document[] = [];
    for (let n = 0; n * chunkSize < bytes.length; n++) {
      usual.push(Document.of({ _id: this.nextId(), files_id: id, n, data: new Binary(bytes.slice(n * chunkSize, (n + 1) * chunkSize)) }));
    }
    await this.insert(`${bucket}.chunks`, file.chunks === undefined ? usual : file.chunks(usual));
    const fields = { _id: id, length: BigInt(bytes.length), chunkSize, uploadDate: new DateTime(Date.UTC(2024, 0, 2, 3, 4, 5, 678)), filename: 'movie.mp4', ...file.fields };
    await this.insert(`${bucket}.files`, [Document.of('filename' in file ? { ...fields, filename: file.filename } : fields)]);
    return id;
  }

  /** Number of documents in a collection of `test`. */
  async count(collection: string, db = 'test'): Promise<number> {
    const txn = this.catalog.begin('read');
    const found = await this.catalog.collection(txn, namespaceOf(db, collection));
    const rows = found?.totals(txn).rows ?? 0;
    txn.abort();
    return rows;
  }

  /** Uploads through the store. */
  async upload(filename: string, bytes: Uint8Array, options: { readonly chunkSize?: number; readonly contentType?: string; readonly bucket?: string } = {}): Promise<StoredFile> {
    const bucket = this.store.bucket('test', options.bucket ?? 'fs');
    const upload = await bucket.create({ filename, contentType: options.contentType, metadata: new Map(), chunkSize: options.chunkSize, onlyIfAbsent: false });
    for (let at = 0; at < bytes.length; at += 65536) await upload.write(bytes.subarray(at, at + 65536));
    return await upload.finish();
  }

  async close(): Promise<void> {
    await this.store.close();
    await this.engine.close();
  }
}
