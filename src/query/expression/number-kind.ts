// Numbers of any type as the whole numbers that operators ask of their arguments.

import { fitsInt32, isNumber, wholeNumber } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';

/** The int32 that a number is, whatever its type; `undefined` if it is none. */
export function int32Of(value: Value | undefined): number | undefined {
  if (typeof value === 'number') return value;
  const whole = isNumber(value) ? wholeNumber(value) : undefined;
  return whole !== undefined && fitsInt32(whole) ? Number(whole) : undefined;
}
