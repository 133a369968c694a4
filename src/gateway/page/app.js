// The list: search and sort without loading anew, endless pages. It puts in what the server writes (rows, player), so the page is the same with and
// without the script. The player is in player.js, sending files in uploads.js.

import { copyLink, fragment, go, localise, pathOf, say, wordsOf } from './words.js';
import { preparePlayer, show } from './player.js';
import { prepareUploads } from './uploads.js';

const table = document.querySelector('#files tbody');
const search = document.querySelector('input[name=prefix]');

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

let typing;
search.addEventListener('input', () => {
  clearTimeout(typing);
  typing = setTimeout(() => {
    go({ prefix: search.value, after: null }, { replace: true });
    void relist();
  }, 200);
});

search.form.addEventListener('submit', (event) => event.preventDefault());

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

window.addEventListener('popstate', () => {
  search.value = new URLSearchParams(location.search).get('prefix') ?? '';
  void relist();
  void show();
});

localise(document);
watchEnd();
preparePlayer();
prepareUploads({ relist });
