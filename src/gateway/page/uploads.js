// Sending files: resumable uploads (tus 1.0.0), several at a time, each with progress, pause and cancel. What was begun is remembered in this browser, so
// that after a reload choosing the same file again goes on where it stopped; a lost connection is tried again by itself.

import { base, bucket, pathOf, say, sizeWords, timeWords, wordsOf } from './words.js';

const atOnce = 2;
const retryMs = [500, 1000, 2000, 5000, 10_000];
const place = document.querySelector('.uploads');
const list = place.querySelector('ul');
const waiting = [];
let running = 0;
let relist = () => undefined;

const tus = { 'Tus-Resumable': '1.0.0' };
const memoryKey = `uploads:${base}:${bucket}`;
const keyOf = ({ name, size, lastModified }) => `${name}|${size}|${lastModified}`;

/** Uploads that were begun and not ended, by the file: where they are at the server. */
function remembered() {
  try {
    return JSON.parse(localStorage.getItem(memoryKey) ?? '{}');
  } catch {
    return {};
  }
}

function remember(key, entry) {
  const all = remembered();
  if (entry) all[key] = entry;
  else delete all[key];
  localStorage.setItem(memoryKey, JSON.stringify(all));
}

function button(words, label, act) {
  const made = document.createElement('button');
  made.type = 'button';
  made.className = 'action';
  made.textContent = words;
  made.setAttribute('aria-label', label);
  made.addEventListener('click', act);
  return made;
}

function textIn(className, words) {
  const made = document.createElement('span');
  made.className = className;
  made.textContent = words;
  return made;
}

/** One file on its way, and its line on the page. */
class Sending {
  constructor(file, chunkSize) {
    this.file = file;
    this.chunkSize = chunkSize;
    this.key = keyOf(file);
    this.item = document.createElement('li');
    this.bar = document.createElement('progress');
    this.bar.max = 1;
    this.bar.value = 0;
    this.bar.setAttribute('aria-label', `Upload of ${file.name}`);
    this.state = textIn('state', 'waiting');
    this.pause = button('Pause', `Pause the upload of ${file.name}`, () => this.togglePause());
    this.cancel = button('Cancel', `Cancel the upload of ${file.name}`, () => void this.giveUp());
    this.hint = textIn('hint', '');
    const buttons = textIn('buttons', '');
    buttons.append(this.pause, this.cancel);
    this.item.append(textIn('name', file.name), this.bar, this.state, buttons, this.hint);
    list.append(this.item);
    place.hidden = false;
  }

  togglePause() {
    this.paused = !this.paused;
    this.pause.textContent = this.paused ? 'Resume' : 'Pause';
    this.pause.setAttribute('aria-label', `${this.paused ? 'Resume' : 'Pause'} the upload of ${this.file.name}`);
    if (this.paused) {
      this.request?.abort();
      this.state.textContent = `paused at ${this.percent()} %`;
    }
    this.wake?.();
  }

  percent() {
    return Math.floor(100 * this.bar.value);
  }

  async giveUp() {
    this.ended = true;
    this.request?.abort();
    this.wake?.();
    const begun = remembered()[this.key];
    remember(this.key);
    this.dismiss();
    if (begun) await fetch(begun.url, { method: 'DELETE', headers: tus }).catch(() => undefined);
  }

  dismiss() {
    this.item.remove();
    if (!list.querySelector('li')) place.hidden = true;
  }

  /** Until it is stored, given up or refused. */
  async run() {
    for (let attempt = 0; !this.ended; ) {
      if (this.paused) await new Promise((resolve) => (this.wake = resolve));
      if (this.ended || this.paused) continue;
      try {
        const before = this.bar.value;
        const end = await this.goOn();
        if (end === 'stored') return this.finish();
        if (this.bar.value > before) attempt = 0;
      } catch (error) {
        if (error.isFinal) return this.fail(error.message);
      }
      if (this.ended || this.paused) continue;
      const wait = retryMs[Math.min(attempt++, retryMs.length - 1)];
      this.state.textContent = `the connection was lost; trying again in ${Math.ceil(wait / 1000)} s`;
      await new Promise((resolve) => {
        this.wake = resolve;
        setTimeout(resolve, wait);
      });
    }
  }

