// The page's script: search and sort without loading anew, endless pages, uploads with progress, the player's keys. It puts in what the server
// writes (rows, player), so the page is the same with and without it. Played files are named by id: a new revision of the name in mid-playback
// can never be mixed into the old one.

const { base, bucket } = document.body.dataset;
const table = document.querySelector('#files tbody');
const message = document.querySelector('.message');
const search = document.querySelector('input[name=prefix]');
document.documentElement.classList.add('scripted');

/** Says something to those who see and those who listen. */
function say(words) {
  message.textContent = words;
  clearTimeout(say.timer);
  say.timer = setTimeout(() => (message.textContent = ''), 6000);
}

const pathOf = (...parts) => `${base}/b/${encodeURIComponent(bucket)}/${parts.join('/')}`;

/** What went wrong, in the words of the server. */
async function wordsOf(response) {
  try {
    return (await response.json()).detail ?? response.statusText;
  } catch {
    return response.statusText || 'the server did not answer';
  }
}

// --- The list ---------------------------------------------------------------------------------------------------------------------------------

/** Times in the reader's own zone and manner. */
function localise(root) {
  const form = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
  for (const time of root.querySelectorAll('time')) time.textContent = form.format(new Date(time.dateTime));
}

async function fragment(query, which) {
  const asked = new URLSearchParams(query);
  asked.set('fragment', which);
  const response = await fetch(`${location.pathname}?${asked}`);
  if (!response.ok) throw new Error(await wordsOf(response));
  const holder = document.createElement('template');
  holder.innerHTML = await response.text();
  localise(holder.content);
  return holder.content;
}

let listing = 0;

/** Lists anew what the address says. */
async function relist() {
  const turn = ++listing;
  table.setAttribute('aria-busy', 'true');
  try {
    const query = new URLSearchParams(location.search);
    query.delete('after');
    const rows = await fragment(query, 'rows');
    if (turn !== listing) return;
    table.replaceChildren(rows);
    watchEnd();
  } catch (error) {
    say(`The list could not be read: ${error.message}`);
  } finally {
    table.removeAttribute('aria-busy');
  }
}

const ends = new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting) void more(entry.target);
}, { rootMargin: '600px' });

function watchEnd() {
  ends.disconnect();
  const row = table.querySelector('tr.more');
  if (row) ends.observe(row);
}

/** Puts the next page in the place of the row that links to it. */
async function more(row) {
  ends.unobserve(row);
  try {
    const rows = await fragment(new URL(row.querySelector('a').href).search, 'rows');
    if (row.isConnected) row.replaceWith(rows);
    watchEnd();
  } catch (error) {
    say(`More files could not be read: ${error.message}`);
  }
}

function go(changes, { replace = false } = {}) {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  history[replace ? 'replaceState' : 'pushState'](null, '', text === '' ? location.pathname : `?${text}`);
}

let typing;
search.addEventListener('input', () => {
  clearTimeout(typing);
  typing = setTimeout(() => {
    go({ prefix: search.value, after: null }, { replace: true });
    void relist();
  }, 200);
});

for (const link of document.querySelectorAll('a.sort')) {
  link.addEventListener('click', (event) => {
    event.preventDefault();
    const field = link.closest('th').classList.contains('name') ? 'filename' : link.closest('th').classList.contains('size') ? 'length' : 'uploadDate';
    const current = new URLSearchParams(location.search).get('sort') ?? '-uploadDate';
    const next = current === field ? `-${field}` : field;
    for (const head of document.querySelectorAll('th[aria-sort]')) head.removeAttribute('aria-sort');
    link.closest('th').setAttribute('aria-sort', next.startsWith('-') ? 'descending' : 'ascending');
    go({ sort: next, after: null });
    void relist();
  });
}

table.addEventListener('click', (event) => {
  const row = event.target.closest('tr[data-id]');
  const action = event.target.closest('[data-action]')?.dataset.action;
  if (action === 'copy') void copyLink(new URL(row.dataset.url, location.href).href);
  else if (action === 'delete') void remove(row);
  else if (event.target.closest('a.play') && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    go({ play: row.dataset.id });
    void show({ start: true });
  }
});

async function copyLink(link) {
  try {
    await navigator.clipboard.writeText(link);
    say('Link copied.');
  } catch {
    prompt('Copy this link:', link);
  }
}

