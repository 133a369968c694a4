// What the whole is for: an H.264/AAC film, stored by the official driver or on the page, plays in a browser, seeks, and plays on. Needs chromium and
// ffmpeg (Debian's packages of these names); without them it is skipped and says so.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { after, before, describe, test } from 'node:test';
import { GridFSBucket, MongoClient } from 'mongodb';
import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';
import { browserPath, ffmpeg, quietly } from './browser-for-test.ts';
import { ServedFrond } from './serve-for-test.ts';

const missing = [...(browserPath === undefined ? ['chromium'] : []), ...(ffmpeg === undefined ? ['ffmpeg'] : [])];
const seconds = 12;

function makeFilm(path: string, options: readonly string[]): void {
  const picture = ['-f', 'lavfi', '-i', `testsrc2=duration=${seconds}:size=640x360:rate=25`];
  const sound = ['-f', 'lavfi', '-i', `sine=frequency=440:duration=${seconds}`];
  execFileSync(ffmpeg ?? 'ffmpeg', ['-hide_banner', '-loglevel', 'error', '-y', ...picture, ...sound, ...options, path]);
}

const mp4 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', '25', '-b:v', '3M', '-c:a', 'aac'];

/** What the functions below, which run in the page, see of it. */
interface PageElement {
  currentTime: number;
  readonly duration: number;
  readonly ended: boolean;
  readonly error: unknown;
  readonly paused: boolean;
  readonly seeking: boolean;
  readonly currentSrc: string;
  readonly videoWidth: number;
  readonly seekable: { end(index: number): number };
  readonly dataset: Readonly<Record<string, string>>;
}
declare const localStorage: Readonly<Record<string, string>> & { getItem(key: string): string | null };
declare const document: {
  querySelector(selector: string): PageElement | null;
  querySelectorAll(selector: string): { readonly length: number };
  readonly activeElement: { blur(): void };
};

async function hasBegun(page: Page): Promise<void> {
  await page.waitForFunction(() => (document.querySelector('video')?.currentTime ?? 0) > 0.5);
}

/** Waits until the list has so many rows. */
async function hasRows(page: Page, count: number): Promise<void> {
  await page.waitForFunction((wanted) => document.querySelectorAll('tr[data-id]').length === wanted, count);
}

/** Plays the film that the page shows from its beginning, seeks to 90 %, and sees it play on to its end. */
async function playAndSeek(page: Page): Promise<void> {
  await hasBegun(page);
  const facts = await page.evaluate(() => {
    const { duration, seekable, videoWidth, currentSrc } = document.querySelector('video')!;
    return { duration, seekableEnd: seekable.end(0), videoWidth, currentSrc };
  });
  assert.ok(Math.abs(facts.duration - seconds) < 0.5, `duration ${facts.duration}`);
  assert.ok(Math.abs(facts.seekableEnd - facts.duration) < 0.1);
  assert.equal(facts.videoWidth, 640);
  assert.match(new URL(facts.currentSrc).pathname, /^\/b\/fs\/id\/[0-9a-f]{24}$/);
  await page.evaluate(() => {
    const video = document.querySelector('video')!;
    video.currentTime = video.duration * 0.9;
  });
  await page.waitForFunction((target) => {
    const { seeking, currentTime, paused } = document.querySelector('video')!;
    return !seeking && currentTime > target && !paused;
  }, seconds * 0.9 + 0.5);
  await page.waitForFunction(() => document.querySelector('video')!.ended);
  assert.equal(await page.evaluate(() => document.querySelector('video')!.error), null);
}

/** What a test sees of the browser, the server and the films. */
interface Sight {
  readonly open: (path?: string) => Promise<{ readonly page: Page; readonly faults: string[] }>;
  /** Without its script. */
  readonly openPlain: () => Promise<Page>;
  readonly film: (name: string) => string;
  readonly httpUrl: () => string;
}