  /** Begins, or asks how far it is, and sends the rest. */
  async goOn() {
    const { url, offset, stored } = (await this.findBegun()) ?? (await this.begin());
    this.url = url;
    if (stored) return 'stored';
    return await this.send(offset);
  }

  async findBegun() {
    const url = this.url ?? remembered()[this.key]?.url;
    if (!url) return undefined;
    const response = await fetch(url, { method: 'HEAD', headers: tus });
    if (response.status === 404) {
      this.url = undefined;
      remember(this.key);
      return undefined;
    }
    if (!response.ok) throw new Error(`the server said ${response.status}`);
    const offset = Number(response.headers.get('Upload-Offset'));
    return { url, offset, stored: response.headers.has('Content-Location') };
  }

  async begin() {
    const { file, chunkSize } = this;
    const text = (words) => btoa(String.fromCharCode(...new TextEncoder().encode(words)));
    const metadata = [`filename ${text(file.name)}`, ...(file.type ? [`filetype ${text(file.type)}`] : [])].join(',');
    const headers = { ...tus, 'Upload-Length': String(file.size), 'Upload-Metadata': metadata, ...(chunkSize ? { 'X-Chunk-Size': chunkSize } : {}) };
    const response = await fetch(pathOf('uploads'), { method: 'POST', headers });
    if (!response.ok) throw Object.assign(new Error(await wordsOf(response)), { isFinal: response.status < 500 && response.status !== 429 });
    const url = response.headers.get('Location');
    remember(this.key, { url, name: file.name, size: file.size, since: Date.now() });
    return { url, offset: 0, stored: file.size === 0 };
  }

  /** fetch does not tell how much has gone, so this is an XMLHttpRequest. */
  send(offset) {
    const { file } = this;
    this.show(offset, offset, 0);
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      this.request = request;
      const started = performance.now();
      request.open('PATCH', this.url);
      for (const [name, value] of Object.entries({ ...tus, 'Upload-Offset': String(offset), 'Content-Type': 'application/offset+octet-stream' })) request.setRequestHeader(name, value);
      request.upload.addEventListener('progress', ({ loaded }) => this.show(offset + loaded, offset, performance.now() - started));
      request.addEventListener('load', () => {
        if (request.status === 204) resolve(Number(request.getResponseHeader('Upload-Offset')) >= file.size ? 'stored' : 'more');
        else reject(Object.assign(new Error(problemWords(request)), { isFinal: ![404, 409, 429].includes(request.status) && request.status < 500 }));
      });
      for (const name of ['error', 'abort', 'timeout']) request.addEventListener(name, () => reject(new Error('the connection was lost')));
      request.send(file.slice(offset));
    });
  }

  show(sent, from, ms) {
    const { size } = this.file;
    this.bar.value = size > 0 ? sent / size : 1;
    if (sent >= size && size > 0) {
      this.state.textContent = 'storing …';
      return;
    }
    const rate = (sent - from) / Math.max(0.001, ms / 1000);
    const words = `${this.percent()} % of ${sizeWords(size)}`;
    this.state.textContent = ms < 1000 || rate === 0 ? words : `${words}, ${sizeWords(rate)}/s, ${timeWords((size - sent) / rate)}`;
  }

  finish() {
    remember(this.key);
    this.bar.value = 1;
    this.state.textContent = `${sizeWords(this.file.size)} stored`;
    this.end();
    say(`“${this.file.name}” is stored.`);
    setTimeout(() => this.dismiss(), 8000);
  }

  fail(words) {
    this.item.classList.add('failed');
    this.state.textContent = words;
    this.end();
    say(`“${this.file.name}” could not be stored: ${words}`);
  }

  end() {
    this.pause.hidden = true;
    this.ended = true;
    this.cancel.replaceWith(button('Hide', `Hide the upload of ${this.file.name}`, () => this.dismiss()));
  }
}

