// Facts about the machine and the process. The memory limit is the one that kills: the cgroup's (version 2 or 1) where there is one below
// the machine's memory, found once at the start.

import { readFile } from 'node:fs/promises';
import * as os from 'node:os';
import { posix } from 'node:path';
import type { Host } from './env.ts';

async function numberIn(path: string): Promise<number> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const value = Number.parseInt(text, 10);
  return Number.isFinite(value) && value > 0 ? value : Infinity;
}

/** The files that may hold a limit for a process with this `/proc/self/cgroup`: its own group's and those of all groups above. */
export function cgroupLimitFiles(membership: string): string[] {
  const files: string[] = [];
  for (const line of membership.split('\n')) {
    const [id, controllers, ...rest] = line.split(':');
    const group = rest.join(':');
    const isSecond = id === '0' && controllers === '';
    if (!isSecond && controllers?.split(',').includes('memory') !== true) continue;
    const [root, name] = isSecond ? ['/sys/fs/cgroup', 'memory.max'] : ['/sys/fs/cgroup/memory', 'memory.limit_in_bytes'];
    for (let at = posix.resolve('/', group); ; at = posix.dirname(at)) {
      files.push(posix.join(root, at, name));
      if (at === '/') break;
    }
  }
  return files;
}

async function memoryLimit(machineBytes: number): Promise<number> {
  const membership = await readFile('/proc/self/cgroup', 'utf8').catch(() => '');
  const limits = await Promise.all(cgroupLimitFiles(membership).map(numberIn));
  return Math.min(machineBytes, ...limits);
}

/** Reads the facts that do not change. */
export async function readHost(): Promise<Host> {
  const memoryBytes = os.totalmem();
  return {
    pid: process.pid,
    hostname: os.hostname(),
    platform: os.platform(),
    architecture: os.arch(),
    release: os.release(),
    cpus: os.availableParallelism(),
    memoryBytes,
    memoryLimitBytes: await memoryLimit(memoryBytes),
    runtimeVersion: process.version,
    residentBytes: () => process.memoryUsage.rss(),
    cpuMs: () => {
      const { user, system } = process.cpuUsage();
      return { user: user / 1000, system: system / 1000 };
    },
  };
}
