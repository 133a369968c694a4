// A scan of documents over several parts: each part's keys lie behind those of the part before, so one cursor follows another. All are opened
// at once, so that what the transaction writes meanwhile is seen in none of them. A batch goes on in the next part.

import type { Batch, BatchLimit, Cursor } from '../../engine/index.ts';
import { JoinedBatch } from './joined-batch.ts';

/** Cursors one behind the other, in the order in which they are given. */
export class ChainedCursor implements Cursor {
  readonly #cursors: readonly Cursor[];
  #at = 0;

  constructor(cursors: readonly Cursor[]) {
    this.#cursors = cursors;
  }

  async nextBatch(limit: BatchLimit): Promise<Batch> {
    const joined = new JoinedBatch();
    for (let cursor = this.#cursors[this.#at]; cursor !== undefined; cursor = this.#cursors[this.#at]) {
      const room = joined.room(limit);
      if (room === undefined) break;
      const found = cursor.nextBatch(room);
      const batch = found instanceof Promise ? await found : found;
      for (let at = 0; at < batch.length; at++) joined.add(batch, at);
      if (joined.room(limit) !== undefined) this.#at += 1;
    }
    return joined;
  }

  seek(key: Uint8Array): void {
    this.#at = 0;
    for (const cursor of this.#cursors) cursor.seek(key);
  }

  close(): void {
    for (const cursor of this.#cursors) cursor.close();
  }
}
