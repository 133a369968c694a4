// Files as the product sees them: positioned reads and writes, explicit durability, nothing implied. Every method states what a crash may
// take from it, because the simulator takes all of that. Three implementations keep one contract suite (`test/contract/`): real files,
// memory, and the crashing simulator. Errors are EngineError: `no-space` when the disk is full, `locked` for a directory in use, `io` for
// the rest, with file and offset in `place`. Paths are plain strings with `/`; whoever asks for a file names its whole path.

/** How a file is opened. `read`: must exist. `write`: existing or new, read and write. `create`: must not exist, read and write. */
export type OpenMode = 'read' | 'write' | 'create';

/** Choices at open. `durableWrites`: each write is as durable as write followed by `sync` when it resolves (O_DSYNC). */
export interface OpenOptions {
  readonly durableWrites?: boolean;
}

/** One open file. Several operations may be outstanding; those that overlap in range have no order unless the caller awaits. */
export interface File {
  readonly path: string;
  /** Fills `target` from `offset`; resolves with the bytes read, fewer than asked for only where the file ends. */
  read(target: Uint8Array, offset: number): Promise<number>;
  /** As `read`, before it returns; undefined, with nothing read that counts, where that may take long or fails: then `read` tells. */
  readNow(target: Uint8Array, offset: number): number | undefined;
  /** Writes all of `source` at `offset`; bytes between the old end and `offset` become zero. Not durable before `sync`. `source` must not change meanwhile. */
  write(source: Uint8Array, offset: number): Promise<void>;
  /** As `write`, done when it returns: for few bytes, where waiting for another thread costs more. Absent where that cannot be. */
  writeNow?(source: Uint8Array, offset: number): void;
  /** Writes the sources one after the other from `offset` on, as one gathered write. Not atomic: a crash may keep any part. */
  writev(sources: readonly Uint8Array[], offset: number): Promise<void>;
  /** Makes durable what was written, and the size, before this call. The name of a new file is not: see `syncDirectory`. A failed sync must not be tried again. `whole`: times and all that is kept of the file, too. */
  sync(whole?: boolean): Promise<void>;
  size(): Promise<number>;
  /** Cuts or extends (with zeros) to `size` bytes. Durable after `sync`. */
  truncate(size: number): Promise<void>;
  /** Does not sync. Waits for nothing; later operations fail with `closed`. Closing twice is allowed. */
  close(): Promise<void>;
}

/** The right to use a directory, held until `release` or the end of the process. */
export interface DirectoryLock {
  release(): Promise<void>;
}

/** Room on a file system, in bytes. */
export interface DiskSpace {
  /** What this process could still write. */
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** A tree of directories and files. */
export interface FileSystem {
  open(path: string, mode: OpenMode, options?: OpenOptions): Promise<File>;
  /** Makes the directory and its missing parents; one that is there is left alone. New entries are durable after `syncDirectory` of each parent. */
  makeDirectory(path: string): Promise<void>;
  /** Names in the directory (files and directories), sorted, without `.` and `..`. */
  list(path: string): Promise<string[]>;
  /** Removes a file or an empty directory; missing is an error. Durable after `syncDirectory` of the parent; until then a crash may bring it back. */
  remove(path: string): Promise<void>;
  /** Moves a file, replacing `to` in one step. Durable after `syncDirectory` of the parents. Does not sync the file's content. */
  rename(from: string, to: string): Promise<void>;
  exists(path: string): Promise<boolean>;
  /** Makes the directory's entries (created, renamed, removed) durable. */
  syncDirectory(path: string): Promise<void>;
  /** The whole content of a file. */
  readAll(path: string): Promise<Uint8Array>;
  /** Replaces the file's content in one durable step: temporary file, sync, rename, syncDirectory. A crash leaves the old or the new whole. */
  writeWhole(path: string, content: Uint8Array): Promise<void>;
  /** Room on the file system that holds `path`. */
  space(path: string): Promise<DiskSpace>;
  /**
   * Takes the directory for this process, LOCK file and all. In use, also by this process itself: `locked` with the holder's pid in `place`. Who only
   * reads need not be able to write there: then it is looked whether somebody has it.
   */
  lockDirectory(path: string, use?: 'reading'): Promise<DirectoryLock>;
}
