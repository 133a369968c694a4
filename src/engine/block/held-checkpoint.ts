// The durable checkpoint as somebody holds it who copies it while others go on: its superblock, the places of all its blocks, and their bytes
// as they lie in the file. None of its space is used again before `release` (law 16).

import type { BlockFile } from './block-file.ts';
import type { BlockPlace } from './block-table.ts';
import type { Superblock } from './superblock.ts';

/** A checkpoint that stays readable until it is released. */
export interface HeldCheckpoint {
  readonly superblock: Superblock;
  /** Every block of the checkpoint, in no order. */
  readonly places: readonly BlockPlace[];
  /** Bytes of the data file, unchecked. */
  read(offset: number, length: number): Promise<Uint8Array>;
  /** Gives the space back; twice is allowed. */
  release(): void;
}

/** What of an image counts here: while it has readers its space is not used again. */
interface Readable {
  readonly place: BlockPlace;
  readers: number;
}

/** Holds these images; `settle` is called for each when it has one reader less. */
export function holdImages<I extends Readable>(images: readonly I[], store: { readonly superblock: Superblock; readonly file: BlockFile; readonly settle: (image: I) => void }): HeldCheckpoint {
  const held = [...images];
  for (const image of held) image.readers++;
  const release = (): void => {
    for (const image of held.splice(0)) {
      image.readers--;
      store.settle(image);
    }
  };
  return { superblock: store.superblock, places: images.map(({ place }) => place), read: (offset, length) => store.file.read(offset, length), release };
}
