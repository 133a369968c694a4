// Walks over the elements of a raw array, which of a long array can be broken off between any two (base/long-work.ts).

import { looped } from '../base/long-work.ts';
import { elementValue, readInt32, valueEnd } from './raw.ts';

/** Shorter arrays are walked in one go. */
const LONG_BYTES = 1024;

/** Where an element is: its index, and where it begins. */
export interface ElementPlace {
  readonly index: number;
  readonly element: number;
}

/** Looks at an element: its type byte, where its value is, and its place; true: no more are looked at. */
type Visit = (bytes: Uint8Array, type: number, value: number, place: ElementPlace) => boolean;

interface Walk {
  element: number;
  index: number;
  found: number;
}

/** The index of the first element that passes the test, or -1. */
export function firstElement(bytes: Uint8Array, start: number, test: Visit): number {
  const walk: Walk = { element: start + 4, index: 0, found: -1 };
  if (readInt32(bytes, start) < LONG_BYTES) {
    while (!step(bytes, walk, test));
    return walk.found;
  }
  const whole = looped(
    () => walk,
    (state) => step(bytes, state, test),
  );
  return whole?.found ?? -1;
}

/** Looks at one element; true: it was the last to look at. */
function step(bytes: Uint8Array, walk: Walk, test: Visit): boolean {
  const type = bytes[walk.element] as number;
  if (type === 0) return true;
  const value = elementValue(bytes, walk.element);
  if (test(bytes, type, value, walk)) {
    walk.found = walk.index;
    return true;
  }
  walk.element = valueEnd(bytes, type, value);
  walk.index += 1;
  return false;
}
