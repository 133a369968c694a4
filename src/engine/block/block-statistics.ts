// What a block store says of itself; see types.ts for what of it reaches the outside.

/** Bytes now, and counts since opening. */
export interface BlockStatistics {
  readonly fileBytes: number;
  /** Images of the current tree. */
  readonly usedBytes: number;
  /** Free, or free after the next checkpoint. */
  readonly freeableBytes: number;
  readonly written: number;
  readonly read: number;
  readonly blocks: number;
}
