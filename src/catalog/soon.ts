// Steps one after the other that make a promise only where one of them must wait: a document is inserted without any when the engine
// has what it needs in memory (style.md 3.5: an `await` of a ready promise costs 126 ns, a call 2).

import type { Soon } from '../engine/index.ts';
import type { Paced } from '../env/index.ts';

/** Runs `step` for 0 .. count-1 in order, each after the one before has ended. */
export function eachSoon(count: number, step: (index: number) => Soon<void>): Soon<void> {
  for (let index = 0; index < count; index++) {
    const result = step(index);
    if (result instanceof Promise) return restOf(result, index + 1, count, step);
  }
  return undefined;
}

async function restOf(first: Promise<void>, from: number, count: number, step: (index: number) => Soon<void>): Promise<void> {
  await first;
  for (let index = from; index < count; index++) {
    const result = step(index);
    if (result instanceof Promise) await result;
  }
}

/** So many steps are done before it is asked whether it is time for others. */
const STEPS_BETWEEN_LOOKS = 32;

/** A turn of an operation behind this step of many, where it is time. */
export function turnAt(step: number, pace: Paced | undefined): Promise<void> | undefined {
  return step % STEPS_BETWEEN_LOOKS === STEPS_BETWEEN_LOOKS - 1 ? pace?.turn() : undefined;
}

/** `next` on the value, at once where it is there. */
export function afterSoon<T, U>(value: Soon<T>, next: (value: T) => Soon<U>): Soon<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
