// Which components of an index's paths have met arrays. Flags only ever become true. They are set in memory as soon as any transaction needs
// them, so that planning is right for every snapshot, and written in the commit that first needs them: by each transaction until one has
// committed, because one that was aborted has left the flag in memory only.

/** The flags of one index; a flag is `field * 256 + component`. */
export class MultikeyFlags {
  readonly components: readonly boolean[][];
  readonly #committed: Set<number> = new Set();
  #isMultikey = false;

  /** `paths`: those of the key pattern. */
  constructor(paths: readonly string[]) {
    this.components = paths.map((path) => path.split('.').map(() => false));
  }

  /** Whether any flag is set. */
  get isMultikey(): boolean {
    return this.#isMultikey;
  }

  /** Whether a transaction that needs this flag must write it. */
  needs(flag: number): boolean {
    return !this.#committed.has(flag);
  }

  /** Sets a flag in memory, at once. */
  raise(flag: number): void {
    const field = this.components[flag >>> 8];
    if (field !== undefined) field[flag & 0xff] = true;
    this.#isMultikey = true;
  }

  /** These flags are in dictionary 1. */
  flagsCommitted(flags: Iterable<number>): void {
    for (const flag of flags) {
      this.raise(flag);
      this.#committed.add(flag);
    }
  }
}
