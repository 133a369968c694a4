// What the experiments measure: processor time of all threads of a process, bytes it sent to storage, its resident memory; and the random numbers
// that make the rows, the same in every run. The time that making rows takes on the main thread is measured too and taken off.

import { readFileSync } from 'node:fs';

let state = 12_345;

/** The next number of 32 bits (xorshift). */
export function next() {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return state >>> 0;
}

/** `length` random bytes. */
export function randomBytes(length) {
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i++) bytes[i] = next() >>> 11;
  return bytes;
}

const ticksToUs = 10_000;

/** Processor time of a process in us: user and system, all threads. */
export function cpuUs(pid) {
  if (pid === process.pid) {
    const { user, system } = process.cpuUsage();
    return user + system;
  }
  const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * ticksToUs;
}

/**
 * Bytes that a process gave to the system to be written so far. Not `write_bytes`: since Linux keeps files in pages of many sizes, that counts 256 KiB
 * for a write of 4 KiB into such a one.
 */
export function writtenBytes(pid) {
  return Number(/^wchar: (\d+)/m.exec(readFileSync(`/proc/${String(pid)}/io`, 'utf8'))?.[1]);
}

/** The most a process has been resident with, in MB. */
export function peakMb(pid) {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${String(pid)}/status`, 'utf8'))?.[1]) / 1000;
}

/** Processor time of the calling thread in us; only the main thread calls it. */
function threadUs() {
  return Number(readFileSync(`/proc/self/task/${String(process.pid)}/schedstat`, 'utf8').split(' ')[0]) / 1000;
}

let makingUs = 0;

/** Runs `make`, and remembers its processor time as the bench's own. */
export function making(make) {
  const before = threadUs();
  const made = make();
  makingUs += threadUs() - before;
  return made;
}

/** Processor time of the store under test: without what the bench itself has used to make rows, where both are one process. */
export function storeUs(pid) {
  return pid === process.pid ? cpuUs(pid) - makingUs : cpuUs(pid);
}

/** Percentile of sorted numbers. */
export function at(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
