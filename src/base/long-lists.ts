// Loops over lists: those of a few items at once, longer ones so that they can be broken off between any two (long-work.ts). What comes up in a loop
// is done again where it is broken off, so a step changes its state last.

import { looped, spend } from './long-work.ts';

/** A list of no more is taken in one go. */
const AT_ONCE = 16;

/** Takes a step with each item of a list; it says true where no more are wanted. Gives the state. */
export function overItems<T, S extends object>(items: readonly T[], begin: () => S, step: (state: S, item: T, index: number) => unknown): S {
  if (items.length <= AT_ONCE) return overFew(items, begin(), step);
  return overMany(() => items, begin, step);
}

/** The items of a list, each changed. */
export function mappedItems<T, U>(items: readonly T[], change: (item: T, index: number) => U): readonly U[] {
  if (items.length <= AT_ONCE) return items.map(change);
  return overMany(() => items, (): U[] => [], (made, item, index) => {
    made.push(change(item, index));
  });
}

/** The index of the first item that passes, or -1. */
export function firstIndex<T>(items: readonly T[], test: (item: T) => boolean): number {
  return overItems(items, () => ({ index: -1 }), (search, item, index) => {
    if (!test(item)) return false;
    search.index = index;
    return true;
  }).index;
}

/** As overItems, of a list that is surely taken in one go. */
export function overFew<T, S extends object>(items: readonly T[], state: S, step: (state: S, item: T, index: number) => unknown): S {
  for (let index = 0; index < items.length; index++) if (step(state, items[index] as T, index) === true) break;
  return state;
}

interface Taken<T, S> {
  readonly items: readonly T[];
  readonly state: S;
}

/** As overItems, of a list that is asked for when the loop begins, and is taken in one go never. */
export function overMany<T, S extends object>(itemsOf: () => readonly T[], begin: () => S, step: (state: S, item: T, index: number) => unknown): S {
  const loop = looped(
    (): Taken<T, S> => ({ items: itemsOf(), state: begin() }),
    ({ items, state }, index) => index >= items.length || step(state, items[index] as T, index) === true,
  );
  return (loop as Taken<T, S>).state;
}

/** What is made in one go is kept where it takes long, so that it is not made again when something behind it is broken off. `units`: about how long it takes. */
export function atOneGo<T>(units: number, make: () => T): T {
  if (units < 256) return make();
  const made = looped(
    () => {
      spend(units);
      return { value: make() };
    },
    () => true,
  );
  return (made as { readonly value: T }).value;
}
