// The page: a list of a bucket's files and a player, written on the server, so that both work without the script. The script asks for the same
// rows as a fragment and puts them in, so there is one place that knows what a row looks like.

import { FileId, readBytes } from '../../gridfs/index.ts';
import type { FileBucket, FilePage, StoredFile } from '../../gridfs/index.ts';
import { sentType } from '../content-type.ts';
import type { Exchange } from '../exchange.ts';
import { fileQuery, placeOf, revisionsOf } from '../file-list.ts';
import type { FilePlaceInPaths } from '../file-list.ts';
import type { GatewayParts } from '../gateway-parts.ts';
import { filePath, namePath } from '../route.ts';
import type { Route } from '../route.ts';
import { describeBytes, describeChunk, escapeHtml, timeElement } from './html.ts';
import { pageFields } from './page-answer.ts';

/** Bytes of a text that are shown. */
const previewBytes = 64_000;

interface View {
  readonly bucket: FileBucket;
  readonly place: FilePlaceInPaths;
  readonly query: URLSearchParams;
}

/** GET of the page, or, with `fragment`, of its rows or its player only. */
export async function answerPage(parts: GatewayParts, exchange: Exchange, route: Route): Promise<void> {
  const name = route.query.get('bucket') ?? route.bucket;
  const bucket = parts.store.bucket(route.db, name);
  const view = { bucket, place: placeOf(parts, { ...route, bucket: name }), query: route.query };
  exchange.send(200, pageFields, await render(view));
}

async function render(view: View): Promise<string> {
  const { query, bucket } = view;
  const fragment = query.get('fragment');
  if (fragment === 'player') return await playerSection(view);
  const page = await bucket.list(fileQuery(query));
  const rows = await tableRows(view, page);
  return fragment === null ? wholePage(view, { rows, player: await playerSection(view) }) : rows;
}

/** A link to this page with some of its query changed; null takes a field away. */
function linkWith(query: URLSearchParams, changes: Readonly<Record<string, string | null>>): string {
  const next = new URLSearchParams(query);
  next.delete('fragment');
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) next.delete(name);
    else next.set(name, value);
  }
  const text = next.toString();
  return escapeHtml(text === '' ? './' : `?${text}`);
}

async function tableRows({ bucket, place, query }: View, { files, next }: FilePage): Promise<string> {
  const revisions = await revisionsOf(bucket, files);
  const rows = files.map((file) => fileRow(file, { place, query, revisions: revisions.get(file.filename) ?? 1 }));
  if (files.length === 0 && query.get('after') === null) rows.push(emptyRow(query));
  if (next !== undefined) {
    rows.push(`<tr class="more"><td colspan="5"><a rel="next" href="${linkWith(query, { after: next, play: null })}">More files</a></td></tr>`);
  }
  return rows.join('\n');
}

function emptyRow(query: URLSearchParams): string {
  const prefix = query.get('prefix') ?? '';
  const words = prefix === '' ? 'No files here yet. Drop one on this page, or store one with any MongoDB driver.' : `No name begins with “${escapeHtml(prefix)}”.`;
  return `<tr class="empty"><td colspan="5">${words}</td></tr>`;
}

function fileRow(file: StoredFile, { place, query, revisions }: { readonly place: FilePlaceInPaths; readonly query: URLSearchParams; readonly revisions: number }): string {
  const { type } = sentType(file.contentType, file.filename);
  const url = escapeHtml(filePath(place.base, place.bucket, file.id.text));
  const id = escapeHtml(file.id.text);
  const name = file.filename === undefined ? `<i>no name</i> <code>${id}</code>` : escapeHtml(file.filename);
  const plain = escapeHtml(file.filename ?? file.id.text);
  const fault = file.fault === undefined ? '' : ` <strong class="fault" title="${escapeHtml(file.fault)}">damaged</strong>`;
  return `<tr data-id="${id}" data-name="${plain}" data-url="${url}">
<td class="name"><span class="kind ${kindOf(type)}" aria-hidden="true"></span><a class="play" href="${linkWith(query, { play: file.id.text, after: null })}#player">${name}</a>${fault}</td>
<td class="type">${escapeHtml(type.split(';', 1)[0] ?? type)}</td>
<td class="size">${file.fault === undefined ? describeBytes(file.length) : '–'}</td>
<td class="date">${file.uploadDateMs === undefined ? '–' : timeElement(file.uploadDateMs)}${revisions > 1 ? ` <span class="revisions" title="files of this name">${revisions === 1000 ? '1000+' : revisions} revisions</span>` : ''}</td>
<td class="actions"><a class="action" href="${url}?download=1" download aria-label="Download ${plain}">Download</a><button class="action needs-script" type="button" data-action="copy" aria-label="Copy link to ${plain}">Copy link</button><button class="action needs-script" type="button" data-action="delete" aria-label="Delete ${plain}">Delete</button></td>
</tr>`;
}

