// A long run of random writes on the engine in process: `node dist/scripts/random-writes.js [SECONDS] [CACHE_MB] [WRITERS] [PUTS]` puts random
// 16-byte keys with values of 100 bytes, PUTS a commit, WRITERS commits under way, with a checkpoint every ten seconds, and prints for each
// second the commits, and at the end the latency of commits, the longest hold of the event loop, processor time and bytes written.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { openEnvironment } from '../src/engine/index.ts';
import { openHostEnv } from '../src/env/index.ts';

const argument = (index: number, otherwise: number): number => Number(process.argv[index] ?? otherwise);
const [seconds, cacheMb, writers, puts] = [argument(2, 60), argument(3, 64), argument(4, 16), argument(5, 10)];

const directory = mkdtempSync(join(process.env['FROND_BENCH_DIR'] ?? tmpdir(), 'frond-random-'));
const engine = await openEnvironment(await openHostEnv(), join(directory, 'data'), { cacheBytes: cacheMb * 1024 * 1024, checkpointPeriodMs: 10_000 });
const id = engine.catalogDictionary;

let state = 12_345;
/** xorshift: the same keys in every run. */
function next(): number {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return state >>> 0;
}

/** Processor time of each thread so far, in hundredths of a second; the first is the main one. */
function threadTimes(): Map<string, number> {
  const times = new Map<string, number>();
  for (const task of readdirSync('/proc/self/task')) {
    const line = readFileSync(`/proc/self/task/${task}/stat`, 'utf8');
    const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
    const name = Number(task) === process.pid ? 'main' : (/\((.*)\)/.exec(line)?.[1] ?? '');
    times.set(name, (times.get(name) ?? 0) + Number(fields[11]) + Number(fields[12]));
  }
  return times;
}

const latencies: number[] = [];
const perSecond: number[] = [];
let stopped = false;

async function writer(): Promise<void> {
  const key = new Uint8Array(16);
  const words = new Uint32Array(key.buffer);
  const value = new Uint8Array(100);
  while (!stopped) {
    const begun = performance.now();
    const transaction = engine.begin('statement');
    for (let i = 0; i < puts; i++) {
      for (let word = 0; word < 4; word++) words[word] = next();
      for (let at = 0; at < 50; at++) value[at] = 97 + (key[at & 15] as number) % 26;
      await transaction.put(id, key, value);
    }
    await transaction.commit();
    const ended = performance.now();
    latencies.push(ended - begun);
    const second = Math.floor((ended - start) / 1000);
    perSecond[second] = (perSecond[second] ?? 0) + 1;
  }
}

const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
const cpu = process.cpuUsage();
const start = performance.now();
setTimeout(() => (stopped = true), seconds * 1000);
const status = setInterval(() => {
  const { frontBytes, cacheBytesUsed, sentJobs, jobs, dataBytesWritten, logBytesWritten } = engine.statistics();
  const second = Math.floor((performance.now() - start) / 1000) - 1;
  const mb = (bytes: number): string => (bytes / 1e6).toFixed(0);
  console.log(`${String(second).padStart(3)} s ${String(perSecond[second] ?? 0).padStart(7)} commits, fronts ${mb(frontBytes)} MB, used ${mb(cacheBytesUsed)} MB, jobs ${String(jobs)} (${String(sentJobs)} sent), data ${mb(dataBytesWritten)} MB, log ${mb(logBytesWritten)} MB, rss ${mb(process.memoryUsage.rss())} MB, held ${(delay.max / 1e6).toFixed(1)} ms`);
  delay.reset();
}, 1000);
let held = 0;
const holds = setInterval(() => (held = Math.max(held, delay.max / 1e6)), 100);
await Promise.all(Array.from({ length: writers }, writer));
clearInterval(status);
clearInterval(holds);

const used = process.cpuUsage(cpu);
const wall = (performance.now() - start) / 1000;
const { dataBytesWritten, logBytesWritten, dataFileBytes, checkpoints, workerDeaths } = engine.statistics();
latencies.sort((a, b) => a - b);
const at = (share: number): string => (latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0).toFixed(2);
const rows = latencies.length * puts;
const threads = [...threadTimes()].map(([name, ticks]) => `${name} ${((ticks * 1e4) / rows).toFixed(2)}`).join(', ');
const quiet = Array.from({ length: Math.floor(wall) }, (_, second) => perSecond[second] ?? 0);
console.log(`rows ${String(rows)}, ${(rows / wall).toFixed(0)} a second; CPU ${((used.user + used.system) / rows).toFixed(2)} us a row: ${threads}`);
console.log(`commit ms: p50 ${at(0.5)}, p99 ${at(0.99)}, p99.9 ${at(0.999)}, max ${at(1)}; slowest second ${String(Math.min(...quiet))} commits; loop held ${held.toFixed(1)} ms`);
console.log(`data ${(dataBytesWritten / rows).toFixed(0)} B a row, log ${(logBytesWritten / rows).toFixed(0)} B a row, file ${(dataFileBytes / rows).toFixed(0)} B a row, checkpoints ${String(checkpoints)}, worker deaths ${String(workerDeaths)}`);
const closing = performance.now();
await engine.close();
console.log(`closed in ${((performance.now() - closing) / 1000).toFixed(1)} s`);
rmSync(directory, { recursive: true });
