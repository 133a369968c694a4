// An import through the server's bulk loader: `beginLoad` and `commitLoad` in a transaction of the connection (docs/tokumx.md). The collection is new, or
// empty: then it is replaced, with its options and indexes, in the same transaction. All of it is there with the commit, or nothing. Past the log of
// operations, so whoever follows a collection is told that it was dropped, and not what is in the new one.

import { CommandError } from '../../base/errors.ts';
import { BsonArray, Document } from '../../bson/index.ts';
import type { ToolClient } from '../client.ts';
import { numberOf } from '../client.ts';

/** The collection that is loaded. */
export interface LoadedCollection {
  readonly database: string;
  readonly collection: string;
  /** Replace it whatever it holds. */
  readonly drop: boolean;
}

/** What there is of it before. */
interface Found {
  readonly options: Document;
  readonly indexes: readonly Document[];
}

/** A load that has begun. What is inserted over its connection belongs to it. */
export class BulkLoading {
  readonly #client: ToolClient;
  readonly #database: string;

  private constructor(client: ToolClient, database: string) {
    this.#client = client;
    this.#database = database;
  }

  /** Begins it; 48 NamespaceExists when there are documents that are not to be dropped, and what the server says of what cannot be loaded. */
  static async begin(client: ToolClient, target: LoadedCollection): Promise<BulkLoading> {
    const { database, collection } = target;
    const found = await look(client, target);
    await client.command(database, { beginTransaction: 1 });
    if (found !== undefined) await client.command(database, { drop: collection });
    const indexes = BsonArray.of(found?.indexes ?? []);
    await client.command(database, { beginLoad: 1, ns: collection, indexes, options: found?.options ?? Document.empty });
    return new BulkLoading(client, database);
  }

  /** Ends it: its documents are durable and seen when this resolves. 11000: two have one key, and nothing of the load is there. */
  async commit(): Promise<void> {
    await this.#client.command(this.#database, { commitLoad: 1 });
    await this.#client.command(this.#database, { commitTransaction: 1 });
  }

  /** Gives it up: everything is as it was. */
  async abort(): Promise<void> {
    await this.#client.command(this.#database, { abortLoad: 1 });
    await this.#client.command(this.#database, { rollbackTransaction: 1 });
  }
}

async function look(client: ToolClient, { database, collection, drop }: LoadedCollection): Promise<Found | undefined> {
  const [entry] = await firstBatch(client, database, { listCollections: 1, filter: Document.of({ name: collection }) });
  if (entry === undefined) return undefined;
  if (!drop && numberOf((await client.command(database, { count: collection })).get('n')) > 0) {
    throw new CommandError(48, 'NamespaceExists', `${database}.${collection} has documents: a bulk load makes a new collection, or fills an empty one`);
  }
  const indexes = drop ? [] : await firstBatch(client, database, { listIndexes: collection });
  const options = entry.get('options');
  return { options: options instanceof Document && !drop ? options : Document.empty, indexes: indexes.filter((index) => index.get('name') !== '_id_') };
}

/** The documents of a listing, which is short. */
async function firstBatch(client: ToolClient, database: string, command: Parameters<ToolClient['command']>[1]): Promise<readonly Document[]> {
  const cursor = (await client.command(database, command)).get('cursor');
  const batch = cursor instanceof Document ? cursor.get('firstBatch') : undefined;
  return batch instanceof BsonArray ? batch.items().filter((item) => item instanceof Document) : [];
}
