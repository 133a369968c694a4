// Directories and the names in them, without content and without time: what in-memory files and the simulator share. A path is absolute or
// taken from the root; `.` and empty components fall away. The root is always there. Errors are those of the FileSystem contract.

import { posix } from 'node:path';
import { pathError } from './file-errors.ts';

type Entries<F> = Map<string, F | 'directory'>;

/** A path in its one spelling. */
export function normalPath(path: string): string {
  return posix.resolve('/', path);
}

/** A tree whose files are values of `F`. All paths are normal. */
export class FileTree<F extends object> {
  readonly #directories: Map<string, Entries<F>>;

  constructor(directories?: Map<string, Entries<F>>) {
    this.#directories = directories ?? new Map<string, Entries<F>>([['/', new Map()]]);
  }

  /** A tree of the same names; `translate` gives the file of each old one. */
  clone(translate: (file: F) => F = (file) => file): FileTree<F> {
    const directories = new Map<string, Entries<F>>();
    for (const [path, entries] of this.#directories) {
      const copies: Entries<F> = new Map();
      for (const [name, entry] of entries) copies.set(name, entry === 'directory' ? entry : translate(entry));
      directories.set(path, copies);
    }
    return new FileTree(directories);
  }

  /** The file at a path; undefined when there is nothing or a directory. */
  file(path: string): F | undefined {
    const entry = this.#directories.get(posix.dirname(path))?.get(posix.basename(path));
    return entry === 'directory' ? undefined : entry;
  }

  isDirectory(path: string): boolean {
    return this.#directories.has(path);
  }

  list(path: string): string[] {
    return [...this.#directory(path).keys()].sort();
  }

  /** Every file of the tree with its path. */
  files(): [string, F][] {
    const found: [string, F][] = [];
    for (const [path, entries] of this.#directories)
      for (const [name, entry] of entries) if (entry !== 'directory') found.push([posix.join(path, name), entry]);
    return found;
  }

  /** Gives a file its name, in place of another file if there is one. */
  link(path: string, file: F): void {
    const entries = this.#directory(posix.dirname(path));
    if (this.isDirectory(path)) throw pathError(path, 'is a directory');
    entries.set(posix.basename(path), file);
  }

  /** Takes a name away: of a file, or of an empty directory. */
  unlink(path: string): void {
    const entries = this.#directory(posix.dirname(path));
    if (!entries.has(posix.basename(path))) throw pathError(path, 'no such file or directory');
    const inside = this.#directories.get(path);
    if (inside !== undefined && inside.size > 0) throw pathError(path, 'directory is not empty');
    this.#directories.delete(path);
    entries.delete(posix.basename(path));
  }

  /** Makes one directory in a parent that is there; false when it is there already. */
  makeDirectory(path: string): boolean {
    if (this.isDirectory(path)) return false;
    const entries = this.#directory(posix.dirname(path));
    if (entries.has(posix.basename(path))) throw pathError(path, 'is a file');
    entries.set(posix.basename(path), 'directory');
    this.#directories.set(path, new Map());
    return true;
  }

  /** The directories from below the root to `path`, outermost first. */
  static ancestry(path: string): string[] {
    const steps: string[] = [];
    for (let at = path; at !== '/'; at = posix.dirname(at)) steps.unshift(at);
    return steps;
  }

  #directory(path: string): Entries<F> {
    const entries = this.#directories.get(path);
    if (entries === undefined) throw pathError(path, 'no such directory');
    return entries;
  }
}
