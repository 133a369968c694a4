// The LOCK file of a data directory (engine.md, section 4). A lock is never stolen from a live process, also when several start at once on a
// dead one's lock; a dead one's lock never stops a start. How, without help of the kernel: locks form a chain. LOCK names its holder. When
// that one is dead, whoever first creates LOCK.<its nonce>.next holds the directory, if the chain from LOCK still leads there afterwards;
// then it renames that file over LOCK. Every file of the chain appears whole (linked, not written in place).

import { randomBytes } from 'node:crypto';
import * as fsp from 'node:fs/promises';
import type { Server } from 'node:net';
import { posix } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { lockedError, pathError } from './file-errors.ts';
import type { DirectoryLock } from './file-system.ts';
import { decodeHolder, encodeHolder, listenAsHolder, livenessOf, ownHolder, stopListening } from './lock-holder.ts';
import type { LockHolder } from './lock-holder.ts';

const lockName = 'LOCK';
const attemptsMax = 500;
const retryMs = 10;

/** Left-over files of attempts that died are removed when they are older than this. */
const abandonedMs = 60_000;

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** Where a walk along the chain ended: at a free name, at our own lock, or at a holder that is being killed. */
type WalkEnd = { readonly at: 'free' | 'own'; readonly name: string } | { readonly at: 'ending' };

class LockAttempt {
  readonly #directory: string;
  readonly #own: LockHolder;
  readonly #passed: string[] = [];

  constructor(directory: string, own: LockHolder) {
    this.#directory = directory;
    this.#own = own;
  }

  get #draft(): string {
    return this.#path(`${lockName}.${this.#own.nonce}.new`);
  }

  /** Holds the lock when it resolves; `locked` when a live process has it. */
  async take(): Promise<void> {
    await fsp.writeFile(this.#draft, encodeHolder(this.#own), { mode: 0o600 });
    try {
      for (let attempt = 0; attempt < attemptsMax; attempt++) {
        const claimed = await this.#try();
        if (claimed !== undefined) {
          if (claimed !== lockName) await fsp.rename(this.#path(claimed), this.#path(lockName));
          await this.#clean();
          return;
        }
        await delay(retryMs);
      }
    } finally {
      await fsp.rm(this.#draft, { force: true });
    }
    throw pathError(this.#path(lockName), 'the lock could not be taken: others come and go without end');
  }

  /** `locked` when a live process has the directory; takes nothing. */
  async look(): Promise<void> {
    await this.#walk();
  }

  /** The name under which the lock is ours now, or undefined when another attempt came between. */
  async #try(): Promise<string | undefined> {
    const end = await this.#walk();
    if (end.at !== 'free') return undefined;
    if (!(await this.#claim(end.name))) return undefined;
    const again = await this.#walk().catch(async (error: unknown) => {
      await this.#withdraw(end.name);
      throw error;
    });
    if (again.at === 'own' && again.name === end.name) return end.name;
    await this.#withdraw(end.name);
    return undefined;
  }

  async #walk(): Promise<WalkEnd> {
    let name = lockName;
    for (let depth = 0; depth < attemptsMax; depth++) {
      const text = await this.#read(name);
      if (text === undefined) return { at: 'free', name };
      const holder = decodeHolder(text);
      if (holder?.nonce === this.#own.nonce) return { at: 'own', name };
      if (holder !== undefined) {
        const liveness = await livenessOf(holder, this.#directory);
        if (liveness === 'alive') throw lockedError(this.#directory, holder.pid);
        if (liveness === 'ending') return { at: 'ending' };
        this.#passed.push(holder.nonce);
      }
      name = `${lockName}.${holder?.nonce ?? `damaged-${String(depth)}`}.next`;
    }
    throw pathError(this.#path(lockName), 'the chain of dead locks does not end');
  }

  /** The text of a lock file; undefined when there is none. One that is damaged is given a moment: it may be in the making. */
  async #read(name: string): Promise<string | undefined> {
    for (let attempt = 0; ; attempt++) {
      try {
        const text = await fsp.readFile(this.#path(name), 'utf8');
        if (decodeHolder(text) !== undefined || attempt === 5) return text;
      } catch (error) {
        if (codeOf(error) === 'ENOENT') return undefined;
        throw error;
      }
      await delay(retryMs);
    }
  }

  /** Creates `name` with our text, whole, if it is not there. */
  async #claim(name: string): Promise<boolean> {
    try {
      await fsp.link(this.#draft, this.#path(name));
      return true;
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false;
      if (!linkUnsupported.has(codeOf(error))) throw error;
    }
    try {
      await fsp.writeFile(this.#path(name), encodeHolder(this.#own), { flag: 'wx', mode: 0o600 });
      return true;
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false;
      throw error;
    }
  }

  async #withdraw(name: string): Promise<void> {
    const text = await this.#read(name);
    if (text !== undefined && decodeHolder(text)?.nonce === this.#own.nonce) await fsp.rm(this.#path(name), { force: true });
  }

  /** Removes what dead holders and dead attempts left. */
  async #clean(): Promise<void> {
    const dead = new Set(this.#passed);
    const now = Date.now();
    for (const name of await fsp.readdir(this.#directory)) {
      const [first, nonce] = name.split('.');
      if (first !== lockName || nonce === undefined || nonce === this.#own.nonce) continue;
      const path = this.#path(name);
      const stats = await fsp.lstat(path).catch(() => undefined);
      if (stats !== undefined && (dead.has(nonce) || now - stats.mtimeMs > abandonedMs)) await fsp.rm(path, { force: true });
    }
  }

  #path(name: string): string {
    return posix.join(this.#directory, name);
  }
}

/** What file systems without hard links answer. */
const linkUnsupported: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/** Takes the directory for this process until `release` or its death. EngineError `locked` when a live process has it, this one included. */
export async function takeDirectoryLock(directory: string): Promise<DirectoryLock> {
  const own = await ownHolder(randomBytes(8).toString('hex'));
  const server = await listenAsHolder(directory, own.nonce);
  try {
    await new LockAttempt(directory, own).take();
  } catch (error) {
    await stopListening(server, directory, own.nonce);
    throw error;
  }
  return { release: async () => releaseLock(directory, own, server) };
}

/** What answers say that nothing can be written: a file system mounted for reading, another user's directory, a full disk. */
const unwritable: ReadonlySet<string> = new Set(['EROFS', 'EACCES', 'EPERM', 'ENOSPC', 'EDQUOT']);

/** As `takeDirectoryLock`, for one who only reads: where no lock can be written it is enough that no live process has the directory. */
export async function lockForReading(directory: string): Promise<DirectoryLock> {
  try {
    return await takeDirectoryLock(directory);
  } catch (error) {
    if (!unwritable.has(codeOf(error))) throw error;
    await new LockAttempt(directory, await ownHolder(randomBytes(8).toString('hex'))).look();
    return { release: async () => Promise.resolve() };
  }
}

async function releaseLock(directory: string, own: LockHolder, server: Server | undefined): Promise<void> {
  const path = posix.join(directory, lockName);
  const text = await fsp.readFile(path, 'utf8').catch(() => '');
  if (decodeHolder(text)?.nonce === own.nonce) await fsp.rm(path, { force: true });
  await stopListening(server, directory, own.nonce);
}
