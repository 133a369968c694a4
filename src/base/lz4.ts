// The LZ4 block format (lz4_Block_format.md of the LZ4 project), our own: always there, no start-up, fast. The compressor is greedy with
// one probe a position and skips faster the longer it finds nothing. Format rules kept by the encoder: the last five bytes are literals and
// no match begins within the last twelve. The decoder trusts nothing: every length and offset is checked before a byte moves.

import { EngineError } from './errors.ts';

const hashBits = 13;
const matchMin = 4;
const lastLiterals = 5;
const matchFreeTail = 12;
const offsetMax = 0xffff;
const runMask = 15;

/** After 2^skipTrigger misses in a row the step grows by one: what does not compress is passed over quickly. */
const skipTrigger = 6;

/** Where a hash was last seen, as base + position. The base grows with each call, so the table is not cleared: what is below it is older. */
const table = new Uint32Array(1 << hashBits);
let nextBase = 1;

function corrupt(what: string): never {
  throw new EngineError('corruption', `LZ4 block: ${what}`);
}

function read32(bytes: Uint8Array, at: number): number {
  return (bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16) | ((bytes[at + 3] as number) << 24);
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

/** Short runs by loop, long ones by the engine's copy: a call costs as much as thirty bytes. */
function copyAcross(source: Uint8Array, from: number, target: Uint8Array, to: number, length: number): void {
  if (length > 48) target.set(source.subarray(from, from + length), to);
  else for (let i = 0; i < length; i++) target[to + i] = source[from + i] as number;
}

/** The token and source[from, from + count) as literals; `extra` is what the token says of the match. Returns the offset behind. */
function writeLiterals(source: Uint8Array, from: number, count: number, target: Uint8Array, at: number, extra: number): number {
  target[at] = ((count < runMask ? count : runMask) << 4) | (extra < runMask ? extra : runMask);
  let to = at + 1;
  if (count >= runMask) to = writeRest(target, to, count);
  copyAcross(source, from, target, to, count);
  return to + count;
}

/** How far source[a…] and source[b…] agree, where a < limit. */
function agreement(source: Uint8Array, a: number, b: number, limit: number): number {
  let at = a;
  let other = b;
  while (at < limit && source[at] === source[other]) {
    at++;
    other++;
  }
  return at - a;
}

/** Makes room in the numbering for `length` positions and returns the number of position 0. */
function claimPositions(length: number): number {
  if (nextBase + length > 0xffffffff) {
    table.fill(0);
    nextBase = 1;
  }
  const base = nextBase;
  nextBase += length;
  return base;
}

/** Length that compressing `length` bytes never exceeds. */
export function lz4LengthMax(length: number): number {
  return length + Math.ceil(length / 255) + 16;
}

/** Compresses all of `source` into `target`, which has room for the longest result; returns the bytes written. */
export function compressLz4(source: Uint8Array, target: Uint8Array): number {
  const length = source.length;
  const base = claimPositions(length);
  const searchEnd = length - matchFreeTail;
  const matchEnd = length - lastLiterals;
  let anchor = 0;
  let at = 0;
  let to = 0;
  let misses = 1 << skipTrigger;
  while (at < searchEnd) {
    const word = read32(source, at);
    const slot = hash(word);
    const candidate = (table[slot] as number) - base;
    table[slot] = base + at;
    if (candidate < 0 || candidate >= at || at - candidate > offsetMax || read32(source, candidate) !== word) {
      at += misses++ >>> skipTrigger;
      continue;
    }
    let start = at;
    let origin = candidate;
    while (start > anchor && origin > 0 && source[start - 1] === source[origin - 1]) {
      start--;
      origin--;
    }
    at += matchMin;
    at += agreement(source, at, candidate + matchMin, matchEnd);
    const extra = at - start - matchMin;
    to = writeLiterals(source, anchor, start - anchor, target, to, extra);
    target[to++] = (start - origin) & 0xff;
    target[to++] = (start - origin) >>> 8;
    if (extra >= runMask) to = writeRest(target, to, extra);
    anchor = at;
    misses = 1 << skipTrigger;
    if (at < searchEnd) table[hash(read32(source, at - 2))] = base + at - 2;
  }
  return writeLiterals(source, anchor, length - anchor, target, to, 0);
}

/** Copies a match inside the target; the ranges may overlap, then bytes repeat. */
function copyMatch(target: Uint8Array, from: number, to: number, length: number): void {
  if (length > 48 && to - from >= length) target.copyWithin(to, from, from + length);
  else if (length > 48 && to - from === 1) target.fill(target[from] as number, to, to + length);
  else for (let i = 0; i < length; i++) target[to + i] = target[from + i] as number;
}

/** Reads a length that the token did not hold from `reader.at` on. */
function readRest(source: Uint8Array, reader: { at: number }): number {
  let length = runMask;
  for (;;) {
    if (reader.at >= source.length) corrupt('a length runs past the end');
    const byte = source[reader.at++] as number;
    length += byte;
    if (byte !== 255) return length;
  }
}

/** Decompresses all of `source` into all of `target`; anything else is EngineError `corruption`. Returns target.length. */
export function decompressLz4(source: Uint8Array, target: Uint8Array): number {
  const end = source.length;
  const reader = { at: 0 };
  let to = 0;
  for (;;) {
    if (reader.at >= end) corrupt('no last literals');
    const token = source[reader.at++] as number;
    let count = token >>> 4;
    if (count === runMask) count = readRest(source, reader);
    if (count > end - reader.at || count > target.length - to) corrupt('literals run past the end');
    copyAcross(source, reader.at, target, to, count);
    to += count;
    const at = reader.at + count;
    if (at === end) break;
    if (end - at < 2) corrupt('an offset runs past the end');
    const offset = (source[at] as number) | ((source[at + 1] as number) << 8);
    reader.at = at + 2;
    let length = token & runMask;
    if (length === runMask) length = readRest(source, reader);
    length += matchMin;
    if (offset === 0 || offset > to) corrupt('an offset points before the start');
    if (length > target.length - to) corrupt('a match runs past the end');
    copyMatch(target, to - offset, to, length);
    to += length;
  }
  if (to !== target.length) corrupt('another length than it had');
  return to;
}
