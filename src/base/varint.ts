// Variable-length integers: seven bits a byte, least significant first, the high bit says that more follow (LEB128). For whole numbers
// from 0 to 2^53 - 1, so at most eight bytes. Reading is in byte-reader.ts, with its bounds checks.

import { assert } from './assert.ts';

/** Bytes of the longest encoding of a safe integer. */
export const varintBytesMax = 8;

/** Bytes that `value` takes. */
export function varintLength(value: number): number {
  let length = 1;
  let rest = value;
  while (rest >= 0x80) {
    rest = Math.floor(rest / 0x80);
    length++;
  }
  return length;
}

/** Writes `value` at `offset`, where there is room for it, and returns the offset behind it. */
export function writeVarint(target: Uint8Array, offset: number, value: number): number {
  assert(Number.isSafeInteger(value) && value >= 0, 'a varint is a whole number from 0 to 2^53 - 1');
  let at = offset;
  let rest = value;
  while (rest > 0x7fffffff) {
    target[at++] = (rest % 0x80) | 0x80;
    rest = Math.floor(rest / 0x80);
  }
  while (rest >= 0x80) {
    target[at++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  target[at++] = rest;
  return at;
}
