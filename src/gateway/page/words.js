// What all parts of the page use: where it is, how it says things, how it asks for what the server writes.

export const { base, bucket } = document.body.dataset;
const message = document.querySelector('.message');
document.documentElement.classList.add('scripted');

/** Says something to those who see and those who listen. */
export function say(words) {
  message.textContent = words;
  clearTimeout(say.timer);
  say.timer = setTimeout(() => (message.textContent = ''), 6000);
}

export const pathOf = (...parts) => `${base}/b/${encodeURIComponent(bucket)}/${parts.join('/')}`;

/** What went wrong, in the words of the server. */
export async function wordsOf(response) {
  try {
    return (await response.json()).detail ?? response.statusText;
  } catch {
    return response.statusText || 'the server did not answer';
  }
}

/** Times in the reader's own zone and manner. */
export function localise(root) {
  const form = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
  for (const time of root.querySelectorAll('time')) time.textContent = form.format(new Date(time.dateTime));
}

export async function fragment(query, which) {
  const asked = new URLSearchParams(query);
  asked.set('fragment', which);
  const response = await fetch(`${location.pathname}?${asked}`);
  if (!response.ok) throw new Error(await wordsOf(response));
  const holder = document.createElement('template');
  holder.innerHTML = await response.text();
  localise(holder.content);
  return holder.content;
}

export function go(changes, { replace = false } = {}) {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  history[replace ? 'replaceState' : 'pushState'](null, '', text === '' ? location.pathname : `?${text}`);
}

export async function copyLink(link) {
  try {
    await navigator.clipboard.writeText(link);
    say('Link copied.');
  } catch {
    prompt('Copy this link:', link);
  }
}

const sizes = ['bytes', 'KB', 'MB', 'GB', 'TB'];

export function sizeWords(bytes) {
  const unit = Math.min(sizes.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${(bytes / 1000 ** unit).toFixed(unit === 0 ? 0 : 1)} ${sizes[unit]}`;
}

export function timeWords(seconds) {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s left`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min left` : `${(seconds / 3600).toFixed(1)} h left`;
}
