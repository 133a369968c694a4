// The real environment, and the one whose files live in memory. Made once, at the start of the process, by whoever composes the parts.

import { loadCodecs } from './codec-table.ts';
import type { Env } from './env.ts';
import { HostFiles } from './host-files.ts';
import { readHost } from './host.ts';
import { HostClock, HostRandom, HostTasks } from './host-tasks.ts';
import { MemoryFiles } from './memory-files.ts';

/** This machine: its files, clock, randomness and processors. */
export async function openHostEnv(): Promise<Env> {
  return {
    files: new HostFiles(),
    clock: new HostClock(),
    random: new HostRandom(),
    tasks: new HostTasks(),
    codecs: await loadCodecs(),
    host: await readHost(),
  };
}

/** This machine, but with a file system of its own in memory, empty at first: nothing survives the process. */
export async function openMemoryEnv(): Promise<Env> {
  const env = await openHostEnv();
  return { ...env, files: new MemoryFiles({ capacityBytes: env.host.memoryLimitBytes, pid: env.host.pid }) };
}
