// The LZ4 block format (lz4_Block_format.md of the LZ4 project), our own, in plain JavaScript: for blocks that are too long for lz4-wasm.ts, and for a
// runtime without WebAssembly. The compressor is greedy with one probe a position and skips faster the longer it finds nothing. Format rules kept by the
// encoder: the last five bytes are literals and no match begins within the last twelve. The decoder trusts nothing: every length and offset is checked
// before a byte moves. Both move four bytes at a time through views, a little beyond a length where there is room, for what comes next overwrites that.

import { viewOf } from './bytes.ts';
import { EngineError } from './errors.ts';

/** A table of 16 KiB lies in the processor's nearest cache beside what is compressed. */
const hashBits = 12;
/** Numbers in the compressor's table. */
export const lz4TableLength: number = 1 << hashBits;
const matchMin = 4;
const lastLiterals = 5;
const matchFreeTail = 12;
const offsetMax = 0xffff;
const runMask = 15;

/** After 2^skipTrigger misses in a row the step grows by one: what does not compress is passed over quickly. */
const skipTrigger = 6;

/** Longer literals and matches are copied by the engine's own functions, which a call to costs as much as so many bytes. */
const wordCopyMax = 64;

function corrupt(what: string): never {
  throw new EngineError('corruption', `LZ4 block: ${what}`);
}

function hash(word: number): number {
  return Math.imul(word, 0x9e3779b1) >>> (32 - hashBits);
}

/** Writes the part of a length that the token's four bits do not hold. */
function writeRest(target: Uint8Array, at: number, length: number): number {
  let rest = length - runMask;
  let to = at;
  for (; rest >= 255; rest -= 255) target[to++] = 255;
  target[to++] = rest;
  return to;
}

/** Writes a token and the rest of the number of literals; returns the offset behind. */
function writeToken(target: Uint8Array, at: number, count: number, extra: number): number {
  target[at] = ((count < runMask ? count : runMask) << 4) | (extra < runMask ? extra : runMask);
  return count < runMask ? at + 1 : writeRest(target, at + 1, count);
}

/** Copies at least `length` bytes in steps of four, from a view to one that has room for a step more; a distance of four or more may overlap. */
function copyWords(source: DataView, from: number, target: DataView, to: number, length: number): void {
  for (let i = 0; i < length; i += 4) target.setInt32(to + i, source.getInt32(from + i, true), true);
}

/** Where source[a...] and source[b...], of which b is before a, cease to agree: an offset behind a, `limit` at most. */
function agreeUpTo(source: DataView, a: number, b: number, limit: number): number {
  let at = a;
  const back = a - b;
  for (; at + 4 <= limit; at += 4) {
    const difference = source.getInt32(at, true) ^ source.getInt32(at - back, true);
    if (difference !== 0) return at + ((31 - Math.clz32(difference & -difference)) >>> 3);
  }
  while (at < limit && source.getUint8(at) === source.getUint8(at - back)) at++;
  return at;
}

/** Where the compressor has seen what: of each hash the last place, as `base` + position; what is below the base is of another block. */
export interface Lz4Positions {
  readonly table: Uint32Array;
  readonly base: number;
}

/** Compresses all of `source` into `target`, which has room for the longest result; returns the bytes written. */
export function compressPlain(source: Uint8Array, target: Uint8Array, { table, base }: Lz4Positions): number {
  const length = source.length;
  const from = viewOf(source);
  const into = viewOf(target);
  const searchEnd = length - matchFreeTail;
  const matchEnd = length - lastLiterals;
  let anchor = 0;
  let at = 0;
  let to = 0;
  let misses = 1 << skipTrigger;
  while (at < searchEnd) {
    const word = from.getInt32(at, true);
    const slot = hash(word);
    const candidate = (table[slot] as number) - base;
    table[slot] = base + at;
    if (candidate < 0 || at - candidate > offsetMax || from.getInt32(candidate, true) !== word) {
      at += misses++ >>> skipTrigger;
      continue;
    }
    let start = at;
    let origin = candidate;
    while (start > anchor && origin > 0 && source[start - 1] === source[origin - 1]) {
      start--;
      origin--;
    }
    at = agreeUpTo(from, at + matchMin, candidate + matchMin, matchEnd);
    const extra = at - start - matchMin;
    const count = start - anchor;
    to = writeToken(target, to, count, extra);
    // Behind the literals there is a match, and behind that the end: the source has bytes for the last step, the target room.
    if (count <= wordCopyMax) copyWords(from, anchor, into, to, count);
    else target.set(source.subarray(anchor, start), to);
    into.setUint16(to + count, start - origin, true);
    to += count + 2;
    if (extra >= runMask) to = writeRest(target, to, extra);
    anchor = at;
    misses = 1 << skipTrigger;
    if (at < searchEnd) table[hash(from.getInt32(at - 2, true))] = base + at - 2;
  }
  const count = length - anchor;
  to = writeToken(target, to, count, 0);
  target.set(source.subarray(anchor), to);
  return to + count;
}

/** Reads what the token did not hold of a length; `at` behind it is in `restEnd`. */
function readRest(source: Uint8Array, from: number): number {
  let length = runMask;
  let at = from;
  for (;;) {
    if (at >= source.length) corrupt('a length runs past the end');
    const byte = source[at++] as number;
    length += byte;
    if (byte !== 255) break;
  }
  restEnd = at;
  return length;
}

let restEnd = 0;

function checkMatch(to: number, offset: number, length: number, room: number): void {
  if (offset === 0 || offset > to) corrupt('an offset points before the start');
  if (length > room - to) corrupt('a match runs past the end');
}

/** Copies a match inside the target; the ranges may overlap, then bytes repeat. */
function copyMatch(target: Uint8Array, view: DataView, to: number, offset: number, length: number): void {
  const from = to - offset;
  if (offset >= 4 && length <= 2 * wordCopyMax && to + length + 3 < target.length) copyWords(view, from, view, to, length);
  else if (offset === 1 && length > 16) target.fill(target[from] as number, to, to + length);
  else if (length > wordCopyMax && offset >= length) target.copyWithin(to, from, from + length);
  else for (let i = 0; i < length; i++) target[to + i] = target[from + i] as number;
}

/** Decompresses all of `source` into all of `target`; anything else is EngineError `corruption`. Returns target.length. */
export function decompressPlain(source: Uint8Array, target: Uint8Array): number {
  const end = source.length;
  const room = target.length;
  const from = viewOf(source);
  const into = viewOf(target);
  let at = 0;
  let to = 0;
  for (;;) {
    if (at >= end) corrupt('no last literals');
    const token = source[at++] as number;
    let count = token >>> 4;
    if (count === runMask) {
      count = readRest(source, at);
      at = restEnd;
    }
    if (count > end - at || count > room - to) corrupt('literals run past the end');
    if (count <= wordCopyMax && at + count + 3 < end && to + count + 3 < room) copyWords(from, at, into, to, count);
    else target.set(source.subarray(at, at + count), to);
    to += count;
    at += count;
    if (at === end) break;
    if (end - at < 2) corrupt('an offset runs past the end');
    const offset = from.getUint16(at, true);
    at += 2;
    let length = token & runMask;
    if (length === runMask) {
      length = readRest(source, at);
      at = restEnd;
    }
    length += matchMin;
    checkMatch(to, offset, length, room);
    copyMatch(target, into, to, offset, length);
    to += length;
  }
  if (to !== room) corrupt('another length than it had');
  return to;
}
