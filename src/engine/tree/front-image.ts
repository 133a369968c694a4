// What a front's entries are made of: an arena of keys and values, and one row of numbers an entry. Plain arrays, so they cross to the tree
// worker as they are. Rows and bytes that are there never change; others may come behind them.

import { compareRange } from '../../base/bytes.ts';

/** The bytes of a front's messages, and where they lie. */
export interface FrontImage {
  readonly arena: Uint8Array;
  readonly rows: Uint32Array;
}

/** The columns of a row: where the key begins, and how long it is; the value lies behind it. */
export const keyStart = 0;
export const keyLength = 1;
export const valueLength = 2;
export const seqLow = 3;
export const seqHigh = 4;
/** In the low byte; above it, of an update: how many follow one another up to it. */
export const kind = 5;
/** The entry with the same key before this one, plus 1; 0: none. */
export const older = 6;
export const hash = 7;
/** How many there are. */
export const width = 8;

/** Order of two entries: by key, and of equal keys the later entry, which is the newer one, first. */
export function compareEntries({ arena, rows }: FrontImage, a: number, b: number): number {
  const aStart = rows[a * width + keyStart] as number;
  const bStart = rows[b * width + keyStart] as number;
  const aEnd = aStart + (rows[a * width + keyLength] as number);
  const bEnd = bStart + (rows[b * width + keyLength] as number);
  const order = compareRange(arena, aStart, aEnd, arena, bStart, bEnd);
  return order !== 0 ? order : b - a;
}

/** Bytes that the keys of entries [from, to) begin with together. */
export function commonPrefix({ arena, rows }: FrontImage, from: number, to: number): number {
  const first = rows[from * width + keyStart] as number;
  let common = rows[from * width + keyLength] as number;
  for (let entry = from + 1; entry < to && common > 0; entry++) {
    const start = rows[entry * width + keyStart] as number;
    const length = rows[entry * width + keyLength] as number;
    if (length < common) common = length;
    for (let i = 0; i < common; i++) if (arena[start + i] !== arena[first + i]) common = i;
  }
  return common;
}

/** Four bytes of an entry's key behind `skip`, zeros behind its end. */
export function keyPrefix({ arena, rows }: FrontImage, entry: number, skip: number): number {
  const start = (rows[entry * width + keyStart] as number) + skip;
  const length = (rows[entry * width + keyLength] as number) - skip;
  const a = length > 0 ? (arena[start] as number) : 0;
  const b = length > 1 ? (arena[start + 1] as number) : 0;
  const c = length > 2 ? (arena[start + 2] as number) : 0;
  const d = length > 3 ? (arena[start + 3] as number) : 0;
  return ((a << 24) | (b << 16) | (c << 8) | d) >>> 0;
}
