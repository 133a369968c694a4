// Sorting of many things, which can be broken off (long-work.ts): blocks are sorted as they are, then runs merged pair by pair, a little in each round.

import { looped, spend } from './long-work.ts';

type Order<T> = (left: T, right: T) => number;

/** Values sorted in one go. */
const BLOCK = 256;

interface Merge<T> {
  from: T[];
  to: T[];
  /** Length of the runs that are sorted; 0: none is yet. */
  width: number;
  /** Where the runs that are being merged begin, and what of them is left. */
  start: number;
  left: number;
  right: number;
  at: number;
}

/** The values in order, those that are equal as they came. */
export function sortedOf<T>(items: readonly T[], compare: Order<T>): readonly T[] {
  if (items.length <= BLOCK) return items.toSorted(compare);
  const begin = (): Merge<T> => ({ from: [], to: [], width: 0, start: 0, left: 0, right: 0, at: 0 });
  const merge = looped(begin, (state) => {
    spend(BLOCK);
    if (state.width === 0) sortBlock(state, items, compare);
    else mergeSome(state, compare);
    return state.width >= items.length;
  });
  return (merge as Merge<T>).from;
}

function sortBlock<T>(state: Merge<T>, items: readonly T[], compare: Order<T>): void {
  const block = items.slice(state.at, state.at + BLOCK).sort(compare);
  for (const value of block) state.from.push(value);
  state.at += block.length;
  if (state.at >= items.length) beginPass(state, BLOCK);
}

function beginPass<T>(state: Merge<T>, width: number): void {
  state.width = width;
  beginPair(state, 0);
}

function beginPair<T>(state: Merge<T>, start: number): void {
  state.start = start;
  state.left = start;
  state.right = start + state.width;
  state.at = start;
}

/** Goes on merging pairs of runs, for about a block. */
function mergeSome<T>(state: Merge<T>, compare: Order<T>): void {
  const { from, to, width } = state;
  const { length } = from;
  for (let count = 0; count < BLOCK; count++) {
    const leftEnd = Math.min(state.start + width, length);
    const rightEnd = Math.min(state.start + 2 * width, length);
    if (state.at >= length) {
      state.from = to;
      state.to = from;
      beginPass(state, 2 * width);
      return;
    }
    const takesLeft = state.left < leftEnd && (state.right >= rightEnd || compare(from[state.left] as T, from[state.right] as T) <= 0);
    to[state.at++] = (takesLeft ? from[state.left++] : from[state.right++]) as T;
    if (state.at >= rightEnd && state.at < length) beginPair(state, rightEnd);
  }
}
