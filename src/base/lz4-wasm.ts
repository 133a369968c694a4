// LZ4 in WebAssembly that is put together here: what lz4.ts does, byte for byte the same, in memory of its own with room behind each part, so that eight
// bytes are moved at a time. Like there the decoder trusts nothing: every length and offset is checked, and what is wrong gives 0.

import { code as c, wasmFunctions } from './wasm-code.ts';
import type { Code, WasmFunction } from './wasm-code.ts';

/** Longer inputs and outputs are lz4.ts's. */
export const wasmLengthMax: number = 64 * 1024;

/** Behind the table of the compressor: what is read, what is written. Steps of eight bytes go up to so many beyond an end. */
const slack = 32;
const tableBytes = 16 * 1024;
const sourceAt = tableBytes;
const targetAt = sourceAt + wasmLengthMax + 1024 + slack;
const memoryBytes = targetAt + wasmLengthMax + 1024 + slack;

const { add, sub, and, get, number, set } = c;
const local = {
  // Parameters of both.
  source: 0, sourceEnd: 1, target: 2,
  /** Of the decoder: the end of the target; of the compressor: the number of the source's first position. */
  limit: 3,
  at: 4, to: 5, count: 6, from: 7, left: 8, byte: 9,
  // Of the decoder.
  token: 10, offset: 11,
  // Of the compressor.
  anchor: 10, word: 11, slot: 12, candidate: 13, misses: 14, searchEnd: 15, matchEnd: 16, start: 17, extra: 18, seen: 19,
  wide: 20,
} as const;
const at = get(local.at);
const to = get(local.to);
const from = get(local.from);
const count = get(local.count);
const left = get(local.left);
const fail = c.give(number(0));

const move = (which: number, by: Code): Code => set(which, add(get(which), by));

/** Copies `left` bytes, which are not none, and up to seven more, from `from` to `to`, of which each eight are apart; both go on. */
const copyEights: Code = c.loop(
  c.store8(to, c.load8(from)),
  move(local.from, number(8)),
  move(local.to, number(8)),
  set(local.left, sub(left, number(8))),
  // Not below zero yet: what is left is at most the length of a block.
  c.goIf(0, c.isLess(sub(left, number(1)), number(0x7fffffff))),
);

/** Adds to `which` what the token has not held of a length. */
const readRest = (which: number): Code => c.loop(
  c.when(c.isAtLeast(at, get(local.sourceEnd)), fail),
  set(local.byte, c.load1(at)),
  move(local.at, number(1)),
  move(which, get(local.byte)),
  c.goIf(0, c.isEqual(get(local.byte), number(255))),
);

/** decode(source, its end, target, its end): the length, or 0 where it is not LZ4 of that length. */
const decode: WasmFunction = {
  parameters: 4,
  locals: 8,
  body: [
    set(local.at, get(local.source)), set(local.to, get(local.target)),
    c.loop(
      c.when(c.isAtLeast(at, get(local.sourceEnd)), fail),
      set(local.token, c.load1(at)),
      move(local.at, number(1)),
      set(local.count, c.shiftRight(get(local.token), number(4))),
      c.when(c.isEqual(count, number(15)), readRest(local.count)),
      c.when(c.isMore(count, sub(get(local.sourceEnd), at)), fail),
      c.when(c.isMore(count, sub(get(local.limit), to)), fail),
      c.when(count, set(local.from, at), set(local.left, count), copyEights, set(local.to, add(to, left))),
      move(local.at, count),
      c.when(c.isEqual(at, get(local.sourceEnd)),
        c.when(c.isOther(to, get(local.limit)), fail),
        c.give(sub(to, get(local.target))),
      ),
      c.when(c.isLess(sub(get(local.sourceEnd), at), number(2)), fail),
      set(local.offset, c.load2(at)),
      move(local.at, number(2)),
      set(local.count, and(get(local.token), number(15))),
      c.when(c.isEqual(count, number(15)), readRest(local.count)),
      move(local.count, number(4)),
      c.when(c.isZero(get(local.offset)), fail),
      c.when(c.isMore(get(local.offset), sub(to, get(local.target))), fail),
      c.when(c.isMore(count, sub(get(local.limit), to)), fail),
      set(local.from, sub(to, get(local.offset))),
      set(local.left, count),
      c.either(c.isAtLeast(get(local.offset), number(8)), [copyEights, set(local.to, add(to, left))], [c.loop(
        c.store1(to, c.load1(from)),
        move(local.from, number(1)),
        move(local.to, number(1)),
        set(local.left, sub(left, number(1))),
        c.goIf(0, left),
      )]),
      c.go(0),
    ),
    number(0),
  ].flat(),
};

/** Writes what the token does not hold of a length of 15 and more. */
const writeRest = (length: Code): Code => [
  ...set(local.left, sub(length, number(15))),
  ...c.block(c.loop(
    c.goIf(1, c.isLess(left, number(255))),
    c.store1(to, number(255)),
    move(local.to, number(1)),
    set(local.left, sub(left, number(255))),
    c.go(0),
  )),
  ...c.store1(to, left),
  ...move(local.to, number(1)),
];

/** The token's part of a length. */
const tokenPart = (length: Code): Code => c.choice(length, number(15), c.isLess(length, number(15)));

/** Writes a token for `count` literals from the anchor on and a match of `extra` beyond the least, and the literals. */
const writeLiterals = (extra: Code): Code => [
  ...c.store1(to, c.or(c.shiftLeft(tokenPart(count), number(4)), tokenPart(extra))),
  ...move(local.to, number(1)),
  ...c.when(c.isAtLeast(count, number(15)), writeRest(count)),
  ...c.when(count, set(local.from, add(get(local.source), get(local.anchor))), set(local.left, count), copyEights, set(local.to, add(to, left))),
];

