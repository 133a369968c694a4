// Where a stage works: memory that it shares with others, and a place for what does not fit there: bytes written once, read back by their place.
// Whoever opened one closes it; nothing of it outlives that. Where it lies is the business of who runs pipelines.

import type { WorkMemory } from './work-memory.ts';

/** Where written bytes lie. */
export interface ScratchPlace {
  readonly offset: number;
  readonly length: number;
}

/** One place; its calls come one at a time. */
export interface Scratch {
  append(bytes: Uint8Array): Promise<ScratchPlace>;
  read(place: ScratchPlace): Promise<Uint8Array>;
  close(): void;
}

/** What stages of an operation work in. */
export interface Workspace {
  readonly memory: WorkMemory;
  /** Opens a scratch place. */
  openScratch(): Promise<Scratch>;
  /** Whether a stage may hold more than MongoDB's limit for one (`allowDiskUse`). How much of it is in memory is the server's business. */
  readonly mayExceed: boolean;
}
