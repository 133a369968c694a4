// A batch of a cursor over rows that are held by reference, with the large values that were fetched for it. Its views share the memory of immutable
// runs, so nothing that goes on beside the reader changes them.

import { must } from '../base/assert.ts';
import { decodeReference } from './run/blob-reference.ts';
import { messageKinds } from './run/message.ts';
import type { Rows } from './tree/rows.ts';
import type { Batch } from './types.ts';

/** A value that was fetched, after the updates of it. */
export type LargeValue = Uint8Array | 'gone';

/** A batch over rows held by reference. */
export class RowBatch implements Batch {
  readonly length: number;
  readonly #rows: Rows;
  /** Values that lie elsewhere, by row. */
  readonly #large: ReadonlyMap<number, LargeValue> | undefined;
  /** Which rows it has, where an update has removed some. */
  readonly #left: readonly number[] | undefined;

  constructor(rows: Rows, large?: ReadonlyMap<number, LargeValue>) {
    this.#rows = rows;
    this.#large = large;
    const hasGone = large !== undefined && [...large.values()].includes('gone');
    this.#left = hasGone ? Array.from({ length: rows.length }, (_, i) => i).filter((i) => large.get(i) !== 'gone') : undefined;
    this.length = this.#left?.length ?? rows.length;
  }

  /** Updates have removed some of the rows. */
  get hasGone(): boolean {
    return this.#left !== undefined;
  }

  /** Bytes of the rows that are left. */
  get bytes(): number {
    if (this.#left === undefined) return this.#rows.bytes;
    let bytes = 0;
    for (let place = 0; place < this.length; place++) bytes += this.key(place).length + this.valueLength(place);
    return bytes;
  }

  /** Where row `place` is among all of the rows. */
  #indexOf(place: number): number {
    return this.#left === undefined ? place : must(this.#left[place], 'a row of the batch');
  }

  key(place: number): Uint8Array {
    const index = this.#indexOf(place);
    return this.#rows.runOf(index).key(this.#rows.indexOf(index));
  }

  value(place: number): Uint8Array {
    const index = this.#indexOf(place);
    const large = this.#large?.get(index);
    if (large !== undefined && large !== 'gone') return large;
    return this.#rows.runOf(index).value(this.#rows.indexOf(index));
  }

  valueLength(place: number): number {
    const index = this.#indexOf(place);
    const run = this.#rows.runOf(index);
    const at = this.#rows.indexOf(index);
    const isElsewhere = run.kinds[at] === messageKinds.reference && this.#large?.has(index) !== true;
    return isElsewhere ? decodeReference(run.value(at)).length : this.value(place).length;
  }
}

/** Two batches, one behind the other. */
export class JoinedBatch implements Batch {
  readonly length: number;
  readonly #first: Batch;
  readonly #second: Batch;

  constructor(first: Batch, second: Batch) {
    this.#first = first;
    this.#second = second;
    this.length = first.length + second.length;
  }

  key(place: number): Uint8Array {
    return place < this.#first.length ? this.#first.key(place) : this.#second.key(place - this.#first.length);
  }

  value(place: number): Uint8Array {
    return place < this.#first.length ? this.#first.value(place) : this.#second.value(place - this.#first.length);
  }

  valueLength(place: number): number {
    const [batch, at] = place < this.#first.length ? [this.#first, place] : [this.#second, place - this.#first.length];
    return batch.valueLength?.(at) ?? batch.value(at).length;
  }
}