const hashed = (word: Code): Code => c.shiftLeft(c.shiftRight(c.mul(word, number(0x9e3779b1)), number(20)), number(2));
const word = get(local.word);
const source = get(local.source);
const candidate = get(local.candidate);
const start = get(local.start);

/** Goes out of two levels, to the next position, where nothing comes again at this one; else `candidate` says where it was. */
const lookAround: Code = [
  set(local.word, c.load4(add(source, at))),
  set(local.slot, hashed(word)),
  set(local.seen, c.load4(get(local.slot))),
  set(local.candidate, sub(get(local.seen), get(local.limit))),
  c.store4(get(local.slot), add(get(local.limit), at)),
  c.block(
    c.block(
      c.goIf(0, c.isLess(get(local.seen), get(local.limit))),
      c.goIf(0, c.isMore(sub(at, candidate), number(0xffff))),
      c.goIf(0, c.isOther(c.load4(add(source, candidate)), word)),
      c.go(1),
    ),
    move(local.at, c.shiftRight(get(local.misses), number(6))),
    move(local.misses, number(1)),
    c.go(1),
  ),
].flat();

/** Moves the beginning of the match back as far as it agrees. */
const lookBack: Code = [
  set(local.start, at),
  c.block(c.loop(
    c.goIf(1, c.isAtMost(start, get(local.anchor))),
    c.goIf(1, c.isZero(candidate)),
    c.goIf(1, c.isOther(c.load1(sub(add(source, start), number(1))), c.load1(sub(add(source, candidate), number(1))))),
    set(local.start, sub(start, number(1))),
    set(local.candidate, sub(candidate, number(1))),
    c.go(0),
  )),
].flat();

/** Moves `at` behind the match; `from` is the distance. */
const lookAhead: Code = [
  set(local.from, sub(start, candidate)),
  move(local.at, number(4)),
  c.block(
    c.loop(
      c.block(
        c.goIf(0, c.isMore(add(at, number(8)), get(local.matchEnd))),
        set(local.wide, c.differ8(c.load8(add(source, at)), c.load8(sub(add(source, at), from)))),
        c.when(c.isZero8(get(local.wide)), move(local.at, number(8)), c.go(2)),
        move(local.at, c.shiftRight(c.zeros8(get(local.wide)), number(3))),
        c.go(2),
      ),
    ),
    c.loop(
      c.goIf(1, c.isAtLeast(at, get(local.matchEnd))),
      c.goIf(1, c.isOther(c.load1(add(source, at)), c.load1(sub(add(source, at), from)))),
      move(local.at, number(1)),
      c.go(0),
    ),
  ),
].flat();

/** compress(source, its length, target, number of the first position): the length of what was written. Positions are counted from the source. */
const compress: WasmFunction = {
  parameters: 4,
  locals: 16,
  wides: 1,
  body: [
    set(local.to, get(local.target)),
    set(local.misses, number(64)),
    // Shorter inputs are literals.
    c.when(c.isMore(get(local.sourceEnd), number(12)),
      set(local.searchEnd, sub(get(local.sourceEnd), number(12))),
      set(local.matchEnd, sub(get(local.sourceEnd), number(5))),
      c.block(c.loop(
        c.goIf(1, c.isAtLeast(at, get(local.searchEnd))),
        lookAround,
        lookBack,
        lookAhead,
        set(local.slot, from),
        set(local.extra, sub(sub(at, start), number(4))),
        set(local.count, sub(start, get(local.anchor))),
        writeLiterals(get(local.extra)),
        c.store2(to, get(local.slot)),
        move(local.to, number(2)),
        c.when(c.isAtLeast(get(local.extra), number(15)), writeRest(get(local.extra))),
        set(local.anchor, at),
        set(local.misses, number(64)),
        c.when(c.isLess(at, get(local.searchEnd)),
          c.store4(hashed(c.load4(sub(add(source, at), number(2)))), sub(add(get(local.limit), at), number(2))),
        ),
        c.go(0),
      )),
    ),
    set(local.count, sub(get(local.sourceEnd), get(local.anchor))),
    writeLiterals(number(0)),
    sub(to, get(local.target)),
  ].flat(),
};

/** The two functions, and the parts of their memory. */
export interface Lz4Wasm {
  /** The compressor's table. */
  readonly table: Uint32Array;
  compress(source: Uint8Array, target: Uint8Array, base: number): number;
  /** 0: it is not LZ4 of that length. */
  decompress(source: Uint8Array, target: Uint8Array): number;
}

/** Undefined: the runtime has no WebAssembly. */
export function openLz4Wasm(): Lz4Wasm | undefined {
  const made = wasmFunctions([decode, compress], memoryBytes);
  if (made === undefined) return undefined;
  const { memory, calls: [decoded, compressed] } = made;
  if (decoded === undefined || compressed === undefined) return undefined;
  return {
    table: new Uint32Array(memory.buffer, 0, tableBytes / 4),
    compress(given: Uint8Array, target: Uint8Array, base: number): number {
      memory.set(given, sourceAt);
      const length = compressed(sourceAt, given.length, targetAt, base);
      target.set(memory.subarray(targetAt, targetAt + length));
      return length;
    },
    decompress(given: Uint8Array, target: Uint8Array): number {
      memory.set(given, sourceAt);
      const length = decoded(sourceAt, sourceAt + given.length, targetAt, targetAt + target.length);
      if (length > 0) target.set(memory.subarray(targetAt, targetAt + length));
      return length;
    },
  };
}
