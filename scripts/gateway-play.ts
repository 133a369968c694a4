// How soon a player shows the first picture and how soon a seek is over, from the gateway and from nginx in one run: `node dist/scripts/gateway-play.js [ROUNDS]`. Headless
// Chromium plays three films (mp4 with its index first and last, webm) from `frond serve`, by id, and from nginx, in turns; medians are told. Needs chromium,
// ffmpeg and nginx.

import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import type { Page } from 'playwright-core';

const rounds = Number(process.argv[2] ?? '5');
const seconds = 20;
const seeks = [0.5, 0.1, 0.9, 0.3, 0.7, 0.2, 0.8, 0.05];
const folder = mkdtempSync(join(tmpdir(), 'frond-play-'));
const program = fileURLToPath(new URL('../src/bin/frond.js', import.meta.url));
const children: ChildProcess[] = [];

const h264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', '50', '-b:v', '3M', '-c:a', 'aac'];
const films: Readonly<Record<string, readonly string[]>> = {
  'first.mp4': [...h264, '-movflags', '+faststart'], 'last.mp4': h264, 'film.webm': ['-c:v', 'libvpx', '-deadline', 'realtime', '-cpu-used', '8', '-b:v', '2M', '-c:a', 'libopus'],
};

function makeFilms(): void {
  const inputs = ['-f', 'lavfi', '-i', `testsrc2=duration=${seconds}:size=320x180:rate=25`, '-f', 'lavfi', '-i', `sine=frequency=440:duration=${seconds}`];
  for (const [name, options] of Object.entries(films)) execFileSync('ffmpeg', ['-hide_banner', '-loglevel', 'error', '-y', ...inputs, ...options, join(folder, name)]);
}

async function startNginx(port: number): Promise<string> {
  const place = join(folder, 'nginx');
  mkdirSync(place);
  writeFileSync(join(place, 'nginx.conf'), `daemon off; worker_processes 1; pid ${place}/pid; error_log ${place}/error.log crit; user root;
events { worker_connections 1024; }
http { access_log off; sendfile on; tcp_nopush off; types { video/mp4 mp4; video/webm webm; } server { listen 127.0.0.1:${port}; root ${folder}; } }`);
  children.push(spawn('nginx', ['-c', join(place, 'nginx.conf'), '-p', place], { stdio: 'inherit' }));
  for (let i = 0; i < 100; i++) {
    const socket = connect(port, '127.0.0.1');
    const up = await Promise.race([once(socket, 'connect').then(() => true), once(socket, 'error').then(() => false)]).catch(() => false);
    socket.destroy();
    if (up) return `http://127.0.0.1:${port}/`;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('nginx does not answer');
}

/** The addresses of the films at a gateway, by name; `origin`: of the page that may show them. */
async function startFrond(origin: string): Promise<ReadonlyMap<string, string>> {
  const child = spawn(process.execPath, [program, 'serve', '--dbpath', join(folder, 'data'), '--port', '0', '--gateway-port', '0', '--gateway-origins', origin], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const base = /http:\/\/[^/]*/.exec(line.toString())?.[0] ?? '';
  const found = new Map<string, string>();
  for (const name of Object.keys(films)) {
    const put = await fetch(`${base}/files/${name}`, { method: 'PUT', body: readFileSync(join(folder, name)) });
    found.set(name, `${base}${put.headers.get('location') ?? ''}`);
    await put.arrayBuffer();
  }
  return found;
}

interface Played {
  readonly firstMs: number;
  readonly seekMs: readonly number[];
}

/** What runs in the page: plays a film and seeks about in it. */
const player = `async (url, seeks) => {
  const video = document.createElement('video');
  const happens = (name) => new Promise((resolve, reject) => { video.addEventListener(name, resolve, { once: true }); video.addEventListener('error', () => reject(new Error(url + ' does not play: ' + video.error?.message)), { once: true }); });
  video.muted = true;
  document.body.append(video);
  const since = performance.now();
  video.src = url;
  await Promise.all([happens('loadeddata'), video.play()]);
  const firstMs = performance.now() - since;
  const seekMs = [];
  for (const part of seeks) {
    const from = performance.now();
    video.currentTime = video.duration * part;
    await happens('seeked');
    seekMs.push(performance.now() - from);
  }
  video.remove();
  video.src = '';
  return { firstMs, seekMs };
}`;

async function play(page: Page, url: string): Promise<Played> {
  return await page.evaluate(`(${player})(${JSON.stringify(`${url}?${Math.random()}`)}, ${JSON.stringify(seeks)})`);
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

try {
  makeFilms();
  const nginx = await startNginx(20_000 + Math.floor(Math.random() * 20_000));
  const blank = createServer((_, response) => response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>play</title>'));
  await new Promise<void>((resolve) => void blank.listen(0, '127.0.0.1', resolve));
  const address = blank.address();
  const origin = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  const frond = await startFrond(origin);
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--autoplay-policy=no-user-gesture-required'] });
  const page = await browser.newPage();
  await page.goto(`${origin}/`);
  console.log('film        first picture, ms: nginx  frond  ratio    seek, ms: nginx  frond  ratio');
  for (const name of Object.keys(films)) {
    const urls = [`${nginx}${name}`, frond.get(name) ?? ''] as const;
    const found: readonly Played[][] = [[], []];
    for (const url of urls) await play(page, url);
    for (let round = 0; round < rounds; round++) for (const [i, url] of urls.entries()) found[i]?.push(await play(page, url));
    const first = found.map((all) => median(all.map(({ firstMs }) => firstMs)));
    const seek = found.map((all) => median(all.flatMap(({ seekMs }) => seekMs)));
    const cells = [first, seek].map(([a = 0, b = 0]) => `${a.toFixed(0).padStart(5)}  ${b.toFixed(0).padStart(5)}  ${(b / a).toFixed(2).padStart(5)}`);
    console.log(`${name.padEnd(10)} ${' '.repeat(19)} ${cells.join(' '.repeat(15))}`);
  }
  await browser.close();
  blank.close();
} finally {
  for (const child of children) child.kill('SIGTERM');
  await Promise.all(children.filter((child) => child.exitCode === null).map((child) => once(child, 'exit')));
  rmSync(folder, { recursive: true, force: true });
}
