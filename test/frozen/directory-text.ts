// A data directory as one text that git keeps well: each file deflated, in base64 lines. Data files are mostly zeros, so it is small.

import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { deflateSync, inflateSync } from 'node:zlib';

const lineChars = 160;

interface PackedFile {
  readonly path: string;
  readonly deflated: readonly string[];
}

/** All files below a directory but its lock. */
export async function packDirectory(directory: string): Promise<string> {
  const files: PackedFile[] = [];
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || entry.name.startsWith('LOCK')) continue;
    const path = join(entry.parentPath, entry.name);
    const base64 = deflateSync(await readFile(path), { level: 9 }).toString('base64');
    files.push({ path: path.slice(directory.length + 1), deflated: base64.match(new RegExp(`.{1,${String(lineChars)}}`, 'g')) ?? [] });
  }
  return `${JSON.stringify(files.sort((a, b) => (a.path < b.path ? -1 : 1)), undefined, 1)}\n`;
}

/** Writes the files of a packed directory below `directory`. */
export async function unpackDirectory(text: string, directory: string): Promise<void> {
  for (const { path, deflated } of JSON.parse(text) as readonly PackedFile[]) {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await writeFile(join(directory, path), inflateSync(Buffer.from(deflated.join(''), 'base64')));
  }
}
