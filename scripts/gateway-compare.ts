// The gateway beside nginx in one run: `node dist/scripts/gateway-compare.js [MB] [ROUNDS]` serves one file of random bytes by nginx with sendfile, by
// nginx with large buffers, by a bare node:http server that has it in memory (the floor of any gateway in Node), by `frond serve` with a small cache
// and by `frond gateway` in front of it, and prints for each the rate and the processor time of a whole
// download, of random ranges of 64 KiB over 64 connections, and of a request among many slow viewers. Ratios within one run are what counts; `tcp_nopush`
// is off, for with it nginx holds each range back for a delayed acknowledgement.

import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MB = 1_000_000;
const bytes = Number(process.argv[2] ?? '512') * MB;
const rounds = Number(process.argv[3] ?? '3');
const viewers = Number(process.argv[4] ?? '1000');
const uploads = 4;
const folder = mkdtempSync(join(tmpdir(), 'frond-compare-'));
const program = fileURLToPath(new URL('../src/bin/frond.js', import.meta.url));

/** A server under test. */
interface Subject {
  readonly name: string;
  readonly port: number;
  readonly path: string;
  /** Processes whose time and memory count. */
  readonly pids: () => readonly number[];
}

const children: ChildProcess[] = [];

function statOf(pid: number): { readonly cpuMs: number; readonly rssBytes: number; readonly parent: number } {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/\(.*\)/, '()').split(' ');
  return { cpuMs: (Number(fields[13]) + Number(fields[14])) * 10, rssBytes: Number(fields[23]) * 4096, parent: Number(fields[3]) };
}

const cpuMs = ({ pids }: Subject): number => pids().reduce((sum, pid) => sum + statOf(pid).cpuMs, 0);
const rssMB = ({ pids }: Subject): number => Math.round(pids().reduce((sum, pid) => sum + statOf(pid).rssBytes, 0) / MB);

function childrenOf(parent: number): readonly number[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(Number).filter((pid) => {
    try {
      return statOf(pid).parent === parent;
    } catch {
      return false;
    }
  });
}

async function startNginx(name: string, port: number, settings: string): Promise<Subject> {
  const place = join(folder, name);
  mkdirSync(place);
  const config = `daemon off; worker_processes 1; pid ${place}/pid; error_log ${place}/error.log crit; user root;
events { worker_connections 4096; }
http { access_log off; tcp_nopush off; tcp_nodelay on; keepalive_requests 1000000; ${settings} default_type video/mp4; server { listen 127.0.0.1:${port} backlog=4096; root ${folder}; } }`;
  writeFileSync(join(place, 'nginx.conf'), config);
  const child = spawn('nginx', ['-c', join(place, 'nginx.conf'), '-p', place], { stdio: 'inherit' });
  children.push(child);
  await answers(port);
  return { name, port, path: '/film', pids: () => [child.pid!, ...childrenOf(child.pid!)] };
}

async function answers(port: number): Promise<void> {
  for (let i = 0; i < 100; i++) {
    const socket = connect(port, '127.0.0.1');
    const up = await Promise.race([once(socket, 'connect').then(() => true), once(socket, 'error').then(() => false)]).catch(() => false);
    socket.destroy();
    if (up) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`nothing answers at port ${port}`);
}

