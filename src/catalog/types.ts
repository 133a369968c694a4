// What the catalog promises to those above it: names, collections and indexes in dictionary 1 of the engine, documents and index entries
// that always agree because one engine transaction changes both (server.md, "Catalog and indexes"). Contracts only; see catalog.ts,
// collection.ts and transaction.ts. Errors are CommandError with MongoDB's codes, and EngineError where the engine speaks.

import type { Binary, DateTime, Document, Timestamp, Value } from '../bson/index.ts';
import type { Paced } from '../env/index.ts';
import type { Cursor, DictionaryId, DictionaryOptions, Direction, KeyRange, Seq, Soon, Totals, Transaction, TransactionMode, TreeLevel, ValuePart } from '../engine/index.ts';
import type { Collation } from '../collation/index.ts';
import type { FilterNode } from '../query/index.ts';
import type { IndexKind } from './index-kind.ts';
import type { Namespace } from './namespace.ts';
import type { TimeSeriesOptions } from './time-series.ts';
import type { OperationClock, OperationCursor, OperationOwner } from './oplog/operation.ts';
import type { ChangeShape } from './oplog/update-diff.ts';

/** The encoded primary key of a document: its key in the collection's dictionary. */
export type RecordKey = Uint8Array;

/**
 * One engine transaction with what the catalog must know of it: names it made or dropped, collections it wrote.
 * Everything that reads or writes collections is begun by `Catalog.begin` and ended here, never on the engine's transaction.
 */
export interface CatalogTransaction {
  readonly engine: Transaction;
  readonly mode: TransactionMode;
  readonly snapshot: Seq;
  /** The engine's number of it. */
  readonly id: number;
  /** The operation that works in it: long work on a document, and on its many index entries, lets others on in its turns. Undefined: it goes on to its end. */
  pace: Paced | undefined;
  /**
   * From now on nobody else writes to the collections that it looks at, nor makes those that it finds missing, until it ends: what it reads is as if it were alone. A
   * collection that others have written since its snapshot, or are writing to, is `write-conflict`.
   */
  isolate(): void;
  /** Whether anything was written or changed in it so far. */
  readonly hasWritten: boolean;
  /** For the log: the session and number under which this is done. */
  identify(owner: OperationOwner): void;
  /** A point to which `rollbackTo` takes documents and names back; locks stay. */
  mark(): number;
  rollbackTo(mark: number): void;
  /** Durable and visible when it resolves. `write-conflict` where a collection it wrote was changed (index, drop, rename) meanwhile. */
  commit(): Promise<Seq>;
  /** Forgets everything. Does nothing after commit or abort. */
  abort(): void;
}

/** How the entries of an index are kept and found. */
export interface IndexDefinition {
  readonly name: string;
  /** The key pattern as it was given. */
  readonly key: Document;
  readonly kind: IndexKind;
  /** The paths of the key pattern, in order, and the direction of each; of hashed fields and the like 1. */
  readonly paths: readonly string[];
  readonly directions: readonly Direction[];
  readonly unique: boolean;
  readonly sparse: boolean;
  readonly clustering: boolean;
  readonly hidden: boolean;
  /** Whether it takes no further duplicates, and can be made unique. */
  readonly preparesUnique: boolean;
  readonly partialFilter: Document | undefined;
  readonly expireAfterSeconds: number | undefined;
  /** How texts are compared; undefined: by their bytes. */
  readonly collation: Collation | undefined;
  readonly wildcardProjection: Document | undefined;
  /** The specification as `listIndexes` shows it. */
  readonly spec: Document;
}

/** One entry of an index as a scan gives it. The arrays share memory with the batch. */
export interface IndexEntry {
  /** Encoded values of the indexed fields; under a collation texts stand as their sort keys. */
  readonly fields: Uint8Array;
  readonly recordKey: RecordKey;
  /** What the encoding lost; with `fields` the exact values (`exactValues`). Empty where the entry carries the document. */
  readonly typeBits: Uint8Array;
  /** The whole document, where the index is clustering. */
  readonly document: Uint8Array | undefined;
}

