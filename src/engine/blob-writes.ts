// The large values of one transaction or load: written as they are put, pinned until its end, and synced before anything names them in the log
// (law 23). What is not committed is garbage then, and nothing has to be undone.

import { EngineError } from '../base/errors.ts';
import type { BlobPlace } from './blob/read-blob.ts';
import { encodeReference } from './run/blob-reference.ts';
import type { EngineState } from './state.ts';
import { diskFull } from './throttle.ts';
import type { Tree } from './tree/tree.ts';
import type { StampedRows } from './types.ts';

/** Rows with a stamp as the record takes them. */
export interface StampedValues {
  readonly rows: StampedRows;
  readonly values: readonly StampedValue[];
}

/** A value, or the reference to one that lies elsewhere. */
export interface StampedValue {
  readonly bytes: Uint8Array;
  readonly isReference: boolean;
}

/** Rows none of which is large. */
export function plainRows(rows: StampedRows | undefined): StampedValues | undefined {
  return rows === undefined ? undefined : { rows, values: rows.values.map((bytes) => ({ bytes, isReference: false })) };
}

/** Blobs that somebody has written and may yet name. */
export class BlobWrites {
  readonly #state: EngineState;
  readonly #pinned: Map<number, number> = new Map();
  #isOpen: boolean = true;

  constructor(state: EngineState) {
    this.#state = state;
  }

  /** Whether a value goes beside the tree. */
  static isLarge(state: EngineState, tree: Tree, value: Uint8Array): boolean {
    const largeValueBytes = tree.options.largeValueBytes ?? state.options.dictionary.largeValueBytes ?? 0;
    return largeValueBytes > 0 && value.length >= largeValueBytes;
  }

  /** Whether a row that comes with a commit is a large value. */
  static hasLarge(state: EngineState, { values }: StampedRows): boolean {
    const { largeValueBytes = 0 } = state.options.dictionary;
    return largeValueBytes > 0 && values.some(({ length }) => length >= largeValueBytes);
  }

  /** Writes a value; its reference. `no-space` on a full disk. */
  async write(tree: Tree, key: Uint8Array, value: Uint8Array): Promise<Uint8Array> {
    const { blobs, env } = this.#state;
    return await this.#written(() => blobs.write(value, { dictionary: tree.id, key }, env.codecs.byName(tree.options.compression)));
  }

  /** The rows, with references in the place of large values. */
  async stamped(rows: StampedRows): Promise<StampedValues> {
    const { blobs, env, options } = this.#state;
    const { largeValueBytes = 0 } = options.dictionary;
    const codec = env.codecs.byName(rows.compression ?? options.dictionary.compression);
    const values: StampedValue[] = [];
    for (const bytes of rows.values) {
      const isReference = largeValueBytes > 0 && bytes.length >= largeValueBytes;
      values.push({ isReference, bytes: isReference ? await this.#written(() => blobs.write(bytes, undefined, codec)) : bytes });
    }
    return { rows, values };
  }

  async #written(write: () => Promise<BlobPlace>): Promise<Uint8Array> {
    const state = this.#state;
    if (state.isFull) throw diskFull();
    let place: BlobPlace;
    try {
      place = await write();
    } catch (error) {
      if (!(error instanceof EngineError && error.code === 'no-space')) throw state.poison(error);
      state.reportFull();
      throw error;
    }
    if (this.#isOpen) this.#pinned.set(place.segment, (this.#pinned.get(place.segment) ?? 0) + place.bytes);
    else state.blobs.count(new Map([[place.segment, place.bytes]]), 'pinned', -1);
    return encodeReference(place);
  }

  get isEmpty(): boolean {
    return this.#pinned.size === 0;
  }

  /** Takes a blob that was written elsewhere. */
  adopt(place: BlobPlace): void {
    this.#pinned.set(place.segment, (this.#pinned.get(place.segment) ?? 0) + place.bytes);
  }

  /** Writes what is large of the rows that come with the commit, and makes everything durable. */
  async finish(rows: StampedRows | undefined): Promise<StampedValues | undefined> {
    const values = rows !== undefined && BlobWrites.hasLarge(this.#state, rows) ? await this.stamped(rows) : plainRows(rows);
    if (!this.isEmpty) await this.sync();
    return values;
  }

  /** Makes durable what was written. */
  async sync(): Promise<void> {
    const state = this.#state;
    try {
      await state.blobs.sync(this.#pinned.keys());
    } catch (error) {
      throw state.poison(error);
    }
  }

  /** What the fronts or trees name by now they keep; the rest is garbage. */
  release(): void {
    this.#isOpen = false;
    this.#state.blobs.count(this.#pinned, 'pinned', -1);
    this.#pinned.clear();
  }
}
