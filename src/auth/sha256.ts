// SHA-256 of bytes, as a name for them. The layers above have no cryptography of their own.

import { createHash } from 'node:crypto';

/** The digest in 64 upper-case hexadecimal digits. */
export function sha256Hex(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex').toUpperCase();
}
