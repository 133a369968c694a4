// The page as people meet it (gateway.md, section 8): by keyboard alone, read aloud, in the dark, on a phone, with ten thousand files, with links to a moment. What a
// screen reader is told is asked of the browser itself. Needs chromium and ffmpeg; without them it is skipped and says so.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { MongoClient } from 'mongodb';
import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';
import { browserPath, ffmpeg, quietly } from './browser-for-test.ts';
import { ServedFrond } from './serve-for-test.ts';

const missing = [...(browserPath === undefined ? ['chromium'] : []), ...(ffmpeg === undefined ? ['ffmpeg'] : [])];
const seconds = 20;
const looks = [
  { name: 'light', viewport: { width: 1280, height: 860 }, colorScheme: 'light' },
  { name: 'dark', viewport: { width: 1280, height: 860 }, colorScheme: 'dark' },
  { name: 'phone', viewport: { width: 390, height: 844 }, colorScheme: 'light' },
  { name: 'phone in the dark', viewport: { width: 390, height: 844 }, colorScheme: 'dark' },
] as const;

/** What the functions below, which run in the page, see of it. */
interface Node1 {
  readonly textContent: string;
  readonly tagName: string;
  readonly id: string;
  readonly offsetParent: unknown;
  readonly parentElement: Node1 | null;
  readonly clientWidth: number;
  readonly currentTime: number;
  readonly duration: number;
  readonly paused: boolean;
  readonly muted: boolean;
  readonly naturalWidth: number;
  readonly width: number;
  readonly height: number;
  querySelector(selector: string): Node1 | null;
  getContext(kind: '2d'): { getImageData(x: number, y: number, width: number, height: number): { readonly data: readonly number[] } };
  readonly textTracks: readonly { readonly mode: string; readonly cues: { readonly length: number; readonly [at: number]: { readonly text: string } } | null }[];
  readonly childNodes: readonly { readonly nodeType: number; readonly textContent: string }[];
  getAttribute(name: string): string | null;
  getBoundingClientRect(): { readonly width: number; readonly height: number; readonly left: number; readonly right: number };
  closest(selector: string): Node1 | null;
  blur(): void;
}
declare const document: {
  querySelector(selector: string): Node1 | null;
  querySelectorAll(selector: string): { readonly length: number; [Symbol.iterator](): Iterator<Node1> };
  readonly activeElement: Node1;
  readonly pictureInPictureEnabled: boolean;
  readonly pictureInPictureElement: Node1 | null;
  readonly documentElement: Node1;
  readonly title: string;
};
declare const getComputedStyle: (node: Node1) => { readonly color: string; readonly backgroundColor: string; readonly fontSize: string; readonly fontWeight: string; readonly visibility: string; readonly outlineStyle: string; readonly opacity: string };
declare const window: { scrollTo(x: number, y: number): void };