function kindOf(type: string): string {
  const family = type.split('/', 1)[0] ?? '';
  return ['video', 'audio', 'image', 'text'].includes(family) ? family : 'other';
}

async function playerSection({ bucket, place, query }: View): Promise<string> {
  const text = query.get('play');
  if (text === null) return '<section id="player" class="player" aria-label="Player" hidden></section>';
  const id = FileId.parse(text);
  const file = id === undefined ? undefined : await bucket.byId(id);
  const close = `<a class="action close" href="${linkWith(query, { play: null })}">Close</a>`;
  const section = (inside: string): string => `<section id="player" class="player" aria-label="Player">${inside}</section>`;
  if (file === undefined) return section(`<header><h2>This file is not here any more</h2>${close}</header><p>It may have been deleted since the list was made.</p>`);
  const title = escapeHtml(file.filename ?? file.id.text);
  const url = escapeHtml(filePath(place.base, place.bucket, file.id.text));
  const facts = `<p class="facts">${escapeHtml(sentType(file.contentType, file.filename).type)} · ${describeBytes(file.length)} in chunks of ${describeChunk(file.chunkSize)} · <a href="${url}?download=1" download>Download</a></p>`;
  const stage = file.fault === undefined ? await stageOf(bucket, place, file) : `<p class="fault" role="alert">This file cannot be read: ${escapeHtml(file.fault)}.</p>`;
  return section(`<header><h2>${title}</h2>${close}</header>${stage}${facts}`);
}

async function stageOf(bucket: FileBucket, place: FilePlaceInPaths, file: StoredFile): Promise<string> {
  const { type, inline } = sentType(file.contentType, file.filename);
  const url = escapeHtml(filePath(place.base, place.bucket, file.id.text));
  const name = escapeHtml(file.filename ?? file.id.text);
  const id = escapeHtml(file.id.text);
  const note = '<p class="note" role="status"></p>';
  if (type.startsWith('video/')) {
    const track = await subtitlesOf(bucket, place, file);
    return `<video class="stage" controls playsinline preload="metadata" src="${url}" data-id="${id}"${thumbnailsOf(place, file)} aria-label="${name}">${track}</video>${timeline}${note}${videoControls}`;
  }
  if (type.startsWith('audio/')) return `<audio class="stage" controls preload="metadata" src="${url}" data-id="${id}" aria-label="${name}"></audio>${note}`;
  if (type.startsWith('image/') && inline) return `<img class="stage" src="${url}" alt="${name}">`;
  if (type.startsWith('text/') && inline) return await textPreview(bucket, file, url);
  return inline ? `<p><a class="action" href="${url}">Open</a></p>` : '<p>This kind of file is not shown here; it can be downloaded.</p>';
}

const timeline = '<div class="timeline needs-script" role="slider" tabindex="0" aria-label="Position in the film" aria-valuemin="0"><canvas class="loaded" width="1000" height="1" aria-hidden="true"></canvas><span class="played"></span><span class="tip" aria-hidden="true" hidden><canvas width="192" height="108"></canvas><span class="when"></span></span></div>';

const videoControls = `<div class="controls needs-script"><label>Speed <select data-control="speed"><option value="0.5">0.5×</option><option value="0.75">0.75×</option><option value="1" selected>1×</option><option value="1.25">1.25×</option><option value="1.5">1.5×</option><option value="2">2×</option></select></label><button class="action" type="button" data-control="picture">Picture in picture</button><button class="action" type="button" data-control="link">Copy link to this moment</button><details><summary>Keys</summary><p><kbd>space</kbd> play or pause · <kbd>←</kbd> <kbd>→</kbd> 5 s · <kbd>J</kbd> <kbd>L</kbd> 10 s · <kbd>,</kbd> <kbd>.</kbd> one frame · <kbd>0</kbd>–<kbd>9</kbd> tenths · <kbd>M</kbd> mute · <kbd>F</kbd> full screen</p></details></div>`;

