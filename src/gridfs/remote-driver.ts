// What the remote store wants of a driver: few operations, in our own documents, so that nothing else of the product knows the driver. Errors are
// CommandError for what the server says, FileError `unavailable` where it cannot be reached in time.

import type { Document, Value } from '../bson/index.ts';
import type { Namespace } from '../catalog/index.ts';

/** What is looked for. */
export interface RemoteQuery {
  readonly filter: Document;
  readonly sort?: readonly (readonly [field: string, direction: 1 | -1])[];
  readonly limit?: number;
  readonly skip?: number;
}

/** A connection to a MongoDB server. */
export interface RemoteDriver {
  /** All documents found. Nothing stays open. */
  all(ns: Namespace, query: RemoteQuery): Promise<readonly Document[]>;
  /** Documents one after the other; what is open at the server is closed when the caller stops. */
  walk(ns: Namespace, query: RemoteQuery): AsyncIterable<Document>;
  count(ns: Namespace, filter: Document, limit: number): Promise<number>;
  /** Acknowledged as the connection string says. */
  insert(ns: Namespace, documents: readonly Document[]): Promise<void>;
  /** Replaces the document with this `_id`, or inserts it. */
  put(ns: Namespace, document: Document): Promise<void>;
  /** Replaces the document with this `_id`; whether there was one. */
  replace(ns: Namespace, document: Document): Promise<boolean>;
  /** Removes all that fit; how many. */
  remove(ns: Namespace, filter: Document): Promise<number>;
  createIndex(ns: Namespace, key: readonly string[], options: Readonly<Record<string, Value>>): Promise<void>;
  /** Names of a database's collections. */
  collections(db: string): Promise<readonly string[]>;
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** How a remote server is reached. */
export interface RemoteOptions {
  /** Longest wait for a connection; then the request is answered 503. */
  readonly connectMs: number;
  /** Whose rights are used; undefined: those of the connection string. */
  readonly user?: { readonly name: string; readonly db: string; readonly password: string };
  /** Told how many bytes of documents came or went. */
  readonly passed?: (bytes: number) => void;
}
