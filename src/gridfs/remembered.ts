// What was found in a collection, kept for as long as nobody writes to it: players ask for the same file many times a second, and finding it again
// costs more than reading a few of its bytes. Nothing is kept on trust: what is given was found in a state equal to the one asked about.

import type { CatalogTransaction, Collection } from '../catalog/index.ts';

/** A state of a collection: two that are equal have the same documents. */
export interface CollectionState {
  readonly collection: Collection;
  readonly version: number;
}

/** The state that the transaction sees; undefined where that cannot be told. */
export function stateOf(txn: CatalogTransaction, collection: Collection | undefined): CollectionState | undefined {
  const version = collection?.contentVersion(txn);
  return collection === undefined || version === undefined ? undefined : { collection, version };
}

/** Finds of one state of one collection: those of another are forgotten when it is asked about. */
export class Remembered<T> {
  readonly #finds: Map<string, T> = new Map();
  readonly #max: number;
  #collection: Collection | undefined;
  #version = 0;

  /** `max`: finds that are kept. */
  constructor(max: number) {
    this.#max = max;
  }

  find({ collection, version }: CollectionState, key: string): T | undefined {
    return this.#collection === collection && this.#version === version ? this.#finds.get(key) : undefined;
  }

  /** Keeps a find of this state, if it is not older than what is kept. */
  keep({ collection, version }: CollectionState, key: string, found: T): void {
    if (this.#collection !== collection || this.#version !== version) {
      if (this.#collection === collection && version < this.#version) return;
      this.#finds.clear();
      this.#collection = collection;
      this.#version = version;
    }
    if (this.#finds.size >= this.#max) this.#finds.clear();
    this.#finds.set(key, found);
  }
}
