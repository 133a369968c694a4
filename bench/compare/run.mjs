// Single-index random puts, point gets and a scan, FrondDB's engine beside others in one run: `node bench/compare/run.mjs [ROWS] [CACHE_MB] [ENGINES]`
// after `npm install` in this folder and a build of the product. Each engine runs in a process of its own; an engine that is not installed is left out.
// Random 16-byte keys, values of 100 bytes of which half compress, 1,000 rows a commit, each commit on the disk before the next.

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { engines } from './engines.mjs';

const [rowsText = '1000000', cacheText = '64', names = Object.keys(engines).join(), child] = process.argv.slice(2);
const [rows, cacheBytes] = [Number(rowsText), Number(cacheText) << 20];
const batch = 1000;
const gets = 20_000;

let state = 12_345;
function next() {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return state >>> 0;
}

function row() {
  const key = new Uint8Array(16);
  const words = new Uint32Array(key.buffer);
  for (let i = 0; i < 4; i++) words[i] = next();
  const value = new Uint8Array(100);
  for (let i = 0; i < 50; i++) value[i] = 97 + (key[i & 15] % 26);
  return [key, value];
}

const written = () => Number(/write_bytes: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
const cpuUs = () => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

async function runOne(name) {
  const directory = mkdtempSync(join(process.env.FROND_BENCH_DIR ?? tmpdir(), 'frond-compare-'));
  try {
    const engine = await engines[name](directory, cacheBytes);
    const buckets = [];
    const kept = [];
    let longestMs = 0;
    const began = performance.now();
    const [cpuBefore, writtenBefore] = [cpuUs(), written()];
    for (let done = 0; done < rows; done += batch) {
      const bucket = Math.floor((done * 10) / rows);
      buckets[bucket] ??= cpuUs();
      const data = Array.from({ length: batch }, row);
      if (kept.length < gets) kept.push(data[0][0], data[1][0]);
      const start = performance.now();
      await engine.write(data);
      longestMs = Math.max(longestMs, performance.now() - start);
    }
    const seconds = (performance.now() - began) / 1000;
    buckets.push(cpuUs());
    const perBucket = buckets.slice(1).map((cpu, i) => (cpu - buckets[i]) / (rows / 10));
    const bytes = written() - writtenBefore;
    const cpu = (buckets.at(-1) - cpuBefore) / rows;
    const getsBegan = cpuUs();
    const found = await engine.get(kept);
    const getUs = (cpuUs() - getsBegan) / kept.length;
    const scanBegan = cpuUs();
    const scanned = await engine.scan();
    const scanUs = (cpuUs() - scanBegan) / scanned;
    if (found !== kept.length || scanned !== rows) throw new Error(`${name}: ${String(found)} of ${String(kept.length)} found, ${String(scanned)} of ${String(rows)} scanned`);
    await engine.close();
    const diskMb = Number(execFileSync('du', ['-sk', directory], { encoding: 'utf8' }).split('\t')[0]) / 1024;
    console.log(JSON.stringify({ name, seconds, cpu, first: perBucket[0], last: perBucket.at(-1), bytes: bytes / rows, disk: (diskMb * 1048576) / rows, getUs, scanUs, longestMs, rss: process.resourceUsage().maxRSS / 1024 }));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

if (child !== undefined) await runOne(child);
else {
  console.log(`${rowsText} rows, cache ${cacheText} MB\n\n| engine | rows a CPU-second | CPU us a row: all, first, last tenth | bytes written a row | bytes on disk a row | get, CPU us | scan, CPU us a row | longest commit ms | rows/s | RSS MB |\n|---|---|---|---|---|---|---|---|---|---|`);
  for (const name of names.split(',')) {
    const { stdout, stderr, status } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), rowsText, cacheText, names, name], { encoding: 'utf8' });
    if (status !== 0) console.log(`| ${name} | ${stderr.split('\n').find((line) => line.includes('Error')) ?? 'failed'} |`);
    else {
      const r = JSON.parse(stdout.trim().split('\n').at(-1));
      const f = (value, digits = 1) => value.toFixed(digits);
      console.log(`| ${r.name} | ${f(1e6 / r.cpu, 0)} | ${f(r.cpu)}, ${f(r.first)}, ${f(r.last)} | ${f(r.bytes, 0)} | ${f(r.disk, 0)} | ${f(r.getUs)} | ${f(r.scanUs, 2)} | ${f(r.longestMs, 0)} | ${f(rows / r.seconds, 0)} | ${f(r.rss, 0)} |`);
    }
  }
}