/** Texts whose colours are too near to each other (WCAG 2.1, 1.4.3): 4.5, or 3 for large ones. */
function paleTexts(): string[] {
  const numbers = (colour: string): number[] => (colour.match(/[\d.]+/g) ?? []).map(Number);
  const over = (top: number[], under: number[]): number[] => [0, 1, 2].map((i) => top[i]! * (top[3] ?? 1) + under[i]! * (1 - (top[3] ?? 1)));
  const background = (node: Node1 | null): number[] => {
    if (node === null) return [255, 255, 255];
    const own = numbers(getComputedStyle(node).backgroundColor);
    return (own[3] ?? 1) === 1 ? own : over(own, background(node.parentElement));
  };
  const light = (colour: number[]): number => {
    const [r, g, b] = colour.map((value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
  };
  const found: string[] = [];
  for (const node of document.querySelectorAll('body *')) {
    const style = getComputedStyle(node);
    const { width, height } = node.getBoundingClientRect();
    if (![...node.childNodes].some(({ nodeType, textContent }) => nodeType === 3 && textContent.trim() !== '') || width < 2 || height < 2 || style.visibility === 'hidden' || node.closest('[aria-hidden=true], option, script, style, svg') !== null) continue;
    const under = background(node);
    const [a, b] = [light(over(numbers(style.color), under)), light(under)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const size = Number.parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (isLarge ? 3 : 4.5)) found.push(`${ratio.toFixed(2)} ${node.tagName} ${node.textContent.trim().slice(0, 40)}`);
  }
  return found;
}

/** What is seen beyond the left or right edge of the window. */
function beyondTheEdges(): string[] {
  const found: string[] = [];
  for (const node of document.querySelectorAll('body *')) {
    const { left, right, width, height } = node.getBoundingClientRect();
    if (width > 1 && height > 1 && (left < -0.5 || right > document.documentElement.clientWidth + 0.5) && node.closest('.skip, .scroll') === null) found.push(`${node.tagName} ${node.getAttribute('class') ?? ''} ${left} ${right}`);
  }
  return found;
}

/** What is told to a screen reader, and what is wrong with it. */
async function readAloud(page: Page): Promise<{ readonly roles: ReadonlyMap<string, readonly string[]>; readonly faults: readonly string[] }> {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send('Accessibility.getFullAXTree');
  const roles = new Map<string, string[]>();
  const faults: string[] = [];
  for (const { ignored, role, name, properties } of nodes) {
    if (ignored || role === undefined) continue;
    const [kind, words] = [String(role.value), String(name?.value ?? '')];
    roles.set(kind, [...(roles.get(kind) ?? []), words]);
    const takesFocus = properties?.some((one) => one.name === 'focusable' && one.value.value === true) === true;
    if (takesFocus && words.trim() === '' && kind !== 'RootWebArea') faults.push(`${kind} without a name`);
    if (['img', 'image', 'button', 'link', 'slider', 'combobox', 'searchbox', 'progressbar', 'table', 'region', 'Video', 'heading'].includes(kind) && words.trim() === '') faults.push(`${kind} without a name`);
  }
  const ids = await page.evaluate(() => [...document.querySelectorAll('[id]')].map(({ id }) => id));
  if (new Set(ids).size !== ids.length) faults.push('an id twice');
  await session.detach();
  return { roles, faults };
}

/** The server, the browser and what is stored. */
class World {
  readonly frond: ServedFrond;
  readonly browser: Browser;
  readonly client: MongoClient;
  readonly #folder: string;

  private constructor(frond: ServedFrond, browser: Browser, { client, folder }: { readonly client: MongoClient; readonly folder: string }) {
    this.frond = frond;
    this.browser = browser;
    this.client = client;
    this.#folder = folder;
  }

  static async open(): Promise<World> {
    const folder = await mkdtemp(join(tmpdir(), 'frond-page-'));
    const inputs = ['-f', 'lavfi', '-i', `testsrc2=duration=${seconds}:size=320x180:rate=25`, '-f', 'lavfi', '-i', `sine=frequency=440:duration=${seconds}`];
    execFileSync(ffmpeg!, ['-hide_banner', '-loglevel', 'error', '-y', ...inputs, '-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', '25', '-b:v', '800k', '-c:a', 'aac', '-movflags', '+faststart', join(folder, 'film.mp4')]);
    const frond = await ServedFrond.start();
    const browser = await chromium.launch({ executablePath: browserPath!, args: [...quietly] });
    const world = new World(frond, browser, { client: await MongoClient.connect(frond.mongoUri), folder });
    const bytes = await readFile(world.film);
    await world.put('film.mp4', bytes, 'video/mp4');
    await world.put('film.vtt', 'WEBVTT\n\n00:00.000 --> 00:19.000\nA line of words\n', 'text/vtt');
    await world.put('read me.txt', 'Some notes.\n'.repeat(40), 'text/plain');
    await world.put('damaged.mp4', bytes, 'video/mp4');
    const damaged = await world.client.db('test').collection('fs.files').findOne({ filename: 'damaged.mp4' });
    await world.client.db('test').collection('fs.chunks').deleteOne({ files_id: damaged!._id, n: 0 });
    return world;
  }

  get url(): string {
    return this.frond.httpUrl;
  }

  get film(): string {
    return join(this.#folder, 'film.mp4');
  }

  async put(name: string, body: string | Uint8Array, type: string): Promise<void> {
    const answer = await fetch(`${this.url}files/${encodeURIComponent(name)}`, { method: 'PUT', body, headers: { 'Content-Type': type } });
    assert.equal(answer.status, 201);
    await answer.arrayBuffer();
  }

  async idOf(name: string): Promise<string> {
    const found = await this.client.db('test').collection('fs.files').findOne({ filename: name });
    return String(found!._id);
  }

  /** A picture, or several side by side, each of one colour. */
  picture(...colours: readonly string[]): Buffer {
    const inputs = colours.flatMap((colour) => ['-f', 'lavfi', '-i', `color=${colour}:size=160x90`]);
    const beside = colours.length > 1 ? ['-filter_complex', `hstack=inputs=${colours.length}`] : [];
    return execFileSync(ffmpeg!, ['-hide_banner', '-loglevel', 'error', ...inputs, ...beside, '-frames:v', '1', '-c:v', 'png', '-f', 'image2pipe', '-']);
  }

  async close(): Promise<void> {
    await this.client.close();
    await this.browser.close();
    assert.equal(await this.frond.stop(), 0);
    await rm(this.#folder, { recursive: true, force: true });
  }
}

const begun = (page: Page): Promise<unknown> => page.waitForFunction(() => (document.querySelector('video')?.currentTime ?? 0) > 0.3);
const at = (page: Page): Promise<{ readonly now: number; readonly paused: boolean; readonly muted: boolean }> => page.evaluate(() => {
  const { currentTime, paused, muted } = document.querySelector('video')!;
  return { now: currentTime, paused, muted };
});

async function lookEverywhere({ browser, url, film }: World, { name, viewport, colorScheme }: (typeof looks)[number]): Promise<void> {
  const context = await browser.newContext({ viewport, colorScheme });
  const page = await context.newPage();
  const look = async (what: string, landmarks: readonly string[]): Promise<void> => {
    assert.deepEqual(await page.evaluate(paleTexts), [], `${what}: pale`);
    assert.deepEqual(await page.evaluate(beyondTheEdges), [], `${what} is wider than the window`);
    const { roles, faults } = await readAloud(page);
    assert.deepEqual(faults, [], what);
    for (const landmark of [...landmarks, 'banner', 'main', 'heading']) assert.ok(roles.has(landmark), `${what} has no ${landmark}`);
    if (process.env['FROND_SHOTS'] !== undefined) await page.screenshot({ path: join(process.env['FROND_SHOTS'], `${what} ${name}.png`) });
  };
  await page.goto(url);
  await look('list', ['table', 'columnheader', 'searchbox', 'link']);
  await page.click('a.play:text-is("film.mp4")');
  await begun(page);
  await page.hover('.timeline');
  await look('player', ['Video', 'slider', 'region', 'combobox']);
  await page.goto(url);
  await page.click('a.play:text-is("damaged.mp4")');
  await page.waitForSelector('.note.fault:has-text("Chunk 0")');
  await look('error', ['alert']);
  await page.goto(url);
  await page.route('**/uploads/*', (route) => (route.request().method() === 'PATCH' ? new Promise(() => undefined) : route.continue()));
  await page.setInputFiles('input[type=file]', film);
  await page.waitForSelector('.uploads .state:has-text("%")');
  await page.click('.uploads button:has-text("Pause")');
  await look('upload', ['progressbar', 'button']);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.click('.uploads button:has-text("Cancel")');
  await page.goto(`${url}?play=s:none`);
  await look('gone', ['table']);
  await page.goto(`${url}status?tree=test.fs.chunks&index=_id_`);
  await page.waitForSelector('.card svg[aria-label^="Operations: insert"]');
  await look('status', ['table', 'rowheader', 'image']);
  await context.close();
}

async function walkByKeys({ browser, url }: World): Promise<void> {
  const page = await browser.newPage();
  await page.goto(url);
  const walk: string[] = [];
  for (let i = 0; i < 14; i++) {
    await page.keyboard.press('Tab');
    walk.push(await page.evaluate(() => {
      const { activeElement: here } = document;
      const { width, height } = (here.closest('label') ?? here).getBoundingClientRect();
      const seen = width > 1 && height > 1 && getComputedStyle(here.closest('label.action') ?? here).outlineStyle !== 'none';
      return `${here.getAttribute('aria-label') ?? (here.textContent.trim() === '' ? (here.getAttribute('name') ?? here.tagName) : here.textContent.trim().slice(0, 22))}${seen ? '' : ' unseen'}`;
    }));
  }
  assert.deepEqual(walk.slice(0, 9), ['Skip to the files', 'prefix', '255 KiB1 MiB4 MiB8 MiB', 'INPUT', 'Status', 'Name', 'Size', 'Uploaded', 'damaged.mp4']);
  assert.deepEqual(walk.slice(9, 14), ['Download damaged.mp4', 'Copy link to damaged.mp4', 'Delete damaged.mp4', 'read me.txt', 'Download read me.txt']);
  await page.focus('a.play:text-is("film.mp4")');
  await page.keyboard.press('Enter');
  await begun(page);
  await page.evaluate(() => document.activeElement.blur());
  const steps: readonly (readonly [key: string, check: (before: number, state: { readonly now: number; readonly paused: boolean; readonly muted: boolean }) => boolean])[] = [
    ['k', (_, { paused }) => paused], ['3', (_, { now }) => Math.abs(now - seconds * 0.3) < 0.2], ['l', (from, { now }) => Math.abs(now - from - 10) < 0.2], ['J', (from, { now }) => Math.abs(now - from + 10) < 0.2],
    ['ArrowRight', (from, { now }) => Math.abs(now - from - 5) < 0.2], ['ArrowLeft', (from, { now }) => Math.abs(now - from + 5) < 0.2], ['.', (from, { now }) => Math.abs(now - from - 0.04) < 0.01], [',', (from, { now }) => Math.abs(now - from + 0.04) < 0.01], ['m', (_, { muted }) => muted], ['m', (_, { muted }) => !muted], ['Space', (_, { paused }) => !paused],
  ];
  for (const [key, check] of steps) {
    const { now } = await at(page);
    await page.keyboard.press(key);
    const state = await at(page);
    assert.ok(check(now, state), `${key}: from ${now} to ${JSON.stringify(state)}`);
  }
  await page.focus('.timeline');
  await page.keyboard.press('Home');
  assert.ok((await at(page)).now < 1);
  await page.keyboard.press('PageUp');
  assert.ok(Math.abs((await at(page)).now - seconds / 10) < 1);
  assert.match((await page.getAttribute('.timeline', 'aria-valuetext')) ?? '', /^0:0\d of 0:20$/);
  await page.close();
}

async function resumeAndLink({ browser, url }: World): Promise<void> {
  const page = await browser.newPage();
  await page.goto(url);
  await page.click('a.play:text-is("film.mp4")');
  await begun(page);
  await page.waitForFunction(() => document.querySelector('video')!.textTracks[0]?.cues?.[0]?.text === 'A line of words');
  await page.waitForSelector('.note:has-text("fetched")');
  assert.match((await page.textContent('.note')) ?? '', /^first picture after [\d.]+ m?s · .*[\d.]+ [KM]?B fetched$/);
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press('5');
  await page.waitForFunction(() => document.querySelector('video')!.currentTime > 10.2);
  await page.reload();
  await page.waitForFunction(() => document.querySelector('video')!.currentTime >= 10);
  await page.goto('about:blank');
  const play = await (await fetch(`${url}b/fs/files?prefix=film.mp4`)).json() as { readonly files: readonly { readonly id: string }[] };
  await page.goto(`${url}?play=${play.files[0]!.id}#t=15`);
  await page.waitForFunction(() => document.querySelector('video')!.currentTime >= 15);
  assert.ok((await at(page)).now < 17);
  await page.close();
}

async function pauseAndGoOn({ browser, url, film }: World): Promise<void> {
  const page = await browser.newPage();
  await page.goto(url);
  let sent = 0;
  let holds = true;
  await page.route('**/uploads/*', async (route) => {
    if (route.request().method() !== 'PATCH' || !holds) return route.continue();
    // The first part arrives, then nothing moves.
    if (sent++ === 0) await page.request.patch(route.request().url(), { headers: { 'Tus-Resumable': '1.0.0', 'Upload-Offset': '0', 'Content-Type': 'application/offset+octet-stream' }, data: (await readFile(film)).subarray(0, 100_000) });
    return new Promise(() => undefined);
  });
  await page.setInputFiles('input[type=file]', film);
  await page.waitForFunction((wanted) => wanted !== 0, 1);
  while (sent === 0) await page.waitForTimeout(20);
  await page.click('.uploads button:has-text("Pause")');
  await page.waitForSelector('.uploads .state:has-text("paused at")');
  await page.reload();
  await page.waitForSelector('.uploads .left .state:has-text("choose the file again")');
  holds = false;
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  const offsets: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'PATCH') offsets.push(request.headers()['upload-offset'] ?? '');
  });
  await page.setInputFiles('input[type=file]', film);
  await page.waitForSelector('.uploads .state:has-text("stored")');
  assert.deepEqual(offsets, ['100000']);
  assert.ok((await (await page.request.get(`${url}files/film.mp4`)).body()).equals(await readFile(film)));
  await page.close();
}

async function scrollThroughMany({ browser, url, client }: World): Promise<void> {
  const files = Array.from({ length: 10_000 }, (_, i) => ({ filename: `many ${String(i).padStart(5, '0')}.bin`, length: 0, chunkSize: 261_120, uploadDate: new Date(1_700_000_000_000 + i) }));
  await client.db('test').collection('lots.files').insertMany(files);
  const page = await browser.newPage();
  await page.goto(`${url}?bucket=lots&sort=filename`);
  const rows = (): Promise<number> => page.evaluate(() => document.querySelectorAll('tr[data-id]').length);
  for (let before = await rows(), i = 0; i < 6; i++) {
    assert.ok(before >= 50 && before < 1000, `${before} rows`);
    await page.evaluate(() => window.scrollTo(0, 1e9));
    await page.waitForFunction((had) => document.querySelectorAll('tr[data-id]').length > had, before);
    before = await rows();
  }
  const names = await page.evaluate(() => [...document.querySelectorAll('a.play')].map(({ textContent }) => textContent));
  assert.deepEqual(names, files.slice(0, names.length).map(({ filename }) => filename));
  await page.fill('input[type=search]', 'many 0999');
  await page.waitForFunction(() => document.querySelectorAll('tr[data-id]').length === 10);
  await page.close();
}

async function readWithoutScript(world: World): Promise<void> {
  const { browser, url } = world;
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(`${url}?bucket=lots&sort=filename`);
  await page.click('a[rel=next]');
  assert.equal(await page.locator('a.play').first().textContent(), 'many 00050.bin');
  await page.goto(url);
  await page.click('th.name a');
  assert.equal(await page.locator('a.play').first().textContent(), 'damaged.mp4');
  await page.click('a.play:text-is("read me.txt")');
  assert.match((await page.textContent('pre.text')) ?? '', /^Some notes\.\n/);
  assert.deepEqual([await page.locator('button:visible').allTextContents(), await page.locator('input:visible, select:visible').count()], [['Search'], 1]);
  await page.goto(`${url}?bucket=lots&sort=filename`);
  await page.fill('input[type=search]', 'many 0999');
  await page.click('button:text-is("Search")');
  assert.deepEqual(await page.locator('a.play').allTextContents(), Array.from({ length: 10 }, (_, i) => `many 0999${i}.bin`));
  assert.deepEqual([...new URL(page.url()).searchParams], [['bucket', 'lots'], ['sort', 'filename'], ['prefix', 'many 0999']]);
  await page.goto(`${url}?play=${await world.idOf('read me.txt')}`);
  await page.click('a.close');
  await page.click('a.play:text-is("film.mp4")');
  assert.match((await page.getAttribute('video', 'src')) ?? '', /^\/b\/fs\/id\//);
  await context.close();
}

/** What the tip over the line shows: the time, and, where there is a picture, the colour in its middle. */
const tipAt = async (page: Page, part: number): Promise<{ readonly when: string; readonly seen: boolean; readonly colour: string }> => {
  const line = (await page.locator('.timeline').boundingBox())!;
  await page.mouse.move(line.x + line.width * part, line.y + 8);
  await page.waitForTimeout(400);
  return await page.evaluate(() => {
    const tip = document.querySelector('.tip')!;
    const canvas = tip.querySelector('canvas')!;
    const [r = 0, g = 0, b = 0] = canvas.getContext('2d').getImageData(canvas.width / 2, canvas.height / 2, 1, 1).data;
    const colour = r > 200 && b < 60 ? 'red' : b > 200 && r < 60 ? 'blue' : `${r} ${g} ${b}`;
    return { when: tip.querySelector('.when')!.textContent, seen: tip.getAttribute('class')!.includes('seen'), colour };
  });
};

async function lookAhead(world: World): Promise<void> {
  const { browser, url } = world;
  await world.put('shown/sprite.png', world.picture('red', 'blue'), 'image/png');
  await world.put('shown/pictures.vtt', 'WEBVTT\n\n1\n00:00.000 --> 00:10.000\nsprite.png#xywh=0,0,160,90\n\n00:00:10.000 --> 00:00:20.000\nsprite.png#xywh=160,0,160,90\n\n00:20.000 --> 00:30.000\nhttp://elsewhere.example/x.png\n', 'text/vtt');
  await world.put('shown/film.mp4', await readFile(world.film), 'video/mp4');
  const id = await world.idOf('shown/film.mp4');
  const change = await fetch(`${url}b/fs/files/${id}`, { method: 'PATCH', headers: { 'Content-Type': 'application/json' }, body: '{"metadata":{"thumbnails":"shown/pictures.vtt"}}' });
  assert.equal(change.status, 200);
  const page = await browser.newPage();
  await page.goto(`${url}?play=${id}`);
  await page.waitForFunction(() => document.querySelector('video')!.duration > 0);
  let filmRequests = 0;
  page.on('request', (request) => (filmRequests += Number(request.url().endsWith(id))));
  assert.deepEqual(await tipAt(page, 0.25), { when: '0:05', seen: true, colour: 'red' });
  assert.deepEqual(await tipAt(page, 0.75), { when: '0:15', seen: true, colour: 'blue' });
  assert.equal(filmRequests, 0, 'stored pictures need no second player');
  await page.close();
  // On a connection that saves data there is the time alone, and nothing is fetched for it.
  const saving = await browser.newPage();
  await saving.addInitScript("Object.defineProperty(navigator, 'connection', { value: { saveData: true } })");
  const asked: string[] = [];
  await saving.goto(`${url}?play=${id}`);
  await saving.waitForFunction(() => document.querySelector('video')!.duration > 0);
  saving.on('request', (request) => asked.push(new URL(request.url()).pathname));
  const tip = await tipAt(saving, 0.25);
  assert.deepEqual([tip.when, tip.seen, asked.filter((path) => !path.endsWith(id))], ['0:05', false, []]);
  assert.equal(await saving.evaluate(() => document.querySelectorAll('video').length), 1);
  await saving.close();
}

async function dropFiles({ browser, url }: World): Promise<void> {
  const page = await browser.newPage();
  await page.goto(url);
  const dragged = await page.evaluateHandle('(() => { const data = new DataTransfer(); for (const name of ["dropped 1.txt", "dropped 2.txt"]) data.items.add(new File([`text of ${name}`], name, { type: "text/plain" })); return data; })()');
  const isOver = (): Promise<boolean> => page.evaluate(() => document.querySelector('.drop')!.getAttribute('class')!.includes('over'));
  await page.dispatchEvent('main', 'dragenter', { dataTransfer: dragged });
  assert.equal(await isOver(), true);
  await page.dispatchEvent('main', 'dragleave', { dataTransfer: dragged });
  assert.equal(await isOver(), false);
  await page.dispatchEvent('main', 'dragenter', { dataTransfer: dragged });
  await page.dispatchEvent('main', 'dragover', { dataTransfer: dragged });
  await page.dispatchEvent('main', 'drop', { dataTransfer: dragged });
  assert.equal(await isOver(), false);
  await page.waitForSelector('tr[data-name="dropped 1.txt"]');
  await page.waitForSelector('tr[data-name="dropped 2.txt"]');
  assert.equal(await (await fetch(`${url}files/dropped%202.txt`)).text(), 'text of dropped 2.txt');
  // A text that is dragged is nobody's file.
  const text = await page.evaluateHandle('(() => { const data = new DataTransfer(); data.setData("text/plain", "words"); return data; })()');
  await page.dispatchEvent('main', 'dragenter', { dataTransfer: text });
  assert.equal(await isOver(), false);
  await page.close();
}

async function previews(world: World): Promise<void> {
  const { browser, url } = world;
  await world.put('a picture.png', world.picture('red'), 'image/png');
  await world.put('a page.html', '<script>document.title = "run"</script>', 'text/html');
  await world.put('a paper.pdf', '%PDF-1.4\n', 'application/pdf');
  await world.put('a thing.bin', new Uint8Array(10), 'application/octet-stream');
  await world.put('a tone.wav', execFileSync(ffmpeg!, ['-hide_banner', '-loglevel', 'error', '-f', 'lavfi', '-i', 'sine=duration=1', '-f', 'wav', '-']), 'audio/wav');
  await world.put('long.txt', 'é'.repeat(40_000), 'text/plain');
  const page = await browser.newPage();
  const open = async (name: string): Promise<unknown> => page.goto(`${url}?play=${await world.idOf(name)}`);
  await open('a picture.png');
  await page.waitForFunction(() => document.querySelector('img.stage')!.naturalWidth === 160);
  assert.equal(await page.getAttribute('img.stage', 'alt'), 'a picture.png');
  await open('a tone.wav');
  await page.waitForFunction(() => Math.abs(document.querySelector('audio.stage')!.duration - 1) < 0.1);
  await open('long.txt');
  // So many bytes of it, of which the last character is whole.
  assert.equal(await page.textContent('pre.text'), 'é'.repeat(32_000));
  assert.equal(await page.textContent('#player .note'), 'The first 64.0 KB. All of it');
  await open('a paper.pdf');
  assert.equal(await page.getAttribute('#player a:text-is("Open")', 'href'), `/b/fs/id/${await world.idOf('a paper.pdf')}`);
  for (const name of ['a page.html', 'a thing.bin']) {
    await open(name);
    assert.match((await page.textContent('#player')) ?? '', /This kind of file is not shown here/);
    assert.equal(await page.evaluate(() => document.querySelectorAll('#player iframe, #player object, #player embed').length), 0);
  }
  assert.match(await page.title(), /FrondDB files$/);
  await page.close();
}

async function pictureInPicture({ browser, url }: World): Promise<void> {
  const page = await browser.newPage();
  await page.goto(url);
  await page.click('a.play:text-is("film.mp4")');
  await begun(page);
  const able = await page.evaluate(() => document.pictureInPictureEnabled);
  assert.equal(await page.locator('[data-control=picture]').isVisible(), able);
  if (able) {
    await page.click('[data-control=picture]');
    await page.waitForFunction(() => document.pictureInPictureElement?.tagName === 'VIDEO');
    await page.click('[data-control=picture]');
    await page.waitForFunction(() => document.pictureInPictureElement === null);
  }
  await page.close();
}

describe('the page', { skip: missing.length > 0 ? `${missing.join(' and ')} not installed` : false }, () => {
  let world: World;
  before(async () => {
    world = await World.open();
  });
  after(() => world.close());

  for (const look of looks) test(`has no pale text, nothing beyond its edge and a name for everything: ${look.name}`, () => lookEverywhere(world, look));

  test('is walked through by Tab in the order it is read, each place seen; Enter plays, and the keys play on', () => walkByKeys(world));

  test('goes on where one stopped, begins at the moment a link names, has subtitles, and tells what came over the net', () => resumeAndLink(world));

  test('pauses and goes on with an upload, and goes on after it was loaded anew in the middle of a pause', () => pauseAndGoOn(world));

  test('shows ten thousand files page by page as one scrolls, each once, and finds one of them', () => scrollThroughMany(world));

  test('lists, pages, searches and reads without its script', () => readWithoutScript(world));

  test('shows stored pictures where one points, and on connections that save data the time alone', () => lookAhead(world));

  test('takes files that are dropped on it, and nothing else that is', () => dropFiles(world));

  test('shows pictures, sound and the beginning of texts, and nothing that could run', () => previews(world));

  test('puts a film in a window of its own and back, where the browser can', () => pictureInPicture(world));
});