/** The beginning of a text, as it is. */
async function textPreview(bucket: FileBucket, file: StoredFile, url: string): Promise<string> {
  let text = '';
  if (file.chunkCount > 0) {
    const decoder = new TextDecoder();
    await readBytes(bucket.open(file), 0, Math.min(previewBytes, file.length) - 1, (bytes) => {
      text += decoder.decode(bytes, { stream: true });
    });
  }
  const rest = file.length > previewBytes ? `<p class="note">The first ${describeBytes(previewBytes)}. <a href="${url}">All of it</a></p>` : '';
  return `<pre class="stage text" tabindex="0">${escapeHtml(text)}</pre>${rest}`;
}

/** `name.vtt` beside `name.mp4` is its subtitles. */
async function subtitlesOf(bucket: FileBucket, place: FilePlaceInPaths, { filename }: StoredFile): Promise<string> {
  const name = filename?.replace(/\.[^./]+$/, '.vtt');
  if (name === undefined || name === filename) return '';
  const subtitles = await bucket.byName(name, -1);
  return subtitles === undefined ? '' : `<track kind="subtitles" label="Subtitles" src="${escapeHtml(filePath(place.base, place.bucket, subtitles.id.text))}" default>`;
}

/**
 * Where the small pictures of a film are told: the name, in its metadata, of a WebVTT file of the bucket whose cues name parts of pictures. By name, so that
 * it may name pictures beside itself.
 */
function thumbnailsOf({ base, bucket }: FilePlaceInPaths, { metadata }: StoredFile): string {
  const fields: unknown = metadata === undefined ? undefined : JSON.parse(metadata);
  const name: unknown = typeof fields === 'object' && fields !== null && 'thumbnails' in fields ? fields.thumbnails : undefined;
  return typeof name === 'string' ? ` data-thumbnails="${escapeHtml(namePath(base, bucket, name))}"` : '';
}

/** What a search keeps of the page that it is made on. */
function keptFields(query: URLSearchParams): string {
  return ['bucket', 'sort'].map((name) => {
    const value = query.get(name);
    return value === null ? '' : `<input type="hidden" name="${name}" value="${escapeHtml(value)}">`;
  }).join('');
}

function wholePage({ bucket, place, query }: View, { rows, player }: { readonly rows: string; readonly player: string }): string {
  const sort = query.get('sort') ?? '-uploadDate';
  const title = `${escapeHtml(bucket.db)} / ${escapeHtml(bucket.name)}`;
  const column = (field: string, words: string, kind: string): string => {
    const isSorted = sort.replace('-', '') === field;
    const next = sort === field ? `-${field}` : field;
    const order = isSorted ? ` aria-sort="${sort.startsWith('-') ? 'descending' : 'ascending'}"` : '';
    return `<th class="${kind}" scope="col"${order}><a class="sort" href="${linkWith(query, { sort: next, after: null })}">${words}</a></th>`;
  };
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} – FrondDB files</title>
<link rel="icon" type="image/svg+xml" href="/favicon.ico">
<link rel="stylesheet" href="/assets/app.css">
<script src="/assets/app.js" type="module"></script>
</head>
<body data-base="${escapeHtml(place.base)}" data-bucket="${escapeHtml(place.bucket)}">
<a class="skip" href="#files">Skip to the files</a>
<header class="top">
<h1><span class="brand">FrondDB</span> <span class="where">${title}</span></h1>
<div class="tools">
<form class="search" role="search">${keptFields(query)}<label><span class="hidden-words">Names that begin with</span><input type="search" name="prefix" placeholder="Name begins with …" autocomplete="off" spellcheck="false" value="${escapeHtml(query.get('prefix') ?? '')}"></label><button class="action needs-no-script">Search</button></form>
<label class="chunk-size needs-script" title="Large chunks cost fewer reads, small ones less memory and quicker seeks">Chunks <select data-control="chunk-size"><option value="">255 KiB</option><option value="1048576">1 MiB</option><option value="4194304">4 MiB</option><option value="8388608">8 MiB</option></select></label>
<label class="action primary needs-script">Upload<input class="hidden-words" type="file" multiple data-upload></label>
</div>
<a class="action status-link" href="/status">Status</a>
</header>
<main>
<section class="uploads" aria-label="Uploads" hidden><ul></ul></section>
${player}
<table id="files">
<caption class="hidden-words">Files of the bucket ${title}</caption>
<thead><tr>${column('filename', 'Name', 'name')}<th class="type" scope="col">Type</th>${column('length', 'Size', 'size')}${column('uploadDate', 'Uploaded', 'date')}<th class="actions" scope="col"><span class="hidden-words">Actions</span></th></tr></thead>
<tbody>
${rows}
</tbody>
</table>
</main>
<p class="drop" aria-hidden="true">Drop files to upload them</p>
<p class="message" role="status" aria-live="polite"></p>
</body>
</html>
`;
}
