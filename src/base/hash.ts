// Hashes of byte strings for tables in memory. Multiplicative, mixed at the end as murmur3 does. Filters on disk are made of `keyHash`
// (docs/file-format.md), so what it gives never changes.

/** A 32-bit hash (unsigned) of bytes[start, end). */
export function hash32(bytes: Uint8Array, start: number, end: number, seed: number): number {
  let hash = seed ^ (end - start);
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ (bytes[i] as number), 0x01000193) ^ (hash >>> 15);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** The 32-bit hash of a key by which fronts and filters know it. */
export function keyHash(bytes: Uint8Array, start: number, end: number): number {
  return hash32(bytes, start, end, 0x5bd1e995);
}

/** A 52-bit hash of a key under a number: two that are equal are taken for the same key where a rare false match does no harm. */
export function hash52(number: number, key: Uint8Array): number {
  const high = hash32(key, 0, key.length, 0x9e3779b9 ^ number);
  const low = hash32(key, 0, key.length, Math.imul(number + 1, 0x27d4eb2f));
  return high * 0x100000 + (low >>> 12);
}