/** An index of a collection. The primary one, mostly `_id_`, is the collection's own dictionary: its entries are the documents. */
export interface Index extends IndexDefinition {
  readonly dictionary: DictionaryId;
  /** The `_id` index or the chosen primary key: its key is the record key, its value the document. */
  readonly isPrimary: boolean;
  /** The partial filter, parsed; undefined where every document has an entry. */
  readonly partialShape: FilterNode | undefined;
  /** Whether any document gave it more than one entry, or an array on the way. Only ever becomes true. */
  readonly isMultikey: boolean;
  /** For each path, which of its components were arrays in some document (`a.b`: [true, false] where `a` was one). */
  readonly multikeyComponents: readonly (readonly boolean[])[];
  /** Taken apart: what a row of its dictionary says. */
  entry(key: Uint8Array, value: Uint8Array): IndexEntry;
  /** Rows are ordered by these values, then by record key; `range` is of encoded fields. */
  scan(txn: CatalogTransaction, range: KeyRange, direction: Direction): Cursor;
  /** Number and bytes of entries at the snapshot. */
  totals(txn: CatalogTransaction): Totals;
}

/** What was said when a collection was created; only what was said is there. */
export interface CollectionOptions {
  readonly capped?: { readonly sizeBytes: number; readonly documentsMax?: number };
  readonly validator?: Document;
  readonly validationLevel?: 'off' | 'strict' | 'moderate';
  readonly validationAction?: 'error' | 'warn';
  /** How texts are compared where a command does not say it, in indexes that do not say it, and in `_id`. */
  readonly collation: Collation | undefined;
  readonly timeSeries?: TimeSeriesOptions;
  /** Of a time series by its time, of a clustered collection by `_id`. */
  readonly expireAfterSeconds?: number;
  /** `changeStreamPreAndPostImages`: the log keeps documents as they were before and after a change. */
  readonly keepsImages?: boolean;
  /** As `listCollections` shows them. */
  readonly shown: Document;
}

/** A stored view: commands resolve it. */
export interface View {
  readonly kind: 'view';
  readonly ns: Namespace;
  readonly viewOn: string;
  readonly pipeline: readonly Value[];
  readonly collation: Collation | undefined;
  /** The row of `listCollections`. */
  describe(): Document;
}

/** A document ready to be inserted: `_id` first and there, checked, with its key. */
export interface PreparedDocument {
  readonly document: Document;
  readonly key: RecordKey;
}

/** What a renaming may find: `dropTarget` takes a collection of the new name away, any or that of a UUID; `uuid` is the source's. 361. */
export interface RenameChoices {
  readonly dropTarget: boolean | Binary;
  readonly uuid?: Binary | undefined;
  /** Also from and onto a time series, which clients may not. */
  readonly series?: boolean;
}

/** What is to be copied into a capped collection, and how. */
export interface CappedCopy {
  readonly from: Namespace;
  readonly to: Namespace;
  readonly sizeBytes: number;
  /** The copy takes the name of `from`; `to` is what it is called until then. */
  readonly replaces: boolean;
  readonly checkInterrupt: () => Soon<void>;
}

export interface InsertChoices {
  /** Leaves the validator out (`bypassDocumentValidation`). */
  readonly bypassValidation?: boolean;
  /** For the log: number of the statement in a retryable write. */
  readonly statement?: number | undefined;
  /** For the log: what the update writes; `replacement`: all of the document; absent: what differs is found out. */
  readonly shape?: ChangeShape | 'replacement' | undefined;
}

/** What one dictionary of a collection takes on disk. */
export interface StorageFigures extends Totals {
  readonly diskBytes: number;
  /** Before compression. */
  readonly rawBytes: number;
  readonly height: number;
  readonly leaves: number;
  /** How it is kept; of several dictionaries together, the first. */
  readonly options?: DictionaryOptions | undefined;
}

/** What a collection takes on disk: its documents, and each index by name. */
export interface CollectionStorage {
  readonly documents: StorageFigures;
  readonly indexes: ReadonlyMap<string, StorageFigures>;
  /** Of a partitioned collection: each part. */
  readonly partitions?: readonly (Omit<CollectionStorage, 'partitions'> & { readonly id: number })[];
}

/** A part of a partitioned collection, as `getPartitionInfo` tells it. */
export interface PartitionInfo {
  readonly id: number;
  /** Its largest key, by path; of the last one what is above every key. */
  readonly max: Document;
  readonly created: DateTime;
}

/**
 * A collection as one transaction sees it. Writers call `lock` before they read what they are to change (mode `statement`: then
 * `getLatest`; mode `snapshot`: `get`). A document and all its entries change together or not at all: a call that fails with
 * CommandError has changed nothing.
 */
