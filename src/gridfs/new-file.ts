// What any new file must be like, whichever store it goes to.

import { FileError } from './file-error.ts';
import { chunkSizeDefault, chunkSizeMax, chunkSizeMin } from './file-store.ts';
import type { NewFile } from './file-store.ts';

/** The chunk size of a new file. FileError `bad-name`, `bad-chunk-size`. */
export function checkNewFile({ filename, chunkSize = chunkSizeDefault }: NewFile): number {
  if (filename === '' || filename.includes('\0')) throw new FileError('bad-name', 'a file needs a name, without null bytes');
  if (!Number.isInteger(chunkSize) || chunkSize < chunkSizeMin || chunkSize > chunkSizeMax) {
    throw new FileError('bad-chunk-size', `the chunk size must be from ${chunkSizeMin} to ${chunkSizeMax} bytes`);
  }
  return chunkSize;
}
