// Scripts, style and icon of the pages as they lie beside this module: read once at the start, served from memory, from no other origin.

import { createHash } from 'node:crypto';
import type { FileSystem } from '../../env/index.ts';

/** One file that is served as it is. */
export interface PageFile {
  readonly type: string;
  readonly bytes: Uint8Array;
  /** With its quotes. */
  readonly etag: string;
}

/** What the pages are made of beside their text, by name. */
export type PageFiles = ReadonlyMap<string, PageFile>;

const types: ReadonlyMap<string, string> = new Map([['js', 'text/javascript; charset=utf-8'], ['css', 'text/css; charset=utf-8'], ['svg', 'image/svg+xml']]);
const names = ['app.js', 'player.js', 'timeline.js', 'thumbnails.js', 'uploads.js', 'words.js', 'status.js', 'app.css', 'icon.svg'];

/** Reads them from where the product is installed: `files` are those of the host, whatever else is in memory. */
export async function loadPageFiles(files: Pick<FileSystem, 'readAll'>): Promise<PageFiles> {
  const loaded = new Map<string, PageFile>();
  for (const name of names) {
    const bytes = await files.readAll(decodeURIComponent(new URL(name, import.meta.url).pathname));
    const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
    loaded.set(name, { type: types.get(name.split('.').at(-1) ?? '') ?? '', bytes, etag });
  }
  return loaded;
}