export interface Collection {
  readonly kind: 'collection';
  readonly ns: Namespace;
  readonly uuid: Binary;
  readonly options: CollectionOptions;
  /**
   * Whether record keys are encoded `_id`s. Of a capped collection or a time series they are numbers in the order of insertion, of one with a `primaryKey` its
   * encoded fields: `keyOf` is refused there, and a document is found through its index on `_id`.
   */
  readonly isKeyedById: boolean;
  /** `_id_` first, then the primary key where the collection has chosen one, then in order of creation. */
  readonly indexes: readonly Index[];
  /** The row of `listCollections`. */
  describe(): Document;
  /** `_id` moved to the front or made, types and limits checked (2, 53, 15), zero timestamps filled in. A capped collection gives the key at insertion. */
  prepare(document: Document): PreparedDocument;
  /** The record key of an `_id` value; what the value may be is not checked. 20 where documents are not keyed by `_id`. */
  keyOf(id: Value): RecordKey;
  /** Of the log: the key of an entry of this time; absent elsewhere. */
  keyAt?(time: Timestamp): RecordKey;
  /** The document with this `_id`, however documents are keyed: own writes, then the snapshot. */
  getById(txn: CatalogTransaction, id: Value): Soon<Document | undefined>;
  /** Inserts what `prepare` made. Duplicate: 11000. Invalid: 121. A capped collection loses its oldest documents for it. */
  insert(txn: CatalogTransaction, prepared: PreparedDocument, choices?: InsertChoices): Soon<void>;
  /** Replaces the document under its lock. `_id` must be equal by value (66). Equal bytes: does nothing. */
  update(txn: CatalogTransaction, key: RecordKey, change: { readonly before: Document; readonly after: Document }, choices?: InsertChoices): Soon<void>;
  /** Removes the document under its lock. `before`: what is there. */
  remove(txn: CatalogTransaction, key: RecordKey, before: Document, choices?: InsertChoices): Soon<void>;
  lock(txn: CatalogTransaction, key: RecordKey): Soon<void>;
  /**
   * A number that stays the same while nobody writes documents: the same object and the same number again are the same documents, for
   * transactions of mode `read`. Undefined where somebody has written since the snapshot, or it is not known.
   */
  contentVersion(txn: CatalogTransaction): number | undefined;
  /** Own writes, then the snapshot. The document is the caller's to keep. */
  get(txn: CatalogTransaction, key: RecordKey): Soon<Document | undefined>;
  /**
   * As `get`, of a part of the document, or all of it; to be copied or done with before the caller waits for anything. Of a large document no more is
   * read than that takes.
   */
  peek(txn: CatalogTransaction, key: RecordKey, part?: ValuePart): Soon<Uint8Array | undefined>;
  /** Own writes, then the newest: only under the lock. */
  getLatest(txn: CatalogTransaction, key: RecordKey): Soon<Document | undefined>;
  /** Documents in order of record key. */
  scan(txn: CatalogTransaction, range: KeyRange, direction: Direction): Cursor;
  /** Exact number and bytes of documents at the snapshot, own writes included. */
  totals(txn: CatalogTransaction): Totals;
  /** Sizes on disk now, of the documents and of each index by name. */
  storage(): CollectionStorage;
  /** The parts of a partitioned collection, in the order of their keys. */
  partitionInfo(): readonly PartitionInfo[] | undefined;
  /** The levels of the trees now, from the top: of each index by name, the documents under the name of the first. Not of partitioned collections. */
  levels(): Promise<ReadonlyMap<string, readonly TreeLevel[]>>;
  /** Every document has exactly its entries, every entry its document, totals agree. Problems in words. */
  check(txn: CatalogTransaction, checkInterrupt?: () => Soon<void>): Promise<CollectionCheck>;
}

/** What `Collection.check` found. */
export interface CollectionCheck {
  readonly problems: readonly string[];
  readonly documents: number;
  /** Entries counted, by name of index. */
  readonly entries: ReadonlyMap<string, number>;
}

/** What `createIndexes` answers. */
export interface IndexesCreated {
  readonly createdCollectionAutomatically: boolean;
  readonly before: number;
  readonly after: number;
}

/** How a catalog does what it may do in more than one way. */
export interface CatalogChoices {
  /** Collections up to this many documents get their indexes in one transaction that holds writers back; larger ones beside their writers. */
  readonly inlineDocumentsMax?: number;
  /** How much of what was done is kept in the log; 0: nothing, and what was kept is dropped; absent: nothing is logged now. */
  readonly oplogBytes?: number;
  readonly oplogAgeMs?: number;
  /** Operations of one transaction beyond this are put aside before its commit; absent: a part of the cache. */
  readonly oplogAsideBytes?: number;
}

