// Fronts of write sets that have ended, kept for those to come: a commit of a thousand documents would otherwise make a hundred arrays, grow
// them by doubling and leave them to the collector. Only write sets use it: nobody holds views on them after their end.

import { Front } from '../tree/front.ts';
import { StatedCounts } from './stated-counts.ts';

const frontsMax = 64;
/** Tables of counts that are kept, and the largest. */
const countsMax = 8;
const countsBytesMax = 256 * 1024;

/** Empty fronts with memory. */
export class FrontPool {
  readonly #bytesMax: number;
  readonly #fronts: Front[] = [];
  readonly #counts: StatedCounts[] = [];
  #bytes: number = 0;

  /** `bytesMax`: how much memory idle fronts may hold together. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  take(): Front {
    const front = this.#fronts.pop();
    if (front === undefined) return new Front();
    this.#bytes -= front.byteSize;
    return front;
  }

  give(front: Front): void {
    if (this.#fronts.length >= frontsMax || this.#bytes + front.byteSize > this.#bytesMax) return;
    front.reset();
    this.#bytes += front.byteSize;
    this.#fronts.push(front);
  }

  /** An empty table of counts. */
  takeCounts(): StatedCounts {
    return this.#counts.pop() ?? new StatedCounts();
  }

  /** Takes one back whose write set has ended. */
  giveCounts(counts: StatedCounts): void {
    if (this.#counts.length >= countsMax || counts.memoryBytes > countsBytesMax) return;
    counts.reset();
    this.#counts.push(counts);
  }
}
