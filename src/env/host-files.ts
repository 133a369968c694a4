// The real file system, on Node's callback API: one promise an operation and no object a call. Short reads and writes are continued until
// all is done, so a caller never sees one. What the operating system refuses becomes an EngineError with file and offset. A descriptor is
// closed only when its last operation is over: a number that the kernel gave to another file meanwhile must never be written to.

import * as fs from 'node:fs';
import * as fsp from 'node:fs/promises';
import { posix } from 'node:path';
import { promisify } from 'node:util';
import { lockForReading, takeDirectoryLock } from './directory-lock.ts';
import { closedError, hostError, pathError } from './file-errors.ts';
import type { DirectoryLock, DiskSpace, File, FileSystem, OpenMode, OpenOptions } from './file-system.ts';
import { bytesPassed } from './garbage.ts';
import { readWholeFile, replaceWholeFile } from './whole-file.ts';

const { O_CREAT, O_DSYNC, O_EXCL, O_RDONLY, O_RDWR } = fs.constants;

const openFlags: Readonly<Record<OpenMode, number>> = {
  read: O_RDONLY,
  write: O_RDWR | O_CREAT,
  create: O_RDWR | O_CREAT | O_EXCL,
};

/** Data files are nobody else's to read. */
const fileMode = 0o600;
const directoryMode = 0o700;

/** One level at a time: Node's recursive mkdir never returns where the kernel says that the parent is not there although it is, as in /proc. */
async function makeWithParents(path: string): Promise<void> {
  try {
    await fsp.mkdir(path, { mode: directoryMode });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EEXIST' && (await fsp.stat(path)).isDirectory()) return;
    const parent = posix.dirname(path);
    if (code !== 'ENOENT' || parent === path || (await isThere(parent))) throw error;
    await makeWithParents(parent);
    await fsp.mkdir(path, { mode: directoryMode });
  }
}

/** Most buffers that one gathered write takes (IOV_MAX). */
const gatherMax = 1024;

const openDescriptor = promisify(fs.open);
const closeDescriptor = promisify(fs.close);

/** Longer reads are never done at once. From the memory of the system this takes a tenth of a millisecond. */
const readNowMax = 576 * 1024;
/** A read that takes longer, or than that for each MiB, came from the disk, or the machine is busy. */
const quickMs = 0.5;
const quickMsPerByte: number = 1 / (1024 * 1024);
const pauseFirst = 4;
const pauseMax = 1024;

/**
 * Whether the next read is likely to find its bytes in the memory of the system. There it costs a few microseconds, and a promise tens; on a
 * disk it would hold everybody up. After a slow one so many are not tried, twice as many if the one tried then is slow again; and half as many for each
 * quick one, for on a busy machine a read may be slow because others had the processor.
 */
class QuickReads {
  #pause = pauseFirst;
  #left = 0;

  mayTry(): boolean {
    if (this.#left === 0) return true;
    this.#left -= 1;
    return false;
  }

  took(ms: number, bytes: number): void {
    if (ms < quickMs + bytes * quickMsPerByte) {
      this.#pause = Math.max(pauseFirst, this.#pause >>> 1);
      return;
    }
    this.#left = this.#pause;
    this.#pause = Math.min(this.#pause * 2, pauseMax);
  }
}

class HostFile implements File {
  readonly path: string;
  readonly #descriptor: number;
  readonly #quick = new QuickReads();
  #outstanding = 0;
  #closing = false;
  #drained: (() => void) | undefined;
  #closed: Promise<void> | undefined;

  constructor(path: string, descriptor: number) {
    this.path = path;
    this.#descriptor = descriptor;
  }

