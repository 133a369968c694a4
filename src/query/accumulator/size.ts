// How much memory a value takes, roughly: limits of memory count with this.

import { Binary, BsonArray, Document } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';

/** About how many bytes a value holds in memory. */
export function sizeOfValue(value: Value | undefined): number {
  if (typeof value === 'string') return 24 + 2 * value.length;
  if (value instanceof Document || value instanceof BsonArray) return 64 + value.byteLength;
  if (value instanceof Binary) return 64 + value.bytes.length;
  return typeof value === 'object' && value !== null ? 32 : 8;
}
