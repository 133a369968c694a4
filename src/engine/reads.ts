// Reads that must wait: walk, fetch what the walk missed, walk again; what was fetched stays pinned until the walk is through.

import type { PartKey } from './cache/part-cache.ts';
import type { Parts } from './parts.ts';
import type { EngineState } from './state.ts';
import type { BlobReference } from './run/blob-reference.ts';
import { readPart, readValue } from './blob/read-blob.ts';
import { applyChain } from './run/update.ts';
import { messageBytesMax } from './options.ts';
import { ReadRoom } from './read-room.ts';
import type { ScanParts } from './scan-parts.ts';
import { isReference } from './tree/found.ts';
import type { Found } from './tree/found.ts';
import { isMiss, search } from './tree/search.ts';
import type { Miss, Tree } from './tree/tree.ts';
import type { Soon, ValuePart } from './types.ts';

/** Parts pinned by one read. */
export class Pins {
  readonly #state: EngineState;
  readonly #parts: Parts;
  /** For what a scan reads ahead. */
  readonly #ahead: ScanParts | undefined;
  #keys: PartKey[] = [];

  constructor(state: EngineState, parts: Parts, ahead?: ScanParts) {
    this.#state = state;
    this.#parts = parts;
    this.#ahead = ahead;
  }

  /** Where it goes what a walk missed, if that is not the cache. */
  #aside({ part }: Miss): ScanParts | undefined {
    return part?.ahead === undefined || part.ahead === 0 ? undefined : this.#ahead;
  }

  /** Fetches what a walk missed. Called in the same turn as the walk, so the block is still in the tree; the read holds it from then on. */
  async fetch(tree: Tree, miss: Miss): Promise<void> {
    const aside = this.#aside(miss);
    if (aside !== undefined) await this.#parts.readAhead(tree, miss, aside);
    else {
      const key = await this.#parts.fetch(tree, miss);
      if (key !== undefined) this.#keys.push(key);
    }
    this.#state.checkUsable();
  }

  /** As `fetch`, where it can be done at once; whether it was. */
  fetchNow(tree: Tree, miss: Miss): boolean {
    const aside = this.#aside(miss);
    if (aside !== undefined) return this.#parts.readAheadNow(tree, miss, aside);
    const key = this.#parts.fetchNow(tree, miss);
    if (key === undefined) return false;
    this.#keys.push(key);
    return true;
  }

  release(): void {
    for (const key of this.#keys) this.#state.cache.unpin(key);
    this.#keys = [];
    this.#state.cache.shrink();
  }
}

/** Values of fewer bytes are read without asking for room. */
const roomyBytes = 1024 * 1024;

/** Point reads. */
export class Reads {
  readonly #state: EngineState;
  readonly #parts: Parts;
  readonly #room: ReadRoom;

  constructor(state: EngineState, parts: Parts) {
    this.#state = state;
    this.#parts = parts;
    this.#room = new ReadRoom(Math.max(messageBytesMax, state.options.cacheBytes / 8), () => state.env.tasks.pause());
  }

  /** `ahead`: where what a scan reads ahead is kept. */
  pins(ahead?: ScanParts): Pins {
    return new Pins(this.#state, this.#parts, ahead);
  }

  /** A point read; it waits only where a part cannot be read at once. */
  search(tree: Tree, key: Uint8Array, seq: number): Soon<Found> {
    const { cache } = this.#state;
    let found = search(tree, cache, key, seq);
    if (tree.dueBuffer !== undefined) this.#state.noteRead(tree);
    if (!isMiss(found)) return found;
    const pins = this.pins();
    let waits = false;
    try {
      while (isMiss(found)) {
        if (!pins.fetchNow(tree, found)) {
          waits = true;
          return this.#searchOn(tree, { key, seq, miss: found }, pins);
        }
        found = search(tree, cache, key, seq);
      }
      return found;
    } finally {
      if (!waits) pins.release();
    }
  }

  /** The value that was found, a large one fetched from where it lies. */
  valueOf(dictionary: number, key: Uint8Array, found: Found): Soon<Uint8Array | undefined> {
    if (found === undefined || found === 'removed') return undefined;
    if (!isReference(found)) return found;
    const value = this.large(dictionary, key, found);
    const { updates } = found;
    if (updates === undefined) return value;
    const functions = this.#state.updates;
    return value instanceof Promise ? value.then((base) => applyChain(functions, base, updates)) : applyChain(functions, value, updates);
  }

  /** A part of the value that was found; it may be overwritten by the next part that is read. */
  partOf(dictionary: number, key: Uint8Array, found: Found, part: ValuePart): Soon<Uint8Array | undefined> {
    if (isReference(found) && found.updates === undefined) return readPart(this.#state.blobs, this.#state.env, { place: found, owner: { dictionary, key } }, part);
    const value = this.valueOf(dictionary, key, found);
    return value instanceof Promise ? value.then((bytes) => bytes?.subarray(part.from, part.to)) : value?.subarray(part.from, part.to);
  }

  /** The large value that a reference names. */
  large(dictionary: number, key: Uint8Array, place: BlobReference): Soon<Uint8Array> {
    const read = (): Soon<Uint8Array> => readValue(this.#state.blobs, this.#state.env, { place, owner: { dictionary, key } });
    return place.bytes < roomyBytes ? read() : this.#room.pass(place.bytes, read);
  }

  /** Goes on with a search that stopped at a miss, and releases the pins at its end. */
  async #searchOn(tree: Tree, { key, seq, miss }: { key: Uint8Array; seq: number; miss: Miss }, pins: Pins): Promise<Found> {
    try {
      let found: Found | Miss = miss;
      while (isMiss(found)) {
        if (!pins.fetchNow(tree, found)) await pins.fetch(tree, found);
        found = search(tree, this.#state.cache, key, seq);
      }
      return found;
    } finally {
      pins.release();
    }
  }
}
