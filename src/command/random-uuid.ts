// UUIDs of version 4 from the environment's randomness.

import { Binary } from '../bson/index.ts';
import type { Random } from '../env/index.ts';

/** A fresh UUID. */
export function randomUuid(random: Random): Binary {
  const bytes = random.bytes(16);
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  return new Binary(bytes, 4);
}
