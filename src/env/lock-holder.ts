// Who holds a data directory, and whether that process still lives. A pid alone says nothing: it is used again, and in containers every
// server is pid 1. So a holder is pid, start time, boot and pid namespace; and because a pid of another namespace cannot be looked up, the
// holder also listens on a socket in the directory, which the kernel closes with the process and which any container of this machine reaches.

import * as fsp from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import type { Server } from 'node:net';
import { posix } from 'node:path';

/** A process, so that it can be told from every other one of this machine. Fields that the platform does not have are empty. */
export interface LockHolder {
  readonly pid: number;
  readonly startTime: string;
  readonly bootId: string;
  readonly pidNamespace: string;
  /** Unique for each attempt to take a lock. */
  readonly nonce: string;
}

/** What is known of a holder. `ending`: killed, but its last system calls are not over. */
export type Liveness = 'alive' | 'ending' | 'dead';

async function textOf(path: string): Promise<string> {
  return fsp.readFile(path, 'utf8').catch(() => '');
}

/** State letter and start time of a process; undefined when it is not there or not shown. */
async function processStatus(pid: number | 'self'): Promise<{ state: string; startTime: string } | undefined> {
  const text = await textOf(`/proc/${String(pid)}/stat`);
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, startTime] = [fields[0], fields[19]];
  return state === undefined || startTime === undefined ? undefined : { state, startTime };
}

async function pidNamespace(): Promise<string> {
  return fsp.readlink('/proc/self/ns/pid').catch(() => '');
}

async function bootId(): Promise<string> {
  return (await textOf('/proc/sys/kernel/random/boot_id')).trim();
}

/** This process as a holder. */
export async function ownHolder(nonce: string): Promise<LockHolder> {
  const status = await processStatus('self');
  return {
    pid: process.pid,
    startTime: status?.startTime ?? '',
    bootId: await bootId(),
    pidNamespace: await pidNamespace(),
    nonce,
  };
}

/** The text of a LOCK file. */
export function encodeHolder(holder: LockHolder): string {
  return `${JSON.stringify(holder)}\n`;
}

/** The holder that a LOCK file names; undefined when the text is damaged, as a power failure may leave it. */
export function decodeHolder(text: string): LockHolder | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof parsed !== 'object' || parsed === null) return undefined;
  const field = new Map<string, unknown>(Object.entries(parsed));
  const pid = field.get('pid');
  const nonce = field.get('nonce');
  if (!Number.isSafeInteger(pid) || typeof nonce !== 'string' || !/^[0-9a-f]+$/.test(nonce)) return undefined;
  const word = (name: string): string => {
    const value = field.get(name);
    return typeof value === 'string' ? value : '';
  };
  return { pid: Number(pid), startTime: word('startTime'), bootId: word('bootId'), pidNamespace: word('pidNamespace'), nonce };
}

/** Whether the process that took the lock in `directory` still lives. In doubt the socket decides. */
export async function livenessOf(holder: LockHolder, directory: string): Promise<Liveness> {
  const boot = await bootId();
  if (boot !== '' && holder.bootId !== '' && boot !== holder.bootId) return 'dead';
  if (holder.pidNamespace !== '' && holder.pidNamespace === (await pidNamespace())) {
    const status = await processStatus(holder.pid);
    if (status !== undefined) return status.startTime === holder.startTime ? livenessByState(holder.pid, status.state) : 'dead';
    if (!mayExist(holder.pid)) return 'dead';
  } else if (holder.pidNamespace === '' && holder.bootId === '') {
    return mayExist(holder.pid) ? 'alive' : 'dead';
  }
  return (await answers(directory, holder.nonce)) ? 'alive' : 'dead';
}

/** A killed process is a zombie at once, but its other threads may still be inside a write. */
async function livenessByState(pid: number, state: string): Promise<Liveness> {
  if (state !== 'Z' && state !== 'X') return 'alive';
  const threads = await fsp.readdir(`/proc/${String(pid)}/task`).catch(() => []);
  return threads.length > 1 ? 'ending' : 'dead';
}

function mayExist(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

function socketName(nonce: string): string {
  return `LOCK.${nonce}.socket`;
}

/** Runs `use` with a short path of the directory: socket paths have 108 bytes at most, so it goes through an open descriptor. */
async function withShortPath<T>(directory: string, use: (path: string) => Promise<T>): Promise<T> {
  const handle = await fsp.open(directory, 'r');
  try {
    return await use(process.platform === 'linux' ? `/proc/self/fd/${String(handle.fd)}` : directory);
  } finally {
    await handle.close();
  }
}

async function answers(directory: string, nonce: string): Promise<boolean> {
  return withShortPath(directory, async (path) => {
    return new Promise<boolean>((resolve) => {
      const socket = connect(posix.join(path, socketName(nonce)));
      const settle = (alive: boolean): void => {
        socket.destroy();
        resolve(alive);
      };
      socket.once('connect', () => { settle(true); });
      socket.once('error', () => { settle(false); });
    });
  });
}

/** Answers for the life of this process. Resolves with undefined where the file system has no sockets: then only the pid speaks. */
export async function listenAsHolder(directory: string, nonce: string): Promise<Server | undefined> {
  return withShortPath(directory, async (path) => {
    return new Promise<Server | undefined>((resolve) => {
      const server = createServer((socket) => { socket.destroy(); });
      server.unref();
      server.once('error', () => { resolve(undefined); });
      server.listen(posix.join(path, socketName(nonce)), () => { resolve(server); });
    });
  });
}

/** Stops answering and removes the socket. */
export async function stopListening(server: Server | undefined, directory: string, nonce: string): Promise<void> {
  if (server !== undefined) await new Promise<void>((resolve) => { server.close(() => { resolve(); }); });
  await fsp.rm(posix.join(directory, socketName(nonce)), { force: true });
}