async function goOnAfterReload({ open, film, httpUrl }: Sight): Promise<void> {
  const { page, faults } = await open();
  const bytes = await readFile(film('last.mp4'));
  const half = Math.floor(bytes.length / 2);
  const tus = { 'Tus-Resumable': '1.0.0', 'Upload-Offset': '0', 'Content-Type': 'application/offset+octet-stream' };
  // The first part arrives, then the connection is gone, and stays so until the page is loaded anew: it tries again by itself.
  let arrived = false;
  await page.route('**/uploads/*', async (route) => {
    if (route.request().method() !== 'PATCH') return route.continue();
    if (!arrived) await page.request.patch(route.request().url(), { headers: tus, data: bytes.subarray(0, half) });
    arrived = true;
    return route.abort();
  });
  await page.setInputFiles('input[type=file]', film('last.mp4'));
  await page.waitForSelector('.uploads .state:has-text("trying again")');
  assert.match((await page.textContent('.uploads .hint')) ?? '', /faststart/);
  await page.reload();
  await page.waitForSelector('.uploads .left .state:has-text("choose the file again")');
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  faults.length = 0;
  assert.match((await page.textContent('.uploads .left .state')) ?? '', /^(49|50) % sent/);
  const offsets: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'PATCH') offsets.push(request.headers()['upload-offset'] ?? '');
  });
  await page.setInputFiles('input[type=file]', film('last.mp4'));
  await page.waitForSelector('.uploads .state:has-text("stored")');
  assert.deepEqual(offsets, [String(half)]);
  const stored = await page.request.get(`${httpUrl()}files/last.mp4`);
  assert.ok((await stored.body()).equals(bytes));
  assert.equal(await page.evaluate(() => Object.keys(localStorage).some((key) => key.startsWith('uploads:') && localStorage.getItem(key) !== '{}')), false);
  assert.deepEqual(faults, []);
  await page.close();
}

async function pointAndScrub({ open }: Sight): Promise<void> {
  const { page, faults } = await open();
  await page.click('a.play:text-is("first.mp4")');
  await hasBegun(page);
  const line = (await page.locator('.timeline').boundingBox())!;
  await page.mouse.move(line.x + line.width * 0.5, line.y + 10);
  await page.waitForSelector('.tip.seen canvas');
  assert.match((await page.textContent('.tip .when')) ?? '', /^0:0[56]$/);
  await page.mouse.down();
  for (const part of [0.3, 0.6, 0.2, 0.7, 0.9]) await page.mouse.move(line.x + line.width * part, line.y + 10);
  await page.mouse.up();
  await page.waitForFunction((target) => !document.querySelector('video')!.seeking && document.querySelector('video')!.currentTime >= target, seconds * 0.9 - 0.5);
  assert.match((await page.getAttribute('.timeline', 'aria-valuetext')) ?? '', /^0:1\d of 0:1[12]$/);
  await page.waitForFunction(() => document.querySelector('video')!.ended);
  assert.deepEqual(faults, []);
  await page.close();
}

async function lookAtStatus({ open, openPlain, httpUrl }: Sight): Promise<void> {
  const { page, faults } = await open('status');
  await page.waitForSelector('.card svg[aria-label^="Operations: insert"]', { timeout: 10_000 });
  assert.ok((await page.locator('.card:visible').count()) > 8);
  await page.waitForSelector('[data-trees] td:text-is("test.fs.chunks")');
  assert.deepEqual(faults, []);
  await page.close();
  const plain = await openPlain();
  await plain.goto(`${httpUrl()}status`);
  await plain.click('summary');
  assert.match((await plain.textContent('.numbers')) ?? '', /frond\.commits\s*\d/);
  await plain.context().close();
}

