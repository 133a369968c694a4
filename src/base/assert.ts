// Assertions that stay on in production: a broken invariant must stop the program before it reaches the disk.

import { AssertionError } from './errors.ts';

/** Throws AssertionError with `message` unless `condition` holds. `message` is static text: building one costs even when it holds. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new AssertionError(message);
}

/** The value, which the caller knows to be there. */
export function must<T>(value: T | undefined | null, message: string): T {
  if (value === undefined || value === null) throw new AssertionError(message);
  return value;
}
