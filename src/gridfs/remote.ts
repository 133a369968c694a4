// The official driver behind RemoteDriver. It is loaded when a gateway in front of another server is asked for, and only then: the server itself runs
// without it (docs/decisions/0007-driver.md). Documents that are read come as raw BSON and stay so.

import type * as mongodb from 'mongodb';
import type { Collection as DriverCollection, Document as DriverDocument, MongoClient } from 'mongodb';
import { CommandError } from '../base/errors.ts';
import { Document } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';
import type { Namespace } from '../catalog/index.ts';
import { FileError } from './file-error.ts';
import type { RemoteDriver, RemoteOptions, RemoteQuery } from './remote-driver.ts';

type Driver = typeof mongodb;

/** Collection objects of the driver that are kept ready: making one reads all options anew. */
const collectionsMax = 200;

/** Connects. FileError `unavailable` where the server cannot be reached, CommandError where it refuses the user. */
export async function connectRemote(uri: string, { connectMs, user, passed }: RemoteOptions): Promise<RemoteDriver> {
  const driver = await loadDriver();
  const client = new driver.MongoClient(uri, {
    appName: 'frond gateway',
    serverSelectionTimeoutMS: connectMs,
    waitQueueTimeoutMS: connectMs,
    ...(user === undefined ? {} : { auth: { username: user.name, password: user.password }, authSource: user.db }),
  });
  const remote = new MongoRemote(driver, client, passed);
  try {
    await remote.open();
  } catch (error) {
    await client.close();
    throw error;
  }
  return remote;
}

async function loadDriver(): Promise<Driver> {
  try {
    return await import('mongodb');
  } catch (error) {
    throw new FileError('unavailable', 'a gateway in front of another server needs the package mongodb: npm install mongodb', { cause: error });
  }
}

class MongoRemote implements RemoteDriver {
  readonly #driver: Driver;
  readonly #client: MongoClient;
  readonly #collections: Map<string, DriverCollection> = new Map();
  readonly #passed: (bytes: number) => void;

  constructor(driver: Driver, client: MongoClient, passed: ((bytes: number) => void) | undefined) {
    this.#driver = driver;
    this.#client = client;
    this.#passed = passed ?? (() => undefined);
  }

  /** Tells how many bytes of documents came, or are to go. */
  #count(documents: readonly Document[]): readonly Document[] {
    let bytes = 0;
    for (const document of documents) bytes += document.byteLength;
    this.#passed(bytes);
    return documents;
  }

  async open(): Promise<void> {
    await this.#asking(async () => {
      await this.#client.connect();
    });
  }

  #collection({ db, collection }: Namespace): DriverCollection {
    const name = `${db}.${collection}`;
    const known = this.#collections.get(name);
    if (known !== undefined) return known;
    const made = this.#client.db(db).collection(collection);
    if (this.#collections.size >= collectionsMax) this.#collections.clear();
    this.#collections.set(name, made);
    return made;
  }

  /** Ours to the driver's, type for type. */
  #given(document: Document): DriverDocument {
    return this.#driver.BSON.deserialize(document.toBytes(), { promoteValues: false });
  }

  async #asking<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      throw this.#translated(error);
    }
  }

  #translated(error: unknown): unknown {
    const { MongoBulkWriteError, MongoServerError, MongoError } = this.#driver;
    if (error instanceof MongoBulkWriteError || error instanceof MongoServerError) {
      // Of an answer that is read raw the code is an object of the driver's.
      const given = Number(error.code ?? 8);
      const code = Number.isInteger(given) ? given : 8;
      // 18 AuthenticationFailed, 13 Unauthorized, and what else the server says, is its own; interrupted and shutting down servers come back.
      if ([91, 189, 10107, 11600, 11602, 13435, 13436].includes(code)) return new FileError('unavailable', 'the database cannot answer now', { cause: error });
      return new CommandError(code, error instanceof MongoServerError ? (error.codeName ?? 'UnknownError') : 'UnknownError', error.message, { cause: error });
    }
    return error instanceof MongoError ? new FileError('unavailable', 'the database cannot be reached', { cause: error }) : error;
  }

  #cursor(ns: Namespace, { filter, sort, limit, skip }: RemoteQuery): ReturnType<DriverCollection['find']> {
    const cursor = this.#collection(ns).find(this.#given(filter), { raw: true, promoteValues: false });
    if (sort !== undefined) cursor.sort(new Map(sort));
    if (limit !== undefined) cursor.limit(limit);
    if (skip !== undefined) cursor.skip(skip);
    return cursor;
  }

  async all(ns: Namespace, query: RemoteQuery): Promise<readonly Document[]> {
    return this.#count(await this.#asking(async () => (await this.#cursor(ns, query).toArray()).map(read)));
  }

  async *walk(ns: Namespace, query: RemoteQuery): AsyncIterable<Document> {
    const cursor = this.#cursor(ns, query);
    try {
      for (;;) {
        const next = await this.#asking(() => cursor.next());
        if (next === null) return;
        yield read(next);
      }
    } finally {
      await cursor.close();
    }
  }

  async count(ns: Namespace, filter: Document, limit: number): Promise<number> {
    return await this.#asking(() => this.#collection(ns).countDocuments(this.#given(filter), { limit }));
  }

  async insert(ns: Namespace, documents: readonly Document[]): Promise<void> {
    if (documents.length === 0) return;
    this.#count(documents);
    await this.#asking(() => this.#collection(ns).insertMany(documents.map((document) => this.#given(document))));
  }

  async put(ns: Namespace, document: Document): Promise<void> {
    await this.#asking(() => this.#replace(ns, document, true));
  }

  async replace(ns: Namespace, document: Document): Promise<boolean> {
    return (await this.#asking(() => this.#replace(ns, document, false))) > 0;
  }

  async #replace(ns: Namespace, document: Document, upsert: boolean): Promise<number> {
    const which = this.#given(Document.of({ _id: document.get('_id') }));
    const { matchedCount } = await this.#collection(ns).replaceOne(which, this.#given(document), { upsert });
    return matchedCount;
  }

  async remove(ns: Namespace, filter: Document): Promise<number> {
    const { deletedCount } = await this.#asking(() => this.#collection(ns).deleteMany(this.#given(filter)));
    return deletedCount;
  }

  async createIndex(ns: Namespace, key: readonly string[], options: Readonly<Record<string, Value>>): Promise<void> {
    await this.#asking(() => this.#collection(ns).createIndex(new Map(key.map((path) => [path, 1])), options, {}));
  }

  async collections(db: string): Promise<readonly string[]> {
    const found = await this.#asking(() => this.#client.db(db).listCollections({}, { nameOnly: true }).toArray());
    return found.map(({ name }) => name);
  }

  async ping(): Promise<void> {
    await this.#asking(() => this.#client.db('admin').command({ ping: 1 }));
  }

  async close(): Promise<void> {
    await this.#client.close();
  }
}

/** With `raw`, the driver gives the bytes of each document. */
function read(raw: unknown): Document {
  if (!(raw instanceof Uint8Array)) throw new TypeError('the driver gives raw documents as bytes');
  // Not a Buffer, whose slices share memory.
  return Document.fromBytes(new Uint8Array(raw.buffer, raw.byteOffset, raw.length));
}