async function startFrond(words: readonly string[], name: string): Promise<{ readonly child: ChildProcess; readonly line: string; readonly name: string }> {
  const child = spawn(process.execPath, [program, ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, line: line.toString(), name };
}

/** What node:http costs by itself: heads as ours, bytes in memory. */
const bareServer = `const http = require('node:http'); const film = require('node:fs').readFileSync(process.argv[1]);
http.createServer((request, response) => {
  const [, first, last] = /bytes=(\\d+)-(\\d+)/.exec(request.headers.range ?? '') ?? [0, 0, film.length - 1];
  const fields = ['Content-Type', 'video/mp4', 'Content-Length', String(last - first + 1), 'ETag', '"a-tag-of-a-film"', 'Cache-Control', 'no-cache', 'Last-Modified', 'Mon, 30 Nov 2026 20:33:16 GMT', 'Accept-Ranges', 'bytes', 'X-Content-Type-Options', 'nosniff'];
  if (request.headers.range !== undefined) fields.push('Content-Range', 'bytes ' + first + '-' + last + '/' + film.length);
  response.writeHead(request.headers.range === undefined ? 200 : 206, fields).end(film.subarray(Number(first), Number(last) + 1));
}).listen(0, '127.0.0.1', function () { console.log('http://127.0.0.1:' + this.address().port + '/'); });`;

async function startBare(film: string): Promise<Subject> {
  const child = spawn(process.execPath, ['-e', bareServer, film], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { name: 'node:http', port: httpPort(line.toString()), path: '/film', pids: () => [child.pid!] };
}

const httpPort = (line: string): number => Number(/http:\/\/[^/]*:(\d+)\//.exec(line)?.[1]);

/** Sends a request and reads an answer, of which it keeps nothing; how long it took. */
class Client {
  readonly socket: Socket;
  #left = 0;
  #head = '';
  #done: ((ms: number) => void) | undefined;
  #since = 0;

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.socket.on('error', () => undefined);
    this.socket.on('data', (data: Buffer) => this.#take(data));
  }

  #take(data: Buffer): void {
    if (this.#left === 0) {
      this.#head += data.toString('latin1');
      const end = this.#head.indexOf('\r\n\r\n');
      if (end < 0) return;
      this.#left = Number(/content-length: (\d+)/i.exec(this.#head)?.[1] ?? 0) - (this.#head.length - end - 4);
      this.#head = '';
    } else {
      this.#left -= data.length;
    }
    if (this.#left > 0) return;
    this.#left = 0;
    this.#done?.(performance.now() - this.#since);
  }

  ask(path: string, range?: readonly [number, number]): Promise<number> {
    this.#since = performance.now();
    this.socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n${range === undefined ? '' : `Range: bytes=${range[0]}-${range[1]}\r\n`}\r\n`);
    return new Promise((resolve) => {
      this.#done = resolve;
    });
  }
}

interface Result {
  readonly rate: number;
  readonly cpuPerGB: number;
  readonly ranges: number;
  readonly p50: number;
  readonly p99: number;
  readonly cpuPerRange: number;
}

async function measure(subject: Subject): Promise<Result> {
  const whole = new Client(subject.port);
  let cpu = cpuMs(subject);
  const ms = await whole.ask(subject.path);
  const cpuPerGB = (cpuMs(subject) - cpu) / (bytes / 1e9) / 1000;
  whole.socket.destroy();
  const clients = Array.from({ length: 64 }, () => new Client(subject.port));
  const times: number[] = [];
  cpu = cpuMs(subject);
  const since = performance.now();
  const until = since + 2000;
  await Promise.all(clients.map(async (client) => {
    while (performance.now() < until) {
      const first = Math.floor(Math.random() * (bytes - 65536));
      times.push(await client.ask(subject.path, [first, first + 65535]));
    }
    client.socket.destroy();
  }));
  const seconds = (performance.now() - since) / 1000;
  times.sort((a, b) => a - b);
  return { rate: bytes / MB / (ms / 1000), cpuPerGB, ranges: times.length / seconds, p50: times[times.length >> 1]!, p99: times[Math.floor(times.length * 0.99)]!, cpuPerRange: (cpuMs(subject) - cpu) / times.length };
}

/** Many viewers who take a little now and then; how soon another request is answered meanwhile, and what each costs in memory. */
async function slowViewers(subject: Subject): Promise<string> {
  const before = rssMB(subject);
  const sockets = await Promise.all(Array.from({ length: viewers }, async () => {
    const socket = connect({ port: subject.port, host: '127.0.0.1' });
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    socket.write(`GET ${subject.path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    socket.once('data', () => socket.pause());
    return socket;
  }));
  const takes = setInterval(() => {
    for (let i = 0; i < viewers / 20; i++) {
      const socket = sockets[Math.floor(Math.random() * viewers)]!;
      socket.resume();
      socket.once('data', () => socket.pause());
    }
  }, 50);
  const seen: number[] = [];
  const other = new Client(subject.port);
  const waits: number[] = [];
  for (let i = 0; i < 8; i++) {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    waits.push(await other.ask(subject.path, [1000 * i, 1000 * i + 65535]));
    seen.push(rssMB(subject));
  }
  clearInterval(takes);
  for (const socket of sockets) socket.destroy();
  const since = performance.now();
  await other.ask(subject.path, [0, 0]);
  return `${viewers} viewers: ${seen.at(-1)! - before} MB more (${Math.round(((seen.at(-1)! - before) * 1000) / viewers)} KB each), by seconds ${seen.join(' ')}; another request ${Math.round(Math.max(...waits))} ms at most, ${Math.round(performance.now() - since)} ms after they left`;
}

/** Sends the film once more; each is a file of its own, and the program gets warm meanwhile. */
async function upload(pid: number, port: number, film: string): Promise<string> {
  const [cpu, since] = [statOf(pid).cpuMs, performance.now()];
  const put = await fetch(`http://127.0.0.1:${port}/files/film`, { method: 'PUT', body: createReadStream(film, { highWaterMark: 1024 * 1024 }), duplex: 'half' });
  if (put.status !== 201) throw new Error(`the upload was answered ${put.status}`);
  const rate = bytes / MB / ((performance.now() - since) / 1000);
  return `${rate.toFixed(0)} MB/s, ${(bytes / 1000 / (statOf(pid).cpuMs - cpu)).toFixed(0)} MB for each second of processor time`;
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1]!;

try {
  const film = join(folder, 'film');
  for (let at = 0; at < bytes; at += MB) writeFileSync(film, randomBytes(Math.min(MB, bytes - at)), { flag: 'a' });
  const base = 20_000 + Math.floor(Math.random() * 20_000);
  const frond = await startFrond(['serve', '--dbpath', join(folder, 'data'), '--port', '0', '--gateway-port', '0', '--cache', '64MB'], 'frond');
  const port = httpPort(frond.line);
  for (let i = 0; i < uploads; i++) console.log(`upload ${i + 1}: ${await upload(frond.child.pid!, port, film)}`);
  const front = await startFrond(['gateway', '--mongo', `${/mongodb:\/\/[^/]+/.exec(frond.line)?.[0] ?? ''}/?directConnection=true`, '--port', '0'], 'front');
  const subjects: readonly Subject[] = [
    await startNginx('nginx', base, 'sendfile on; '),
    await startNginx('nginx-bigbuf', base + 1, 'sendfile off; output_buffers 2 512k; '),
    await startBare(film),
    { name: 'frond', port, path: '/files/film', pids: () => [frond.child.pid!] },
    { name: 'frond gateway', port: httpPort(front.line), path: '/files/film', pids: () => [front.child.pid!] },
  ];
  for (const { port: warm, path } of subjects) await new Client(warm).ask(path);
  const results = new Map(subjects.map(({ name }) => [name, [] as Result[]]));
  for (let round = 0; round < rounds; round++) for (const subject of subjects) results.get(subject.name)!.push(await measure(subject));
  console.log(`${bytes / MB} MB, medians of ${rounds} rounds, load ${readFileSync('/proc/loadavg', 'utf8').split(' ')[0] ?? ''}, ${execFileSync('nginx', ['-v'], { stdio: ['ignore', 'pipe', 'pipe'] }).toString().trim()}`);
  console.log('server           MB/s   CPU s/GB   64 KiB/s   p50 ms   p99 ms   CPU ms/range   RSS MB');
  for (const subject of subjects) {
    const of = (pick: (result: Result) => number): number => median(results.get(subject.name)!.map(pick));
    const cells = [of(({ rate }) => rate).toFixed(0), of(({ cpuPerGB }) => cpuPerGB).toFixed(2), of(({ ranges }) => ranges).toFixed(0), of(({ p50 }) => p50).toFixed(1), of(({ p99 }) => p99).toFixed(1), of(({ cpuPerRange }) => cpuPerRange).toFixed(3), String(rssMB(subject))];
    console.log(`${subject.name.padEnd(14)} ${cells.map((cell, i) => cell.padStart([6, 10, 10, 8, 8, 14, 8][i]!)).join(' ')}`);
  }
  for (const subject of subjects.slice(3)) console.log(`${subject.name}: ${await slowViewers(subject)}`);
} finally {
  for (const child of children) child.kill('SIGTERM');
  await Promise.all(children.filter((child) => child.exitCode === null).map((child) => once(child, 'exit')));
  rmSync(folder, { recursive: true, force: true });
}
