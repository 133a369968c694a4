// What reads pay for runs that wait: for each child of a node how much reads have spent in looking into more runs of its buffer than one. When that is
// twice what merging the runs costs, the buffer is due: so merging for readers costs half of what reading did, however reads and writes mix (engine.md,
// "Merging on read pressure").

import type { BlockNumber } from '../block/block-number.ts';
import type { Extent, InternalNode } from './node.ts';

/** Nodes that are counted at a time: when there are more, all begin anew. */
const nodesMax = 64;
/** What reads pay for a message to be merged, in the price of asking one run for a key: twice what it costs, so merging takes at most half as much as reading. */
const mergePrice = 8;
/** What an ordered read pays for a run more: a basement is decoded, and its rows are merged. */
export const scanPrice = 32;

/** Of each child of one node: what was paid, and the block of the oldest run that waited then: what comes after that has gone is another buffer. */
interface Count {
  readonly paid: Float64Array;
  readonly oldest: Float64Array;
}

/** A buffer whose runs reads would rather have in one. */
export interface DueBuffer {
  readonly node: BlockNumber;
  readonly child: number;
}

/** Counts what reads of one tree pay. */
export class ReadPressure {
  readonly #counts: Map<BlockNumber, Count> = new Map();
  /** The buffer that is to be merged next. */
  due: DueBuffer | undefined;

  /** A read passes a child's buffer, which has more than one run; `price` of each. */
  note(node: InternalNode, child: number, price: number): void {
    const buffer = node.buffers[child] as readonly Extent[];
    let count = this.#counts.get(node.number);
    if (count === undefined || count.paid.length <= child) {
      if (this.#counts.size >= nodesMax) this.#counts.clear();
      count = { paid: new Float64Array(node.children.length), oldest: new Float64Array(node.children.length) };
      this.#counts.set(node.number, count);
    }
    const oldest = (buffer.at(-1) as Extent).block;
    const before = count.oldest[child] === oldest ? (count.paid[child] as number) : 0;
    const paid = before + (buffer.length - 1) * price;
    count.oldest[child] = oldest;
    count.paid[child] = paid;
    if (this.due === undefined && paid >= messagesOf(buffer) * mergePrice) this.due = { node: node.number, child };
  }

  /** The due buffer was seen to; the next that pays is due then. */
  settle(): void {
    const { due } = this;
    if (due === undefined) return;
    const paid = this.#counts.get(due.node)?.paid;
    if (paid !== undefined) paid[due.child] = 0;
    this.due = undefined;
  }
}

function messagesOf(buffer: readonly Extent[]): number {
  let count = 0;
  for (const { fences } of buffer) count += fences.count;
  return count;
}
