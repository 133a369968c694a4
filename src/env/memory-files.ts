// Files in memory: for tests that need no faults, and for a server that keeps nothing. The whole FileSystem contract except that there is
// nothing to be durable: the end of the process takes everything. Contents are paged, so growth costs no copies.

import type { DirectoryLock, DiskSpace, File, FileSystem, OpenMode } from './file-system.ts';
import { closedError, lockedError, pathError } from './file-errors.ts';
import { FileTree, normalPath } from './file-tree.ts';
import { PagedBytes } from './paged-bytes.ts';
import { readWholeFile, replaceWholeFile } from './whole-file.ts';

const pageBytes = 16 * 1024;

class MemoryFile implements File {
  readonly path: string;
  readonly #content: PagedBytes;
  readonly #writable: boolean;
  #closed = false;

  constructor(path: string, content: PagedBytes, writable: boolean) {
    this.path = path;
    this.#content = content;
    this.#writable = writable;
  }

  async read(target: Uint8Array, offset: number): Promise<number> {
    this.#check(false);
    return Promise.resolve(this.#content.read(target, offset));
  }

  readNow(target: Uint8Array, offset: number): number {
    this.#check(false);
    return this.#content.read(target, offset);
  }

  async write(source: Uint8Array, offset: number): Promise<void> {
    this.#check(true);
    this.#content.write(source, offset);
    return Promise.resolve();
  }

  async writev(sources: readonly Uint8Array[], offset: number): Promise<void> {
    this.#check(true);
    let at = offset;
    for (const source of sources) {
      this.#content.write(source, at);
      at += source.length;
    }
    return Promise.resolve();
  }

  async sync(): Promise<void> {
    this.#check(false);
    return Promise.resolve();
  }

  async size(): Promise<number> {
    this.#check(false);
    return Promise.resolve(this.#content.size);
  }

  async truncate(size: number): Promise<void> {
    this.#check(true);
    this.#content.truncate(size);
    return Promise.resolve();
  }

  async close(): Promise<void> {
    this.#closed = true;
    return Promise.resolve();
  }

  #check(writes: boolean): void {
    if (this.#closed) throw closedError(this.path);
    if (writes && !this.#writable) throw pathError(this.path, 'opened for reading only');
  }
}

/** A file system of its own, empty at first. `capacityBytes` is what `space` says; it is not enforced. */
export class MemoryFiles implements FileSystem {
  readonly #tree = new FileTree<PagedBytes>();
  readonly #locked = new Set<string>();
  readonly #capacityBytes: number;
  readonly #pid: number;

  constructor(options: { readonly capacityBytes: number; readonly pid: number }) {
    this.#capacityBytes = options.capacityBytes;
    this.#pid = options.pid;
  }

  async open(path: string, mode: OpenMode): Promise<File> {
    const name = normalPath(path);
    let content = this.#tree.file(name);
    if (content !== undefined && mode === 'create') throw pathError(path, 'exists already');
    if (content === undefined) {
      if (this.#tree.isDirectory(name)) throw pathError(path, 'is a directory');
      if (mode === 'read') throw pathError(path, 'no such file or directory');
      content = new PagedBytes(pageBytes);
      this.#tree.link(name, content);
    }
    return Promise.resolve(new MemoryFile(path, content, mode !== 'read'));
  }

  async makeDirectory(path: string): Promise<void> {
    for (const step of FileTree.ancestry(normalPath(path))) this.#tree.makeDirectory(step);
    return Promise.resolve();
  }

  async list(path: string): Promise<string[]> {
    return Promise.resolve(this.#tree.list(normalPath(path)));
  }

  async remove(path: string): Promise<void> {
    this.#tree.unlink(normalPath(path));
    return Promise.resolve();
  }

  async rename(from: string, to: string): Promise<void> {
    const content = this.#tree.file(normalPath(from));
    if (content === undefined) throw pathError(from, 'no such file');
    this.#tree.link(normalPath(to), content);
    if (normalPath(from) !== normalPath(to)) this.#tree.unlink(normalPath(from));
    return Promise.resolve();
  }

  async exists(path: string): Promise<boolean> {
    const name = normalPath(path);
    return Promise.resolve(this.#tree.isDirectory(name) || this.#tree.file(name) !== undefined);
  }

  async syncDirectory(path: string): Promise<void> {
    this.#tree.list(normalPath(path));
    return Promise.resolve();
  }

  async readAll(path: string): Promise<Uint8Array> {
    return readWholeFile(this, path);
  }

  async writeWhole(path: string, content: Uint8Array): Promise<void> {
    return replaceWholeFile(this, path, content);
  }

  async space(path: string): Promise<DiskSpace> {
    let used = 0;
    for (const [, content] of this.#tree.files()) used += content.residentBytes;
    if (!(await this.exists(path))) throw pathError(path, 'no such file or directory');
    return { freeBytes: Math.max(0, this.#capacityBytes - used), totalBytes: this.#capacityBytes };
  }

  async lockDirectory(path: string): Promise<DirectoryLock> {
    const name = normalPath(path);
    this.#tree.list(name);
    if (this.#locked.has(name)) throw lockedError(path, this.#pid);
    this.#locked.add(name);
    const release = async (): Promise<void> => {
      this.#locked.delete(name);
      return Promise.resolve();
    };
    return Promise.resolve({ release });
  }
}
