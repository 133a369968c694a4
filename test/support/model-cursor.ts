// A cursor of the model: over rows that were gathered when it was opened.

import { must } from '../../src/base/assert.ts';
import { compareBytes } from '../../src/base/bytes.ts';
import type { Batch, BatchLimit, Cursor, Direction } from '../../src/engine/index.ts';

/** Gives rows in their order. */
export class ModelCursor implements Cursor {
  readonly #rows: readonly { readonly key: Uint8Array; readonly value: Uint8Array }[];
  readonly #direction: Direction;
  #at = 0;

  constructor(rows: readonly { readonly key: Uint8Array; readonly value: Uint8Array }[], direction: Direction) {
    this.#rows = rows;
    this.#direction = direction;
  }

  nextBatch(limit: BatchLimit): Batch {
    const from = this.#at;
    let bytes = 0;
    while (this.#at < this.#rows.length && this.#at - from < limit.rows && (this.#at === from || bytes < limit.bytes)) {
      const row = must(this.#rows[this.#at], 'inside');
      bytes += row.key.length + row.value.length;
      this.#at += 1;
    }
    const rows = this.#rows.slice(from, this.#at);
    return {
      length: rows.length,
      key: (index) => must(rows[index], 'inside the batch').key,
      value: (index) => must(rows[index], 'inside the batch').value,
    };
  }

  seek(key: Uint8Array): void {
    const found = this.#rows.findIndex((row) => this.#direction * compareBytes(row.key, key) >= 0);
    this.#at = found < 0 ? this.#rows.length : found;
  }

  close(): void {
    this.#at = this.#rows.length;
  }
}
