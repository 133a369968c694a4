// Whole files on top of the FileSystem operations, once for all implementations. The replacing write is the only one that a crash cannot
// cut in half: the name moves to the new content only after that content is safe.

import { posix } from 'node:path';
import type { FileSystem } from './file-system.ts';

/** What reading and replacing whole files need. */
type FileAccess = Pick<FileSystem, 'open' | 'rename' | 'syncDirectory'>;

/** The whole content of a file. */
export async function readWholeFile(files: FileAccess, path: string): Promise<Uint8Array> {
  const file = await files.open(path, 'read');
  try {
    const content = new Uint8Array(await file.size());
    const length = await file.read(content, 0);
    return length === content.length ? content : content.subarray(0, length);
  } finally {
    await file.close();
  }
}

/** Replaces a file's content in one durable step. A temporary file of an earlier attempt is overwritten. */
export async function replaceWholeFile(files: FileAccess, path: string, content: Uint8Array): Promise<void> {
  const temporary = `${path}.new`;
  const file = await files.open(temporary, 'write');
  try {
    await file.truncate(0);
    await file.write(content, 0);
    await file.sync();
  } finally {
    await file.close();
  }
  await files.rename(temporary, path);
  await files.syncDirectory(posix.dirname(path));
}
