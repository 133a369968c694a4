// Comparing and joining byte strings. Unsigned lexicographic order everywhere: it is the only order the engine knows.

import { Buffer } from 'node:buffer';

/** Negative, zero or positive as a[aStart, aEnd) is before, equal to or after b[bStart, bEnd). */
export function compareRange(
  a: Uint8Array,
  aStart: number,
  aEnd: number,
  b: Uint8Array,
  bStart: number,
  bEnd: number,
): number {
  const aLength = aEnd - aStart;
  const bLength = bEnd - bStart;
  const common = aLength < bLength ? aLength : bLength;
  for (let i = 0; i < common; i++) {
    const difference = (a[aStart + i] as number) - (b[bStart + i] as number);
    if (difference !== 0) return difference;
  }
  return aLength - bLength;
}

/** From so many bytes on the engine's own copy is quicker; before that the two arrays it wants cost more than the copying. */
const wordsMax = 192;

/** Whether `length` bytes from an offset are the same in both. */
export function equalRange(a: Uint8Array, from: number, b: Uint8Array, at: number, length: number): boolean {
  for (let i = 0; i < length; i++) if (a[from + i] !== b[at + i]) return false;
  return true;
}

/** Copies `length` bytes between views, which may not overlap: no object is made for short ones, of which there are millions. */
export function copyBetween(source: DataView, from: number, target: DataView, to: number, length: number): void {
  if (length > wordsMax) {
    new Uint8Array(target.buffer, target.byteOffset + to, length).set(new Uint8Array(source.buffer, source.byteOffset + from, length));
    return;
  }
  let at = 0;
  for (; at + 8 <= length; at += 8) {
    target.setInt32(to + at, source.getInt32(from + at, true), true);
    target.setInt32(to + at + 4, source.getInt32(from + at + 4, true), true);
  }
  for (; at < length; at++) target.setUint8(to + at, source.getUint8(from + at));
}

/** A view of all of an array's bytes. */
export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** Order of two whole byte strings. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  return compareRange(a, 0, a.length, b, 0, b.length);
}

/** Whether two byte strings are equal. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** A new byte string: the parts one after the other. */
export function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const part of parts) length += part.length;
  const whole = new Uint8Array(length);
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

/**
 * Bytes of any content, which the caller fills all of and nobody keeps for long: short ones share memory that is given back when the last of them is
 * dead, so nothing is asked of the system for each.
 */
export function pooledBytes(length: number): Uint8Array {
  return Buffer.allocUnsafe(length);
}

const quickGrowthMax = 4_000_000;

/** How long memory of `length` bytes shall become to hold `needed`: twice as long, or somewhat longer where that would leave megabytes unused. */
export function grownLength(length: number, needed: number): number {
  return Math.max(needed + (needed < quickGrowthMax ? 0 : needed >>> 2), length < quickGrowthMax ? length * 2 : 0);
}