  async read(target: Uint8Array, offset: number): Promise<number> {
    bytesPassed(target.length);
    let done = 0;
    while (done < target.length) {
      const length = await this.#run<number>(
        (callback) => { fs.read(this.#descriptor, target, done, target.length - done, offset + done, callback); },
        offset + done,
      );
      if (length === 0) break;
      done += length;
    }
    return done;
  }

  readNow(target: Uint8Array, offset: number): number | undefined {
    if (this.#closing || target.length > readNowMax || !this.#quick.mayTry()) return undefined;
    bytesPassed(target.length);
    const begun = performance.now();
    try {
      let done = 0;
      while (done < target.length) {
        const length = fs.readSync(this.#descriptor, target, done, target.length - done, offset + done);
        if (length === 0) break;
        done += length;
      }
      return done;
    } catch {
      // `read` meets it again and says what it is.
      return undefined;
    } finally {
      this.#quick.took(performance.now() - begun, target.length);
    }
  }

  async write(source: Uint8Array, offset: number): Promise<void> {
    bytesPassed(source.length);
    let done = 0;
    while (done < source.length) {
      const length = await this.#run<number>(
        (callback) => { fs.write(this.#descriptor, source, done, source.length - done, offset + done, callback); },
        offset + done,
      );
      if (length === 0) throw pathError(this.path, 'the system wrote nothing');
      done += length;
    }
  }

  writeNow(source: Uint8Array, offset: number): void {
    if (this.#closing) throw closedError(this.path);
    let done = 0;
    try {
      while (done < source.length) {
        const length = fs.writeSync(this.#descriptor, source, done, source.length - done, offset + done);
        if (length === 0) throw pathError(this.path, 'the system wrote nothing');
        done += length;
      }
    } catch (error) {
      throw hostError(error, this.path, offset + done);
    }
  }

  async writev(sources: readonly Uint8Array[], offset: number): Promise<void> {
    let pending = sources.filter((source) => source.length > 0);
    let at = offset;
    while (pending.length > 0) {
      const some = pending.slice(0, gatherMax);
      const written = await this.#run<number>((callback) => { fs.writev(this.#descriptor, some, at, callback); }, at);
      if (written === 0) throw pathError(this.path, 'the system wrote nothing');
      pending = dropBytes(pending, written);
      at += written;
    }
  }

  async sync(whole: boolean = false): Promise<void> {
    await this.#run((callback) => { (whole ? fs.fsync : fs.fdatasync)(this.#descriptor, callback); });
  }

  async size(): Promise<number> {
    const stats = await this.#run<fs.Stats>((callback) => { fs.fstat(this.#descriptor, callback); });
    return stats.size;
  }

  async truncate(size: number): Promise<void> {
    await this.#run((callback) => { fs.ftruncate(this.#descriptor, size, callback); }, size);
  }

  async close(): Promise<void> {
    this.#closing = true;
    this.#closed ??= this.#drain().then(async () => {
      await guard(closeDescriptor(this.#descriptor), this.path);
    });
    await this.#closed;
  }

  async #drain(): Promise<void> {
    if (this.#outstanding === 0) return;
    await new Promise<void>((resolve) => {
      this.#drained = resolve;
    });
  }

  /** One system call: counted, so that close waits for it, and its error translated. */
  #run<T = void>(call: (callback: (error: NodeJS.ErrnoException | null, result?: T) => void) => void, offset?: number): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#closing) {
        reject(closedError(this.path));
        return;
      }
      this.#outstanding++;
      call((error, result) => {
        this.#outstanding--;
        if (this.#outstanding === 0) this.#drained?.();
        if (error) reject(hostError(error, this.path, offset));
        else resolve(result as T);
      });
    });
  }
}

/** What is left of the sources when their first `length` bytes are written. */
function dropBytes(sources: readonly Uint8Array[], length: number): Uint8Array[] {
  let index = 0;
  let rest = length;
  while (index < sources.length && rest >= (sources[index] as Uint8Array).length) rest -= (sources[index++] as Uint8Array).length;
  const left = sources.slice(index);
  const first = left[0];
  if (first !== undefined && rest > 0) left[0] = first.subarray(rest);
  return left;
}

async function guard<T>(operation: Promise<T>, path: string): Promise<T> {
  try {
    return await operation;
  } catch (cause) {
    throw hostError(cause, path);
  }
}

/** The files of this machine. */
export class HostFiles implements FileSystem {
  async open(path: string, mode: OpenMode, options: OpenOptions = {}): Promise<File> {
    const flags = openFlags[mode] | (options.durableWrites === true ? O_DSYNC : 0);
    return new HostFile(path, await guard(openDescriptor(path, flags, fileMode), path));
  }

  async makeDirectory(path: string): Promise<void> {
    await guard(makeWithParents(path), path);
  }

  async list(path: string): Promise<string[]> {
    return (await guard(fsp.readdir(path), path)).sort();
  }

  async remove(path: string): Promise<void> {
    await guard(removeEntry(path), path);
  }

  async rename(from: string, to: string): Promise<void> {
    await guard(fsp.rename(from, to), from);
  }

  async exists(path: string): Promise<boolean> {
    return guard(isThere(path), path);
  }

  async syncDirectory(path: string): Promise<void> {
    await guard(syncEntries(path), path);
  }

  async readAll(path: string): Promise<Uint8Array> {
    return readWholeFile(this, path);
  }

  async writeWhole(path: string, content: Uint8Array): Promise<void> {
    return replaceWholeFile(this, path, content);
  }

  async space(path: string): Promise<DiskSpace> {
    const { bavail, blocks, bsize } = await guard(fsp.statfs(path), path);
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
  }

  async lockDirectory(path: string, use?: 'reading'): Promise<DirectoryLock> {
    return guard(use === 'reading' ? lockForReading(path) : takeDirectoryLock(path), posix.join(path, 'LOCK'));
  }
}

const missingCodes: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR']);

async function isThere(path: string): Promise<boolean> {
  try {
    await fsp.lstat(path);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && missingCodes.has(error.code)) return false;
    throw error;
  }
}

async function removeEntry(path: string): Promise<void> {
  const stats = await fsp.lstat(path);
  await (stats.isDirectory() ? fsp.rmdir(path) : fsp.unlink(path));
}

async function syncEntries(path: string): Promise<void> {
  const directory = await fsp.open(path, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
