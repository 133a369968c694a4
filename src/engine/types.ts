// What the engine promises to those above it: an ordered map of bytes to bytes, transactional, durable, compressed, bounded in memory.
// These are the contracts; environment.ts, transaction.ts and cursor.ts keep them. See docs/architecture.md and docs/recovery.md.

/** Commit sequence number: one counter for the whole environment, given in log order; below 2^53. */
export type Seq = number & { readonly __brand: 'Seq' };

/** Number of a dictionary; never used again after the dictionary is dropped. */
export type DictionaryId = number & { readonly __brand: 'DictionaryId' };

/** A promise only where something must be waited for (a block to read, a lock, room in the budget). */
export type Soon<T> = T | Promise<T>;

/**
 * `snapshot`: sees one state, never waits for a lock; a key that somebody else holds or has changed since is a `write-conflict`.
 * `statement`: waits for locks (with a limit and a deadlock check) and reads what it has locked as it is newest.
 * `read`: sees one state and writes nothing; old versions that only it needs do not hold back conflict bookkeeping.
 */
export type TransactionMode = 'snapshot' | 'statement' | 'read';

/**
 * A function that changes a value by an argument, applied to messages without a read (law 13). Pure and total: the same result at all times and on any
 * thread, never an error. No value in: the key is not there; no value out: it is gone.
 */
export interface UpdateFunction {
  readonly apply: (value: Uint8Array | undefined, argument: Uint8Array) => Uint8Array | undefined;
  /** Whether it takes the argument: asked before anything is written. */
  readonly takes: (argument: Uint8Array) => boolean;
}

/** Functions by the number that files name them by, which never changes its meaning. */
export type UpdateFunctions = ReadonlyMap<number, UpdateFunction>;

/** What an environment is told of update functions. */
export interface UpdateTable {
  readonly functions: UpdateFunctions;
  /** Address of a module that exports the same table as `updateTable`, for the tree worker; without one all merges run on the main thread. */
  readonly module?: string;
}

export type CompressionName = 'none' | 'lz4' | 'zlib' | 'zstd';

/** How one dictionary is kept. */
export interface DictionaryOptions {
  /** Codec of leaves. Buffered runs are always LZ4. */
  readonly compression: CompressionName;
  /** Raw bytes of a leaf at which it splits (1 KiB to 16 MiB). */
  readonly pageBytes: number;
  /** Raw bytes of one basement, the unit of reading (512 B to 1 MiB). */
  readonly readPageBytes: number;
  /** Most children of an internal node (4 to 64). */
  readonly fanout: number;
  /**
   * Values of at least so many bytes, put under a lock of their own key, are written once beside the tree (law 23); 0: none are. Whoever else writes
   * such a key must lock it too. Absent: as the environment's options have it.
   */
  readonly largeValueBytes?: number;
}

/** When a commit is answered: `sync` after its log record is on disk; a number: written, and synced every so many milliseconds. */
export type Durability = 'sync' | { readonly delayedMs: number };

/** How groups of the log reach the disk; wal/log-writer.ts says what each is. */
export type LogWriterName = 'overwrite-dsync' | 'overwrite-fdatasync' | 'append-dsync' | 'append-fdatasync' | 'append-fsync' | 'overwrite-dsync-single';

export interface EngineOptions {
  /** The one budget of memory: runs, fronts, nodes, write sets, locks, recent keys, jobs. */
  readonly cacheBytes: number;
  /** Log beyond this makes the engine flush the fronts that pin its oldest segment. */
  readonly logBytes: number;
  /** Size of one preallocated log segment. */
  readonly logSegmentBytes: number;
  readonly durability: Durability;
  /** Size of one segment of large values. */
  readonly blobSegmentBytes: number;
  /** How groups of the log reach the disk. */
  readonly logWriter: LogWriterName;
  /** Time between checkpoints. */
  readonly checkpointPeriodMs: number;
  /** How long a `statement` waits for a lock before `locked`. */
  readonly lockWaitMs: number;
  /** A write set that holds more than this moves into the data file until its commit. */
  readonly spillBytes: number;
  /** A front is frozen and flushed when it holds this many bytes. */
  readonly frontBytes: number;
  /** Bytes that wait for one child before they are pushed down. */
  readonly bufferBytes: number;
  /** Whether large merges may go to the tree worker, a thread with some 45 MB of memory of its own. */
  readonly treeWorker: boolean;
  /** Functions of `update`. Files that name others are refused as `format`, when it is met. */
  readonly updates?: UpdateTable;
  /** Makes a new directory that does not open as long as `finishDirectory` was not called after it was closed. */
  readonly unfinished?: boolean;
  /** What a dictionary gets whose creator says nothing. */
  readonly dictionary: DictionaryOptions;
}

