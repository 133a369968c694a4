// Hashes of byte strings for tables in memory. Multiplicative, mixed at the end as murmur3 does. Filters on disk are made of `keyHash`
// (docs/file-format.md), so what it gives never changes.

/** A 32-bit hash (unsigned) of bytes[start, end). */
export function hash32(bytes: Uint8Array, start: number, end: number, seed: number): number {
  let hash = seed ^ (end - start);
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ (bytes[i] as number), 0x01000193) ^ (hash >>> 15);
  return finished(hash);
}

/** The last mixing, which spreads every bit. */
function finished(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** The 32-bit hash of a key by which fronts and filters know it. */
export function keyHash(bytes: Uint8Array, start: number, end: number): number {
  return hash32(bytes, start, end, 0x5bd1e995);
}

/** A 52-bit hash of a key under a number: two that are equal are taken for the same key where a rare false match does no harm. */
export function hash52(number: number, key: Uint8Array): number {
  // Two hashes in one pass: each waits for its own multiplications.
  let high = 0x9e3779b9 ^ number ^ key.length;
  let low = Math.imul(number + 1, 0x27d4eb2f) ^ key.length;
  for (let i = 0; i < key.length; i++) {
    const byte = key[i] as number;
    high = Math.imul(high ^ byte, 0x01000193) ^ (high >>> 15);
    low = Math.imul(low ^ byte, 0x01000193) ^ (low >>> 15);
  }
  return finished(high) * 0x100000 + (finished(low) >>> 12);
}