/** An index build under way. */
export interface IndexBuild {
  readonly ns: Namespace;
  readonly names: readonly string[];
  readonly documentsDone: number;
  readonly documentsTotal: number;
}

/** A bulk load under way: documents on their way into a collection that comes into being, whole, with the commit of the transaction. */
export interface CollectionLoad {
  readonly ns: Namespace;
  /** How many have come. */
  readonly documents: number;
  /** Takes a document, in any order; nobody sees it yet. What it may not be is refused as on insertion; duplicates are told by `finish`. */
  insert(document: Document): Soon<void>;
  /** Ends it and names the collection with the transaction. 11000: nothing of it is there. `abort` after it is for a transaction that was not committed. */
  finish(checkInterrupt: () => Soon<void>): Promise<void>;
  /** Gives everything back. */
  abort(): Promise<void>;
}

/** What `reIndex` is asked: one index by name or key pattern, or all (`*`), and options that change. */
export interface Reindexing {
  readonly which: string | Document;
  readonly options: Document;
  readonly checkInterrupt: () => Soon<void>;
}

/** How an index is kept on disk. */
export interface IndexKept {
  readonly name: string;
  readonly options: DictionaryOptions | undefined;
}

/** Which indexes to drop: a name or `*`, a key pattern, or names. */
export type IndexChoice = string | Document | readonly string[];

/** The log of what was done. Entries are in it when, and only when, the commit that they tell of is. */
export interface OperationLog {
  /** Whether commits are logged. */
  readonly isOn: boolean;
  /** Whether what happens in this database is. */
  logs(db: string): boolean;
  /** `local.oplog.rs`; undefined where nothing is logged. */
  readonly collection: Collection | undefined;
  /** Goes up with each commit that is logged. */
  readonly version: number;
  /** From now on commits are logged, with times of this clock. */
  start(times: OperationClock): void;
  /** The operations that a snapshot sees, from a time on (inside), or backwards. */
  read(txn: CatalogTransaction, from: Timestamp | undefined, direction?: Direction): OperationCursor;
  /** Whether operations at or behind this time may have been dropped. */
  isLost(time: Timestamp): boolean;
  /** Calls `wake` after each commit that is logged, until the function given back is called. */
  subscribe(wake: () => void): () => void;
  /** Drops what is older or more than is kept. To be called now and then. */
  trim(): Promise<void>;
}

