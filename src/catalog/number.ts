// Numbers of options, of whatever type the client sent them.

import { Decimal128, Double, isNumber } from '../bson/index.ts';
import type { NumberValue, Value } from '../bson/index.ts';

/** The nearest double. */
export function toDouble(value: NumberValue): number {
  if (typeof value === 'number') return value;
  if (value instanceof Double) return value.value;
  return value instanceof Decimal128 ? Number(value.toString()) : Number(value);
}

/** The nearest double of what should be a number; NaN where it is none. */
export function numberOf(value: Value | undefined): number {
  return value !== undefined && isNumber(value) ? toDouble(value) : Number.NaN;
}
