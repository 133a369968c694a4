// The page's script and style as they lie beside this module: read once at the start, served from memory, from no other origin.

import { createHash } from 'node:crypto';
import type { FileSystem } from '../../env/index.ts';

/** One file that is served as it is. */
export interface PageFile {
  readonly type: string;
  readonly bytes: Uint8Array;
  /** With its quotes. */
  readonly etag: string;
}

/** What the page is made of beside its text. */
export interface PageFiles {
  readonly script: PageFile;
  readonly statusScript: PageFile;
  readonly style: PageFile;
  readonly icon: PageFile;
}

/** Reads them from where the product is installed: `files` are those of the host, whatever else is in memory. */
export async function loadPageFiles(files: Pick<FileSystem, 'readAll'>): Promise<PageFiles> {
  const load = async (name: string, type: string): Promise<PageFile> => {
    const bytes = await files.readAll(decodeURIComponent(new URL(name, import.meta.url).pathname));
    return { type, bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"` };
  };
  return {
    script: await load('app.js', 'text/javascript; charset=utf-8'),
    statusScript: await load('status.js', 'text/javascript; charset=utf-8'),
    style: await load('app.css', 'text/css; charset=utf-8'),
    icon: await load('icon.svg', 'image/svg+xml'),
  };
}
