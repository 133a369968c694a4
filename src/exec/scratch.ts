// A place for what does not fit in memory while a stage works: bytes written once, read back by their place. Whoever opened one closes it;
// nothing of it outlives that. Where it lies is the business of who runs pipelines.

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

/** Opens a scratch place; undefined: nothing may be written. */
export type ScratchOpener = (() => Promise<Scratch>) | undefined;
