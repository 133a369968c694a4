// The player: keys, speed, picture in picture, a line that shows what is loaded with a look ahead at where one points, resuming where one stopped, and
// errors in words. Played files are named by id: a new revision of the name in mid-playback can never be mixed into the old one.

import { base, bucket, copyLink, fragment, go, pathOf, say, sizeWords } from './words.js';
import { prepareTimeline } from './timeline.js';

const frameSeconds = 1 / 25;

/** Shows what the address says is to be played. */
export async function show({ start = false } = {}) {
  try {
    const content = await fragment(location.search, 'player');
    document.querySelector('#player').replaceWith(content);
  } catch (error) {
    say(`It could not be opened: ${error.message}`);
    return;
  }
  preparePlayer({ start });
}

export function preparePlayer({ start = false } = {}) {
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
  const timeline = section.querySelector('.timeline');
  if (timeline) prepareTimeline(media, timeline);
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

/** One quiet line: how soon it began, how often it waited, how much of the film came over the net. */
function watchPlayback(media, note) {
  const asked = performance.now();
  let first;
  let stalls = 0;
  let fetched = 0;
  const tell = () => {
    const words = first === undefined ? [] : [`first picture after ${first < 1000 ? `${Math.round(first)} ms` : `${(first / 1000).toFixed(1)} s`}`];
    if (stalls > 0) words.push(`waited ${stalls === 1 ? 'once' : `${stalls} times`}`);
    if (fetched > 0) words.push(`${sizeWords(fetched)} fetched`);
    if (!media.error) note.textContent = words.join(' · ');
  };
  media.addEventListener('loadeddata', () => {
    first ??= performance.now() - asked;
    tell();
  });
  // The browser tells of each of the player's requests when it is over.
  const watch = new PerformanceObserver((list) => {
    for (const { name, startTime, transferSize } of list.getEntries()) if (name === media.currentSrc && startTime > asked - 1000) fetched += transferSize;
    if (!media.isConnected) watch.disconnect();
    else if (first !== undefined) tell();
  });
  watch.observe({ type: 'resource', buffered: true });
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
