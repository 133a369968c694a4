// What a process used: processor time, most resident memory, bytes it had written to disk. Linux only.

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Seconds of processor time, MB of most resident memory, MB written. */
export interface Used {
  readonly cpuS: number;
  readonly peakMb: number;
  readonly writtenMb: number;
}

/** What a process has used since it began. */
export function usedBy(pid: number): Used {
  const fields = readFileSync(`/proc/${String(pid)}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  const status = readFileSync(`/proc/${String(pid)}/status`, 'utf8');
  const io = readFileSync(`/proc/${String(pid)}/io`, 'utf8');
  return {
    cpuS: (Number(fields[11]) + Number(fields[12])) / 100,
    peakMb: Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024,
    writtenMb: Number(/write_bytes: (\d+)/.exec(io)?.[1] ?? 0) / 1e6,
  };
}

/** MB of all files below a directory whose path has one of the parts. */
export function sizeMb(directory: string, parts: readonly string[] = ['']): number {
  let bytes = 0;
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    if (parts.some((part) => path.includes(part))) bytes += statSync(path).blocks * 512;
  }
  return bytes / 1e6;
}
