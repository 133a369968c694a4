// Seqs that are held open. A job takes a copy when it is made, the newest visible seq included (law 3).

import { NumberTable } from '../../base/number-table.ts';

/** The open snapshots of an environment, with how often each is held. */
export class Snapshots {
  readonly #held: NumberTable<number> = new NumberTable();
  #count: number = 0;

  get count(): number {
    return this.#count;
  }

  open(seq: number): void {
    this.#held.set(seq, (this.#held.get(seq) ?? 0) + 1);
    this.#count += 1;
  }

  close(seq: number): void {
    const left = (this.#held.get(seq) ?? 0) - 1;
    if (left > 0) this.#held.set(seq, left);
    else this.#held.delete(seq);
    this.#count -= 1;
  }

  /** The oldest seq that anybody may still read at, given the newest visible one. */
  oldest(visible: number): number {
    let oldest = visible;
    for (const seq of this.#held.keys()) if (seq < oldest) oldest = seq;
    return oldest;
  }

  /** Ascending, each once, the newest visible one included. */
  list(visible: number): Float64Array {
    const seqs = new Set(this.#held.keys());
    seqs.add(visible);
    return Float64Array.from(seqs).sort();
  }
}
