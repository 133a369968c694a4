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
