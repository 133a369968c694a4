// Loops over the elements of arrays, which of long ones can be broken off (base/long-lists.ts).

import { overFew, overMany } from '../base/long-lists.ts';
import type { BsonArray, Value } from '../bson/index.ts';

/** Takes a step with each element of an array; it says true where no more are wanted. Gives the state. */
export function overElements<S extends object>(array: BsonArray, begin: () => S, step: (state: S, item: Value, index: number) => unknown): S {
  return array.isShort ? overFew(array.items(), begin(), step) : overMany(() => array.items(), begin, step);
}