/** The one catalog of an environment. Methods that take a transaction are part of it: they take effect, for others, when it commits. */
export interface Catalog {
  /** The collation of the newest committed collection or view of this name; undefined: there is none, or the order of bytes. */
  collationOf(ns: Namespace): Collation | undefined;
  /** What was done, for those who follow it. */
  readonly oplog: OperationLog;
  begin(mode: TransactionMode, from?: CatalogTransaction): CatalogTransaction;
  /**
   * Runs one statement by itself in mode `statement` and commits it; where the engine says `write-conflict` or `deadlock` (which for a
   * statement means that the catalog changed under it, or that two waited for each other), it is done again from the start.
   */
  run<T>(work: (txn: CatalogTransaction) => Promise<T>): Promise<T>;
  /**
   * The collection or view of this name as the transaction sees it. In modes `snapshot` and `statement`, one whose definition changed after
   * the snapshot is `write-conflict`; mode `read` sees it as it was.
   */
  lookup(txn: CatalogTransaction, ns: Namespace): Soon<Collection | View | undefined>;
  /** As `lookup`; a view is 166 CommandNotSupportedOnView. */
  collection(txn: CatalogTransaction, ns: Namespace): Soon<Collection | undefined>;
  /** The collection, made in this transaction if it is not there (implicit creation on first write). */
  ensureCollection(txn: CatalogTransaction, ns: Namespace): Promise<Collection>;
  /** Names of databases that have a collection, sorted. */
  databases(txn: CatalogTransaction): Promise<readonly string[]>;
  /** Collections and views of a database, by name. */
  collections(txn: CatalogTransaction, db: string): Promise<readonly (Collection | View)[]>;
  /** `options`: the fields of `create` that describe the collection. 48 where the name is taken, 73, 72, ... */
  create(txn: CatalogTransaction, ns: Namespace, options: Document): Promise<Collection | View>;
  /** 26 where there is none. Gives the number of indexes it had (0 for a view). */
  drop(txn: CatalogTransaction, ns: Namespace): Promise<{ readonly nIndexesWas: number }>;
  dropDatabase(txn: CatalogTransaction, db: string): Promise<boolean>;
  rename(txn: CatalogTransaction, from: Namespace, to: Namespace, choices: RenameChoices): Promise<void>;
  /**
   * `collMod`: validation and options of a collection, one index's `expireAfterSeconds` and `hidden`, a view's `viewOn` and `pipeline`. Gives
   * the fields of the reply (`hidden_old`, `hidden_new`, ...). 26, 27, 72, 14, 40415.
   */
  modify(txn: CatalogTransaction, ns: Namespace, changes: Document): Promise<Document>;
  /** Copies a collection in its natural order into a capped one, in transactions of its own; the copy may take its place. 26, 166, 48. */
  copyAsCapped(copy: CappedCopy): Promise<void>;
  /**
   * Builds indexes in transactions of its own, all or nothing; writers of the collection wait meanwhile. Makes the collection if needed.
   * 67, 85, 86, 11000, 171, 197 ...
   */
  createIndexes(ns: Namespace, specs: readonly Document[], choices?: { readonly checkInterrupt?: () => Soon<void> }): Promise<IndexesCreated>;
  /** The same inside a transaction: only on a collection that is empty or made in it (263 otherwise). */
  createIndexesIn(txn: CatalogTransaction, ns: Namespace, specs: readonly Document[]): Promise<IndexesCreated>;
  /**
   * `collMod` with `unique: true`: an index that was prepared becomes unique, or is only looked at; gives the fields of the reply. Undefined where
   * `changes` ask for something else. 359 with `violations` where documents share a key.
   */
  makeUnique(ns: Namespace, changes: Document, checkInterrupt: () => Soon<void>): Promise<Document | undefined>;
  /** 26, 27, 72. */
  dropIndexes(txn: CatalogTransaction, ns: Namespace, which: IndexChoice): Promise<{ readonly nIndexesWas: number }>;
  builds(): readonly IndexBuild[];
  /** What a key of the engine is: `db.collection.$index`, and the values; undefined: of nothing that has a name. */
  describeKey(dictionary: DictionaryId, key: Uint8Array | undefined): { readonly index: string; readonly values: Document } | undefined;
  /** Begins to load a collection that is not there, as part of a transaction, which has its name from now on. 16873, 16998, 16999, 17247, 72, and as `create`. */
  beginLoad(txn: CatalogTransaction, ns: Namespace, choices: { readonly specs: readonly Document[]; readonly options: Document }): Promise<CollectionLoad>;
  /** Writes indexes anew, beside everybody, with other options where they are said; how they were kept. 26, 27, 17232, 2, 14, 72. */
  reIndex(ns: Namespace, reindexing: Reindexing): Promise<readonly IndexKept[]>;
  /**
   * A part more of a partitioned collection: the last one ends at `newMax`, or at its largest key, and what comes behind goes into the new one.
   * `txn`: the transaction it is part of; absent: one of its own, with the writers of the collection held back. 17248, 17249, 17250, 17306, 17307.
   */
  addPartition(ns: Namespace, newMax: Document | undefined, txn?: CatalogTransaction): Promise<void>;
  /** Makes a collection without indexes of its own a partitioned one of one part, without copying. `txn` as for `addPartition`. 17268, 17269, 17271 to 17274. */
  convertToPartitioned(ns: Namespace, txn?: CatalogTransaction): Promise<void>;
  /** Writes a message into the log, where there is one. */
  appendNote(o: Document): Promise<void>;
  /** A part less, with all its documents and entries, at once. 17252, 17253, 17306, 17307. */
  dropPartition(txn: CatalogTransaction, ns: Namespace, id: number): Promise<void>;
  /**
   * Writes an update of operators with the lock of its document and without reading it, if the collection lets it; else nothing is done. What the document
   * refuses is not told: it stays as it is, and one that is not there stays so.
   */
  updateFast(txn: CatalogTransaction, collection: Collection, key: RecordKey, change: { readonly update: Document; readonly bypassValidation: boolean }): Soon<boolean>;
  /** Whether all documents of a range of record keys can go at once: all of a collection, or a part that no index but that on `_id` has. */
  canRemoveRange(collection: Collection, range: KeyRange): boolean;
  /**
   * Removes them with the commit of a `statement`, by one message; their exact number. It waits a little for others who write to the
   * collection, then `locked`; they wait for it.
   */
  removeRange(txn: CatalogTransaction, collection: Collection, range: KeyRange, checkInterrupt: () => Soon<void>): Promise<number>;
}