function problemWords(request) {
  try {
    return JSON.parse(request.responseText).detail ?? request.statusText;
  } catch {
    return request.statusText || `the server said ${request.status}`;
  }
}

function take(files) {
  const chunkSize = document.querySelector('[data-control=chunk-size]')?.value;
  for (const file of files) {
    tellLeft(keyOf(file));
    const sending = new Sending(file, chunkSize);
    waiting.push(sending);
    void warnOfLateIndex(file, sending.hint);
  }
  next();
}

function next() {
  while (running < atOnce && waiting.length > 0) {
    running += 1;
    void waiting.shift().run().finally(() => {
      running -= 1;
      next();
      if (running === 0 && waiting.length === 0) relist();
    });
  }
}

/** Lines for what was begun before the page was loaded anew; `taken`: that one is chosen again. */
function tellLeft(taken) {
  for (const line of list.querySelectorAll('.left')) if (taken === undefined || line.dataset.key === taken) line.remove();
  if (taken !== undefined) return;
  for (const [key, { url, name, size }] of Object.entries(remembered())) void tellLeftOne({ key, url, name, size });
}

async function tellLeftOne({ key, url, name, size }) {
  const response = await fetch(url, { method: 'HEAD', headers: tus }).catch(() => undefined);
  if (response && (response.status === 404 || response.headers.has('Content-Location'))) {
    remember(key);
    return;
  }
  const item = document.createElement('li');
  item.className = 'left';
  item.dataset.key = key;
  const bar = document.createElement('progress');
  bar.max = 1;
  bar.value = size > 0 ? Number(response?.headers.get('Upload-Offset') ?? 0) / size : 0;
  bar.setAttribute('aria-label', `Upload of ${name}`);
  const buttons = textIn('buttons', '');
  buttons.append(button('Forget', `Forget the upload of ${name}`, () => {
    remember(key);
    item.remove();
    if (!list.querySelector('li')) place.hidden = true;
    void fetch(url, { method: 'DELETE', headers: tus });
  }));
  item.append(textIn('name', name), bar, textIn('state', `${Math.floor(100 * bar.value)} % sent; choose the file again to go on`), buttons);
  list.append(item);
  place.hidden = false;
}

/** An mp4 whose index comes last needs one more request before its first picture. */
async function warnOfLateIndex(file, hint) {
  if (!/\.(mp4|m4v|mov)$/i.test(file.name) || file.size < 100) return;
  const view = new DataView(await file.slice(0, 64 * 1024).arrayBuffer());
  for (let at = 0; at + 8 <= view.byteLength; ) {
    const kind = String.fromCharCode(...[4, 5, 6, 7].map((i) => view.getUint8(at + i)));
    if (kind === 'moov') return;
    if (kind === 'mdat') break;
    const size = view.getUint32(at);
    if (size < 8) return;
    at += size;
  }
  hint.textContent = 'The index of this film is at its end (moov after mdat), so it starts a little later. ffmpeg -movflags +faststart puts it first.';
}

/** Files come by the button and by dropping them. `then`: what to do when all are stored. */
export function prepareUploads(then) {
  relist = then.relist;
  tellLeft();
  document.querySelector('[data-upload]').addEventListener('change', (event) => {
    take([...event.target.files]);
    event.target.value = '';
  });
  const drop = document.querySelector('.drop');
  let over = 0;
  const onFiles = (name, act) => document.addEventListener(name, (event) => {
    if (event.dataTransfer?.types.includes('Files')) act(event);
  });
  onFiles('dragenter', () => {
    over += 1;
    drop.classList.add('over');
  });
  onFiles('dragleave', () => {
    over -= 1;
    if (over <= 0) drop.classList.remove('over');
  });
  onFiles('dragover', (event) => event.preventDefault());
  onFiles('drop', (event) => {
    event.preventDefault();
    over = 0;
    drop.classList.remove('over');
    take([...event.dataTransfer.files]);
  });
}