async function remove(row) {
  if (!confirm(`Delete “${row.dataset.name}”? This cannot be undone.`)) return;
  const response = await fetch(pathOf('files', encodeURIComponent(row.dataset.id)), { method: 'DELETE' });
  if (!response.ok && response.status !== 404) {
    say(`It could not be deleted: ${await wordsOf(response)}`);
    return;
  }
  if (new URLSearchParams(location.search).get('play') === row.dataset.id) {
    go({ play: null });
    await show();
  }
  (row.nextElementSibling ?? row.previousElementSibling)?.querySelector('a')?.focus();
  row.remove();
  say(`“${row.dataset.name}” is deleted.`);
}

// --- The player -------------------------------------------------------------------------------------------------------------------------------

const frameSeconds = 1 / 25;

/** Shows what the address says is to be played. */
async function show({ start = false } = {}) {
  try {
    const content = await fragment(location.search, 'player');
    document.querySelector('#player').replaceWith(content);
  } catch (error) {
    say(`It could not be opened: ${error.message}`);
    return;
  }
  preparePlayer({ start });
}

function preparePlayer({ start = false } = {}) {
  const section = document.querySelector('#player');
  section.querySelector('a.close')?.addEventListener('click', (event) => {
    event.preventDefault();
    go({ play: null });
    void show();
  });
  if (start) section.scrollIntoView({ block: 'start', behavior: 'smooth' });
  const media = section.querySelector('video, audio');
  if (!media) return;
  const note = section.querySelector('.note');
  const placeKey = `place:${base}:${bucket}:${media.dataset.id}`;
  media.addEventListener('loadedmetadata', () => begin(media, placeKey));
  if (media.readyState >= 1) begin(media, placeKey);
  media.addEventListener('timeupdate', () => rememberPlace(media, placeKey));
  media.addEventListener('error', () => void explain(media, note));
  watchPlayback(media, note);
  section.querySelector('[data-control=speed]')?.addEventListener('change', (event) => (media.playbackRate = Number(event.target.value)));
  section.querySelector('[data-control=link]')?.addEventListener('click', () => {
    const link = new URL(location.href);
    link.hash = `t=${Math.floor(media.currentTime)}`;
    void copyLink(link.href);
  });
  const picture = section.querySelector('[data-control=picture]');
  if (picture && !document.pictureInPictureEnabled) picture.hidden = true;
  picture?.addEventListener('click', () => void togglePicture(media));
  if (start) media.play().catch(() => undefined);
}

