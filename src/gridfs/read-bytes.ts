// A stretch of a file from its beginning to its end, for whoever wants all of it: the reader itself gives as much as is best read at once.

import { BlockHash } from '../base/block-hash.ts';
import { readMemoryBytes } from './file-store.ts';
import type { FileReader } from './file-store.ts';

/** Gives bytes `first` to `last`, both inside the file, in order; they are valid until `take` returns. Rejects as the reader does, after what was before. */
export async function readBytes(reader: FileReader, first: number, last: number, take: (bytes: Uint8Array) => void): Promise<void> {
  const memory = reader.fills ? new BlockHash(readMemoryBytes).memory : new Uint8Array(0);
  for (let at = first; at <= last; ) {
    const reading = reader.read(at, last, { bytes: readMemoryBytes, memory });
    for (const bytes of reading instanceof Promise ? await reading : reading) {
      take(bytes);
      at += bytes.length;
    }
  }
}
