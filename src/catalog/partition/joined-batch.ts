// Rows of several cursors in one batch, by reference: each row's batch is valid until its own cursor is asked again.

import { must } from '../../base/assert.ts';
import type { Batch, BatchLimit } from '../../engine/index.ts';

interface RowPlace {
  batch: Batch;
  at: number;
}

/** A batch that is being filled. */
export class JoinedBatch implements Batch {
  readonly #rows: RowPlace[] = [];
  #bytes = 0;

  get length(): number {
    return this.#rows.length;
  }

  key(index: number): Uint8Array {
    const { batch, at } = must(this.#rows[index], 'a row of the batch');
    return batch.key(at);
  }

  value(index: number): Uint8Array {
    const { batch, at } = must(this.#rows[index], 'a row of the batch');
    return batch.value(at);
  }

  add(batch: Batch, at: number): void {
    this.#rows.push({ batch, at });
    this.#bytes += batch.key(at).length + batch.value(at).length;
  }

  /** What may still be added; undefined: nothing. */
  room({ rows, bytes }: BatchLimit): BatchLimit | undefined {
    if (this.length >= rows || this.#bytes >= bytes) return undefined;
    return { rows: rows - this.length, bytes: bytes - this.#bytes };
  }

  /** Copies the rows of a batch that its cursor is about to take back. */
  keep(batch: Batch): void {
    for (const row of this.#rows) {
      if (row.batch !== batch) continue;
      const [key, value] = [batch.key(row.at).slice(), batch.value(row.at).slice()];
      row.batch = { length: 1, key: () => key, value: () => value };
      row.at = 0;
    }
  }
}