/** At the moment that the address names, or where one stopped. */
function begin(media, placeKey) {
  if (media.dataset.begun) return;
  media.dataset.begun = 'yes';
  const asked = Number(/^#t=(\d+(?:\.\d+)?)$/.exec(location.hash)?.[1] ?? Number.NaN);
  const stopped = Number(localStorage.getItem(placeKey) ?? Number.NaN);
  if (asked >= 0) media.currentTime = asked;
  else if (stopped > 5 && stopped < media.duration - 5) media.currentTime = stopped;
}

function rememberPlace(media, placeKey) {
  const now = Math.floor(media.currentTime);
  if (now === media.rememberedPlace) return;
  media.rememberedPlace = now;
  if (media.ended || media.duration - now < 5) localStorage.removeItem(placeKey);
  else localStorage.setItem(placeKey, String(now));
}

/** One quiet line: how soon it began, how often it waited. */
function watchPlayback(media, note) {
  const asked = performance.now();
  let first;
  let stalls = 0;
  const tell = () => {
    const words = first === undefined ? [] : [`first frame after ${first < 1000 ? `${Math.round(first)} ms` : `${(first / 1000).toFixed(1)} s`}`];
    if (stalls > 0) words.push(`waited ${stalls === 1 ? 'once' : `${stalls} times`}`);
    if (!media.error) note.textContent = words.join(' · ');
  };
  media.addEventListener('loadeddata', () => {
    first ??= performance.now() - asked;
    tell();
  });
  media.addEventListener('waiting', () => {
    if (media.seeking || first === undefined) return;
    stalls += 1;
    tell();
  });
}

const mediaErrors = { 1: 'Playing was stopped.', 2: 'The connection was lost.', 3: 'The file is damaged, or of a kind that this browser cannot decode.', 4: 'This browser cannot play this kind of file.' };

/** Says why it does not play: the server knows whether chunks are missing. */
async function explain(media, note) {
  note.setAttribute('role', 'alert');
  note.classList.add('fault');
  note.textContent = mediaErrors[media.error?.code] ?? 'It cannot be played.';
  try {
    const response = await fetch(pathOf('files', encodeURIComponent(media.dataset.id), 'check'));
    if (response.status === 404) note.textContent = 'This file is not here any more.';
    if (!response.ok) return;
    const check = await response.json();
    const words = faultWords(check);
    if (words) note.textContent = `${words} ${check.chunksFound} of ${check.chunksExpected} chunks are there.`;
  } catch {
    note.textContent = 'The server cannot be reached.';
  }
}

function faultWords({ sound, missing, wrongLength, extra, chunksExpected, sha256Agrees }) {
  if (sound) return '';
  const some = (list) => `${list.slice(0, 5).join(', ')}${list.length > 5 ? ', …' : ''}`;
  if (missing.length === 1) return `Chunk ${missing[0]} of ${chunksExpected} is missing.`;
  if (missing.length > 1) return `Chunks ${some(missing)} of ${chunksExpected} are missing.`;
  if (wrongLength.length > 0) return `Chunk ${some(wrongLength)} of ${chunksExpected} has the wrong length.`;
  if (extra.length > 0) return `Chunk ${some(extra)} is there more than once, or beyond the end.`;
  return sha256Agrees === false ? 'The bytes are not those that were uploaded.' : 'The file is damaged.';
}

async function togglePicture(video) {
  try {
    if (document.pictureInPictureElement) await document.exitPictureInPicture();
    else await video.requestPictureInPicture();
  } catch (error) {
    say(`Picture in picture is not to be had: ${error.message}`);
  }
}

function toggleFull(media) {
  if (document.fullscreenElement) void document.exitFullscreen();
  else void media.requestFullscreen?.();
}

const seekBy = (seconds) => (media) => {
  const end = Number.isFinite(media.duration) ? media.duration : media.currentTime + seconds;
  media.currentTime = Math.min(Math.max(0, media.currentTime + seconds), end);
};
const togglePlay = (media) => void (media.paused ? media.play().catch(() => undefined) : media.pause());
const step = (direction) => (media) => {
  media.pause();
  seekBy(direction * frameSeconds)(media);
};

const keys = {
  ' ': togglePlay, k: togglePlay, ArrowLeft: seekBy(-5), ArrowRight: seekBy(5), j: seekBy(-10), l: seekBy(10), ',': step(-1), '.': step(1), f: toggleFull,
  m: (media) => (media.muted = !media.muted),
};

document.addEventListener('keydown', (event) => {
  const media = document.querySelector('#player video, #player audio');
  if (!media || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (event.target.closest('input, select, textarea, button, a, summary, label')) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const tenth = /^\d$/.test(key) && Number.isFinite(media.duration) ? (target) => (target.currentTime = (target.duration * Number(key)) / 10) : undefined;
  const act = keys[key] ?? tenth;
  if (!act) return;
  event.preventDefault();
  act(media);
}, { capture: true });

window.addEventListener('popstate', () => {
  search.value = new URLSearchParams(location.search).get('prefix') ?? '';
  void relist();
  void show();
});

// --- Uploads ----------------------------------------------------------------------------------------------------------------------------------

const uploads = document.querySelector('.uploads');
const waiting = [];
const atOnce = 2;
let running = 0;

function take(files) {
  for (const file of files) {
    waiting.push({ file, item: uploadItem(file) });
  }
  uploads.hidden = false;
  next();
}

function next() {
  while (running < atOnce && waiting.length > 0) {
    running += 1;
    void send(waiting.shift()).finally(() => {
      running -= 1;
      next();
      if (running === 0 && waiting.length === 0) void relist();
    });
  }
}

function uploadItem(file) {
  const item = document.createElement('li');
  const name = document.createElement('span');
  name.className = 'name';
  name.textContent = file.name;
  const bar = document.createElement('progress');
  bar.max = 1;
  bar.value = 0;
  bar.setAttribute('aria-label', `Upload of ${file.name}`);
  const state = document.createElement('span');
  state.className = 'state';
  state.textContent = 'waiting';
  const cancel = document.createElement('button');
  cancel.type = 'button';
  cancel.className = 'action';
  cancel.textContent = 'Cancel';
  cancel.setAttribute('aria-label', `Cancel the upload of ${file.name}`);
  item.append(name, bar, state, cancel);
  uploads.querySelector('ul').append(item);
  item.parts = { bar, state, cancel };
  cancel.addEventListener('click', () => {
    const index = waiting.findIndex((one) => one.item === item);
    if (index >= 0) waiting.splice(index, 1);
    item.cancel?.();
    dismiss(item);
  });
  return item;
}

function dismiss(item) {
  item.remove();
  if (!uploads.querySelector('li')) uploads.hidden = true;
}

/** Sends one file: fetch does not tell how much has gone, so this is an XMLHttpRequest. */
function send({ file, item }) {
  const { bar, state, cancel } = item.parts;
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    const started = performance.now();
    request.open('PUT', pathOf('name', ...file.name.split('/').map(encodeURIComponent)));
    if (file.type) request.setRequestHeader('Content-Type', file.type);
    request.upload.addEventListener('progress', ({ loaded, total }) => {
      bar.value = total > 0 ? loaded / total : 1;
      state.textContent = progressWords(loaded, total, performance.now() - started);
    });
    request.addEventListener('load', () => {
      if (request.status === 201) finishItem(item, file);
      else failItem(item, file, problemWords(request));
    });
    request.addEventListener('error', () => failItem(item, file, 'the connection was lost'));
    request.addEventListener('loadend', resolve);
    item.cancel = () => request.abort();
    cancel.hidden = false;
    request.send(file);
  });
}

