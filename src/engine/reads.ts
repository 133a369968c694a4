// Reads that must wait: walk, fetch what the walk missed, walk again; what was fetched stays pinned until the walk is through.

import type { PartKey } from './cache/part-cache.ts';
import type { Parts } from './parts.ts';
import type { EngineState } from './state.ts';
import type { Found } from './tree/search.ts';
import { isMiss, search } from './tree/search.ts';
import type { Miss, Tree } from './tree/tree.ts';

/** Parts pinned by one read. */
export class Pins {
  readonly #state: EngineState;
  readonly #parts: Parts;
  #keys: PartKey[] = [];

  constructor(state: EngineState, parts: Parts) {
    this.#state = state;
    this.#parts = parts;
  }

  /** Fetches what a walk missed. Called in the same turn as the walk, so the block is still in the tree; the read holds it from then on. */
  async fetch(tree: Tree, miss: Miss): Promise<void> {
    this.#keys.push(await this.#parts.fetch(tree, miss));
    this.#state.checkUsable();
  }

  release(): void {
    for (const key of this.#keys) this.#state.cache.unpin(key);
    this.#keys = [];
    this.#state.cache.shrink();
  }
}

/** Point reads. */
export class Reads {
  readonly #state: EngineState;
  readonly #parts: Parts;

  constructor(state: EngineState, parts: Parts) {
    this.#state = state;
    this.#parts = parts;
  }

  pins(): Pins {
    return new Pins(this.#state, this.#parts);
  }

  /** A point read that may wait for blocks. */
  async search(tree: Tree, key: Uint8Array, seq: number): Promise<Found> {
    const pins = this.pins();
    try {
      for (;;) {
        const found = search(tree, this.#state.cache, key, seq);
        if (!isMiss(found)) return found;
        await pins.fetch(tree, found);
      }
    } finally {
      pins.release();
    }
  }
}
