// What counts as true: for `$expr`, conditions of expressions, `$exists: 1` and projections' `field: 1`. Numbers other than zero, and every
// value that is neither false, null, undefined nor missing. Follows the manual's page "Boolean Expression Operators".

import { bsonUndefined, Decimal128, Double } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';

/** Whether a value, perhaps missing, counts as true. NaN does. */
export function isTruthy(value: Value | undefined): boolean {
  if (value === undefined || value === null || value === false) return false;
  if (typeof value === 'number') return value !== 0;
  if (typeof value === 'bigint') return value !== 0n;
  if (value instanceof Double) return value.value !== 0;
  if (value instanceof Decimal128) return !value.isFinite || value.coefficient !== 0n;
  return value !== bsonUndefined;
}
