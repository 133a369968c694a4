// Logical numbers of blocks, and what a checkpoint remembers: the words that the store and those above it share.

/** Number of a block; the block table maps it to a place, so a block moves without its parent knowing. Never 0. */
export type BlockNumber = number & { readonly __brand: 'BlockNumber' };

/** The number that means the block table itself, in the header of its image. */
export const blockTableNumber = 0;

/** What recovery starts from; `publish` makes it the newest. */
export interface CheckpointRoot {
  /** The meta block that lists the dictionaries. */
  readonly dictionaryTable: BlockNumber;
  readonly nextSeq: number;
  readonly nextDictionary: number;
  /** The oldest log segment that recovery reads, and the seq above which its records count. */
  readonly logFrom: { readonly segment: number; readonly seq: number };
}

/** Space is given in units of this many bytes. */
export const unitBytes = 4096;

/** Units that hold so many bytes. */
export function unitsFor(bytes: number): number {
  return Math.ceil(bytes / unitBytes);
}