function problemWords(request) {
  try {
    return JSON.parse(request.responseText).detail ?? request.statusText;
  } catch {
    return request.statusText || `the server said ${request.status}`;
  }
}

const sizes = ['bytes', 'KB', 'MB', 'GB', 'TB'];

function sizeWords(bytes) {
  const unit = Math.min(sizes.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${(bytes / 1000 ** unit).toFixed(unit === 0 ? 0 : 1)} ${sizes[unit]}`;
}

function timeWords(seconds) {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s left`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min left` : `${(seconds / 3600).toFixed(1)} h left`;
}

function progressWords(loaded, total, ms) {
  if (loaded >= total) return 'storing …';
  const rate = loaded / Math.max(0.001, ms / 1000);
  const words = `${Math.floor((100 * loaded) / total)} % of ${sizeWords(total)}`;
  return ms < 1000 ? words : `${words}, ${sizeWords(rate)}/s, ${timeWords((total - loaded) / rate)}`;
}

function finishItem(item, file) {
  item.parts.bar.value = 1;
  item.parts.state.textContent = `${sizeWords(file.size)} stored`;
  item.parts.cancel.textContent = 'Hide';
  item.parts.cancel.setAttribute('aria-label', `Hide the upload of ${file.name}`);
  item.cancel = undefined;
  say(`“${file.name}” is stored.`);
  setTimeout(() => dismiss(item), 8000);
}

function failItem(item, file, words) {
  item.classList.add('failed');
  item.parts.state.textContent = words;
  item.parts.cancel.textContent = 'Hide';
  item.cancel = undefined;
  say(`“${file.name}” could not be stored: ${words}`);
}

document.querySelector('[data-upload]').addEventListener('change', (event) => {
  take(event.target.files);
  event.target.value = '';
});

const drop = document.querySelector('.drop');
let over = 0;
const hasFiles = (event) => event.dataTransfer?.types.includes('Files');
document.addEventListener('dragenter', (event) => {
  if (!hasFiles(event)) return;
  over += 1;
  drop.classList.add('over');
});
document.addEventListener('dragleave', (event) => {
  if (!hasFiles(event)) return;
  over -= 1;
  if (over <= 0) drop.classList.remove('over');
});
document.addEventListener('dragover', (event) => {
  if (hasFiles(event)) event.preventDefault();
});
document.addEventListener('drop', (event) => {
  if (!hasFiles(event)) return;
  event.preventDefault();
  over = 0;
  drop.classList.remove('over');
  take(event.dataTransfer.files);
});
window.addEventListener('beforeunload', (event) => {
  if (running > 0) event.preventDefault();
});

localise(document);
watchEnd();
preparePlayer();
