// Names of databases and collections, and which of them MongoDB allows. A namespace is `database.collection`; the database ends at the
// first dot, so only collections may have dots. Texts of the refusals are those of MongoDB's manual page "Naming Restrictions" and server.

import { CommandError } from '../base/errors.ts';
import { encodeUtf8 } from '../base/text.ts';

const databaseBytesMax = 63;
const namespaceBytesMax = 255;
const databaseForbidden = /[/\\. "$\0]/;

/** Collections below `system.` that clients may create or write. */
const openSystemCollections: ReadonlySet<string> = new Set(['system.js', 'system.views', 'system.profile', 'system.users', 'system.roles', 'system.version', 'system.buckets']);

const invalid = (message: string): CommandError => new CommandError(73, 'InvalidNamespace', message);

/** A database and a collection in it. Made by `namespaceOf` and `parseNamespace`; equal namespaces have equal `text`. */
export class Namespace {
  readonly db: string;
  readonly collection: string;
  /** `db.collection`. */
  readonly text: string;

  constructor(db: string, collection: string) {
    this.db = db;
    this.collection = collection;
    this.text = `${db}.${collection}`;
  }

  toString(): string {
    return this.text;
  }

  /** Whether the collection is one of the server's own (`system.…`). */
  get isSystem(): boolean {
    return this.collection.startsWith('system.');
  }
}

/** Whether a text has more bytes; a unit of it has three at most. */
const isLonger = (text: string, bytesMax: number): boolean => text.length * 3 > bytesMax && encodeUtf8(text).length > bytesMax;

/** Refuses a database name that MongoDB refuses (73). */
export function checkDatabaseName(db: string): void {
  if (db.length === 0 || databaseForbidden.test(db) || isLonger(db, databaseBytesMax)) {
    throw invalid(`Invalid database name: '${db}'`);
  }
}

/** The namespace of a database and a collection name as a command gives them; 73 where either is not a name. */
export function namespaceOf(db: string, collection: string): Namespace {
  checkDatabaseName(db);
  if (collection.length === 0 || collection.startsWith('.') || collection.includes('\0')) {
    throw invalid(`Invalid namespace specified '${db}.${collection}'`);
  }
  return new Namespace(db, collection);
}

/** The namespace of a text `db.collection`; 73 where it is none. */
export function parseNamespace(text: string): Namespace {
  const dot = text.indexOf('.');
  if (dot <= 0 || dot === text.length - 1) throw invalid(`Invalid namespace specified '${text}'`);
  return namespaceOf(text.slice(0, dot), text.slice(dot + 1));
}

/** Refuses what may be read but not created: names with `$`, the server's own collections, names that are too long (73). */
export function checkCreatable(namespace: Namespace): void {
  const { collection, text } = namespace;
  if (collection.includes('$')) throw invalid(`Invalid collection name: ${collection}`);
  if (collection.startsWith('system.buckets.')) throw new CommandError(20, 'IllegalOperation', `there are no collections of buckets: ${text}`);
  if (namespace.isSystem && !openSystemCollections.has(collection)) throw invalid(`Invalid system namespace: ${text}`);
  if (isLonger(text, namespaceBytesMax)) {
    throw invalid(`Fully qualified namespace is too long. Namespace: ${text} Max: ${namespaceBytesMax}`);
  }
}