/** `from` is inside, `to` is outside; absent: no bound. */
export interface KeyRange {
  readonly from?: Uint8Array;
  readonly to?: Uint8Array;
}

export type Direction = 1 | -1;

/** Bytes [start, end) of an array. */
export interface BytesPart {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

/** Where a batch ends: whichever comes first; at least one row is given. */
export interface BatchLimit {
  readonly rows: number;
  readonly bytes: number;
}

/** Rows in order. The views are valid until the cursor's next `nextBatch`, `seek` or `close`; callers do not write to them. */
export interface Batch {
  readonly length: number;
  key(index: number): Uint8Array;
  value(index: number): Uint8Array;
  /** Length of the value, which need not be there for it; absent: `value` tells. */
  valueLength?(index: number): number;
}

/** A scan of one dictionary in one transaction: the snapshot, and the write set as it was when the scan began. */
export interface Cursor {
  /** The next rows; length 0 at the end of the range, and short of both limits only when nothing comes behind it. One call at a time. */
  nextBatch(limit: BatchLimit): Soon<Batch>;
  /** Goes on from the first row at or after `key` (at or before it, backwards), still inside the range. */
  seek(key: Uint8Array): void;
  close(): void;
}

/** Exact numbers, as callers stated them. */
export interface Totals {
  readonly rows: number;
  readonly bytes: number;
}

/** Which bytes of a value are wanted: `from` to `to` (not inside), or as many of them as there are. */
export interface ValuePart {
  readonly from: number;
  readonly to: number;
  /**
   * Memory of a `BlockHash` into which they may be read, and checked where they lie. Then they may be fewer: as many as it has room for, one at least. Without
   * it, or where they lie elsewhere nevertheless, they may be overwritten by the next call: they are done with before the caller waits for anything.
   */
  readonly memory?: Uint8Array | undefined;
}

/**
 * One transaction. All calls of one transaction come one after the other (a promise is awaited before the next call).
 * Keys and values are copied on the way in; what comes out may share memory and must not be written to.
 * After an error other than `write-conflict`, `deadlock`, `locked` from `lock`, `put` or `remove`, only `abort` is sensible.
 */
export interface Transaction {
  /** Its number in this environment, given in order of beginning. */
  readonly id: number;
  readonly mode: TransactionMode;
  readonly snapshot: Seq;
  /** Creates a dictionary with the commit; it can be written in this transaction at once. */
  createDictionary(options?: Partial<DictionaryOptions>): DictionaryId;
  /** Changes, with the commit, how a dictionary is kept from now on; what is written already stays until it is written anew (`Environment.rewrite`). */
  changeDictionary(id: DictionaryId, options: Partial<DictionaryOptions>): void;
  /** Drops a dictionary with the commit. Open snapshots go on seeing it until they end. */
  dropDictionary(id: DictionaryId): void;
  /** Own write set, then the snapshot. */
  get(id: DictionaryId, key: Uint8Array): Soon<Uint8Array | undefined>;
  /** As `get`, of a part of the value. Of a large value no more is read than that takes. */
  getPart(id: DictionaryId, key: Uint8Array, part: ValuePart): Soon<Uint8Array | undefined>;
  /** Own write set, then the newest visible version. Only for keys that this transaction has locked. */
  getLatest(id: DictionaryId, key: Uint8Array): Soon<Uint8Array | undefined>;
  /** Takes the key's lock until the transaction ends; see TransactionMode for waiting and conflicts. */
  lock(id: DictionaryId, key: Uint8Array): Soon<void>;
  /** Locks and writes. Waits while the budget has no room. */
  put(id: DictionaryId, key: Uint8Array, value: Uint8Array): Soon<void>;
  /** Locks and removes; removing what is not there is allowed. */
  remove(id: DictionaryId, key: Uint8Array): Soon<void>;
  /**
   * Locks and changes the value by a function of the environment, without reading it where that can be helped. `format`: the function is not known, or
   * does not take the argument. What it does to the totals the caller states, as for other writes.
   */
  update(id: DictionaryId, key: Uint8Array, functionNumber: number, argument: Uint8Array): Soon<void>;
  /** As put, for a key whose only writers hold another lock that this transaction has. */
  putCovered(id: DictionaryId, key: Uint8Array, value: Uint8Array): Soon<void>;
  /** The same for a key that lies in memory which is used for something else afterwards. */
  putCoveredPart(id: DictionaryId, key: BytesPart, value: Uint8Array): Soon<void>;
  removeCovered(id: DictionaryId, key: Uint8Array): Soon<void>;
  /**
   * Locks a range of keys against all other writers. A `statement` waits until no other transaction that has written to the dictionary is
   * open (`locked` after a second); in a `snapshot` such a transaction is a `write-conflict`. Who has it reads at `visible` what nobody else
   * changes.
   */
  lockRange(id: DictionaryId, range: KeyRange): Soon<void>;
  /**
   * Removes every key of the range and takes `rows` and `bytes` off the totals. A `statement` locks the range, and the caller states what is
   * there at `visible` under that lock. A `snapshot` removes, and states, what it sees: as one message where nobody else has written to the
   * dictionary since or is writing to it, else key by key, with the conflicts that this may have.
   */
  deleteRange(id: DictionaryId, range: KeyRange, rows: number, bytes: number): Soon<void>;
  /** States what this transaction changes of the dictionary's totals. */
  count(id: DictionaryId, rows: number, bytes: number): void;
  /** Totals at the snapshot, with this transaction's own deltas. */
  totals(id: DictionaryId): Totals;
  /** `keysOnly`: large values are not fetched, and no value is asked for, but its length may be. */
  cursor(id: DictionaryId, range: KeyRange, direction: Direction, keysOnly?: boolean): Cursor;
  /** A point in the write set to which `rollbackTo` takes it back; locks stay. */
  mark(): number;
  rollbackTo(mark: number): void;
  /** Resolves when the write set is durable and visible; nothing of it is visible before. `rows` come into being with it. */
  commit(rows?: StampedRows): Promise<Seq>;
  /** Forgets the write set and frees snapshot and locks. Does nothing after commit or abort. */
  abort(): void;
}

/**
 * Rows that a commit adds under keys that begin with its stamp (law 8), for a log of what happened. Both functions are called in the step in
 * which the commit gets its seq, so whoever gives rising stamps has rows in the order of commits, and a dictionary that another one has
 * followed gets no more of them. The key is the stamp and two bytes with the place among `values`.
 */
export interface StampedRows {
  dictionary(): DictionaryId;
  /** Eight bytes, greater than every one given before. */
  stamp(): Uint8Array;
  /** The value of each row. */
  readonly values: readonly Uint8Array[];
  /** What they add to the dictionary's count of rows: one of them may stand for many. */
  readonly counted: number;
  /** How those that are large values are compressed; absent: as in a dictionary whose creator says nothing. */
  readonly compression?: CompressionName;
}

/** A lock that somebody waits for now. */
export interface LockRequest {
  readonly dictionary: DictionaryId;
  /** The key; undefined: the range from `from` to `to`. */
  readonly key: Uint8Array | undefined;
  readonly range: KeyRange;
  /** Numbers of the transactions. */
  readonly requesting: number;
  readonly blocking: number | undefined;
  readonly waitedMs: number;
}

/** A transaction that is open now. */
export interface LiveTransaction {
  readonly id: number;
  readonly mode: TransactionMode;
  readonly snapshot: Seq;
  /** Keys it holds the locks of, and what it has written of late, at most as many as were asked for. */
  readonly locks: number;
  readonly written: readonly { readonly dictionary: DictionaryId; readonly key: Uint8Array }[];
}

/** What an environment counts; bytes and counts since opening unless said otherwise. */
export interface EngineStatistics {
  readonly commits: number;
  readonly aborts: number;
  readonly conflicts: number;
  readonly logBytesWritten: number;
  readonly logSyncs: number;
  readonly logGroups: number;
  readonly dataBytesWritten: number;
  readonly dataBytesRead: number;
  readonly checkpoints: number;
  readonly lastCheckpointMs: number;
  readonly jobs: number;
  /** Merges that ran in the tree worker. */
  readonly sentJobs: number;
  readonly workerDeaths: number;
  readonly cacheBytesMax: number;
  readonly cacheBytesUsed: number;
  readonly frontBytes: number;
  readonly writeSetBytes: number;
  readonly openTransactions: number;
  readonly openSnapshots: number;
  readonly dataFileBytes: number;
  readonly freeableBytes: number;
  readonly logBytesOnDisk: number;
  readonly dictionaries: number;
  /** Files of large values, what in them is referred to, and how many they are. */
  readonly blobFileBytes: number;
  readonly blobLiveBytes: number;
  readonly blobSegments: number;
  readonly blobBytesWritten: number;
  readonly blobBytesRead: number;
  /** Of those written, the ones that were moved to give space back. */
  readonly blobBytesMoved: number;
}

/** Space of one dictionary on disk now, large values included; before compression those count as they are stored. */
export interface DictionaryStatistics extends Totals {
  readonly diskBytes: number;
  readonly rawBytes: number;
  readonly height: number;
  readonly leaves: number;
  readonly options: DictionaryOptions;
}

/** One level of a tree. */
export interface TreeLevel {
  /** `fronts`: in memory, or spilled, above the root. */
  readonly kind: 'fronts' | 'nodes' | 'leaves';
  /** Levels below: 0 for the leaves. */
  readonly height: number;
  readonly nodes: number;
  /** Messages that wait here for the level below, and in how many runs. */
  readonly messages: number;
  readonly runs: number;
  /** What waits here, or lies in the leaves: bytes before compression, and on disk. */
  readonly rawBytes: number;
  readonly diskBytes: number;
  /** Part of the size that a leaf is made for, or of the children that a node is; undefined where there is none. */
  readonly fill: number | undefined;
}

/** One thing that is wrong in the files, with its place in words. */
export interface VerifyProblem {
  readonly message: string;
  readonly file?: string;
  readonly offset?: number;
  readonly dictionary?: number;
  /** The keys that it costs, as far as they are known. */
  readonly fromKey?: Uint8Array;
  readonly toKey?: Uint8Array;
}

export interface VerifyReport {
  readonly problems: readonly VerifyProblem[];
  readonly dictionaries: number;
  readonly blocks: number;
  readonly rows: number;
}

/** What a backup came to. */
export interface BackupReport {
  readonly dataBytes: number;
  readonly logBytes: number;
}

/** What a load has put into its dictionary; its totals are stated with a commit, as all are. */
export interface LoadedTotals {
  readonly rows: number;
  readonly bytes: number;
}

/** Rows on their way into a dictionary past the log; see `Environment.load`. */
export interface Load {
  /** Takes a row, in any order of keys; bytes are copied. Waits while pieces are written. */
  add(key: Uint8Array, value: Uint8Array): Soon<void>;
  /**
   * Puts all rows beneath everything that was written to the dictionary since the load began; durable when it resolves. `duplicate`: two rows
   * have one key. Whatever it fails with, nothing of it is there.
   */
  finish(): Promise<LoadedTotals>;
  /** Gives everything back. Does nothing after `finish`. */
  abort(): void;
}

/** One open data directory. */
export interface Environment {
  /** Dictionary 1: there from the first open, for those above to keep their catalog in. */
  readonly catalogDictionary: DictionaryId;
  /** The newest seq whose commit is whole in the fronts. */
  readonly visible: Seq;
  /** Resolves, once, when a write or sync failed and nothing more will be acknowledged. */
  readonly fatal: Promise<Error>;
  /** `from`: the new transaction shares that transaction's snapshot (only `read`). */
  begin(mode: TransactionMode, from?: Transaction): Transaction;
  /**
   * Begins to load a dictionary that has never been written to. Meanwhile others may write to it: what they write is newer than every row of
   * the load. Who reads it before the load has ended sees a part. A crash before the end of `finish` leaves the dictionary without the rows, and
   * what was written to it meanwhile is not to be relied on: it is to be dropped then. `companions`: how many loads, this one included, go on
   * at once and share memory.
   */
  load(id: DictionaryId, companions?: number): Load;
  /**
   * Writes every leaf of a dictionary anew, with what waited above it, as its options say now; reads and commits go on beside it. `progress` is called after
   * each step, and ends the work by throwing. `no-space`, `unknown-dictionary`.
   */
  rewrite(id: DictionaryId, progress?: () => Soon<void>): Promise<void>;
  checkpoint(): Promise<void>;
  verify(): Promise<VerifyReport>;
  /**
   * Copies the environment, while it goes on, into the directory `target`: made, or empty. What opens there has every commit that was acknowledged before
   * the call. One backup at a time. `io` when there is something already; a backup that fails leaves a directory that does not open.
   */
  backup(target: string, progress?: (bytesDone: number, bytesTotal: number) => void): Promise<BackupReport>;
  /**
   * The newest commit that wrote to the dictionary, for one who reads at `snapshot`: whoever is given the same number again sees the same rows.
   * Undefined where somebody has written since.
   */
  lastWrite(id: DictionaryId, snapshot: Seq): Seq | undefined;
  statistics(): EngineStatistics;
  /** Who waits for a lock, longest first. */
  lockRequests(): readonly LockRequest[];
  /** Open transactions, oldest first, each with at most `writtenMax` keys. */
  liveTransactions(writtenMax: number): readonly LiveTransaction[];
  dictionaryStatistics(id: DictionaryId): DictionaryStatistics;
  /** The levels of a dictionary's tree, from the top. */
  treeLevels(id: DictionaryId): Promise<readonly TreeLevel[]>;
  /** Ends background work, writes a checkpoint unless poisoned, gives the directory back. Open transactions get `closed`. */
  close(): Promise<void>;
}