describe('a film in a browser', { skip: missing.length > 0 ? `${missing.join(' and ')} not installed` : false }, () => {
  let frond: ServedFrond;
  let browser: Browser;
  let folder: string;
  const film = (name: string): string => join(folder, name);

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'frond-films-'));
    makeFilm(film('first.mp4'), [...mp4, '-movflags', '+faststart']);
    makeFilm(film('last.mp4'), mp4);
    makeFilm(film('film.webm'), ['-c:v', 'libvpx', '-deadline', 'realtime', '-cpu-used', '8', '-b:v', '1M', '-c:a', 'libopus']);
    frond = await ServedFrond.start();
    browser = await chromium.launch({ executablePath: browserPath!, args: [...quietly] });
  });

  after(async () => {
    await browser.close();
    assert.equal(await frond.stop(), 0);
    await rm(folder, { recursive: true, force: true });
  });

  async function opened(path = ''): Promise<{ readonly page: Page; readonly faults: string[] }> {
    const page = await browser.newPage();
    const faults: string[] = [];
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('console', (line) => {
      if (line.type() === 'error') faults.push(line.text());
    });
    await page.goto(frond.httpUrl + path);
    return { page, faults };
  }

  const openPlain = async (): Promise<Page> => (await browser.newContext({ javaScriptEnabled: false })).newPage();
  const sight: Sight = { open: opened, openPlain, film, httpUrl: () => frond.httpUrl };

  test('stored by the official driver plays, seeks to 90 % and plays on, from the page', async () => {
    const client = await MongoClient.connect(frond.mongoUri);
    const bucket = new GridFSBucket(client.db('test'));
    await pipeline(createReadStream(film('last.mp4')), bucket.openUploadStream('driver.mp4', { chunkSizeBytes: 65536 }));
    await client.close();
    const { page, faults } = await opened();
    await page.click('a.play:text-is("driver.mp4")');
    await playAndSeek(page);
    assert.deepEqual(faults, []);
    await page.close();
  });

  test('uploaded on the page with progress plays, seeks to 90 % and plays on', async () => {
    const { page, faults } = await opened();
    await page.setInputFiles('input[type=file]', film('first.mp4'));
    await page.waitForSelector('.uploads .state:has-text("stored")');
    await page.click('a.play:text-is("first.mp4")');
    await playAndSeek(page);
    assert.deepEqual(faults, []);
    await page.close();
  });

  test('in webm plays, seeks to 90 % and plays on', async () => {
    const { page, faults } = await opened();
    await page.setInputFiles('input[type=file]', film('film.webm'));
    await page.waitForSelector('.uploads .state:has-text("stored")');
    await page.click('a.play:text-is("film.webm")');
    await playAndSeek(page);
    assert.deepEqual(faults, []);
    await page.close();
  });

  test('whose upload was cut by a reload goes on when it is chosen again, and is whole', () => goOnAfterReload(sight));

  test('shows what is loaded and, where one points, the picture there; scrubbing ends where it is let go', () => pointAndScrub(sight));

  test('plays on a page without its script', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(frond.httpUrl);
    await page.click('a.play:text-is("first.mp4")');
    await page.waitForSelector('video[src]');
    const source = await page.getAttribute('video', 'src');
    const answer = await page.request.get(new URL(source!, frond.httpUrl).href, { headers: { Range: 'bytes=0-1' } });
    assert.deepEqual([answer.status(), (await answer.body()).length], [206, 2]);
    await context.close();
  });

  test('obeys the keys: space, arrows, J and L, digits', async () => {
    const { page } = await opened();
    await page.click('a.play:text-is("first.mp4")');
    await hasBegun(page);
    const state = (): Promise<{ readonly at: number; readonly paused: boolean }> => page.evaluate(() => {
      const { currentTime, paused } = document.querySelector('video')!;
      return { at: currentTime, paused };
    });
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press('Space');
    assert.equal((await state()).paused, true);
    await page.keyboard.press('5');
    assert.ok(Math.abs((await state()).at - seconds / 2) < 0.5);
    await page.keyboard.press('ArrowRight');
    assert.ok(Math.abs((await state()).at - (seconds / 2 + 5)) < 0.5);
    await page.keyboard.press('j');
    assert.ok(Math.abs((await state()).at - (seconds / 2 - 5)) < 0.5);
    await page.close();
  });

  test('that lost a chunk says so in words', async () => {
    const client = await MongoClient.connect(frond.mongoUri);
    const bucket = new GridFSBucket(client.db('test'));
    await pipeline(createReadStream(film('first.mp4')), bucket.openUploadStream('broken.mp4', { chunkSizeBytes: 65536 }));
    const file = await bucket.find({ filename: 'broken.mp4' }).next();
    await client.db('test').collection('fs.chunks').deleteOne({ files_id: file!._id, n: 0 });
    await client.close();
    const { page } = await opened();
    await page.click('a.play:text-is("broken.mp4")');
    await page.waitForSelector('.note:has-text("Chunk 0 of")');
    assert.match((await page.textContent('.note')) ?? '', /^Chunk 0 of \d+ is missing\. \d+ of \d+ chunks are there\.$/);
    await page.close();
  });

  test('and the server are seen on the status page, in charts and without script', () => lookAtStatus(sight));

  test('is found, sorted and deleted in the list', async () => {
    const { page, faults } = await opened();
    await page.fill('input[type=search]', 'dri');
    await hasRows(page, 1);
    assert.match(page.url(), /prefix=dri/);
    page.on('dialog', (dialog) => void dialog.accept());
    await page.click('[data-action=delete]');
    await hasRows(page, 0);
    await page.fill('input[type=search]', '');
    await hasRows(page, 4);
    await page.click('th.name a');
    await page.waitForFunction(() => document.querySelector('tr[data-id]')?.dataset['name'] === 'broken.mp4');
    assert.deepEqual(faults, []);
    await page.close();
  });
});
