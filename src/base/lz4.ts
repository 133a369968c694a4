// LZ4 blocks: by WebAssembly where there is any and the block has room in its memory, else in plain JavaScript. Both make the same bytes, and neither
// trusts what it reads; what is wrong with a block is said by the latter.

import { compressPlain, decompressPlain, lz4TableLength } from './lz4-plain.ts';
import { openLz4Wasm, wasmLengthMax } from './lz4-wasm.ts';
import type { Lz4Wasm } from './lz4-wasm.ts';

let wasm: Lz4Wasm | undefined;
/** The compressor's, which is made with the first block that passes. */
let table: Uint32Array | undefined;
/** The number of the next block's first position: it grows with each, so the table is not cleared. */
let nextBase = 1;

function open(): Uint32Array {
  wasm = openLz4Wasm();
  return wasm?.table ?? new Uint32Array(lz4TableLength);
}

/** Length that compressing `length` bytes never exceeds. */
export function lz4LengthMax(length: number): number {
  return length + Math.ceil(length / 255) + 16;
}

/** Compresses all of `source` into `target`, which has room for the longest result; returns the bytes written. */
export function compressLz4(source: Uint8Array, target: Uint8Array): number {
  table ??= open();
  if (nextBase + source.length > 0xffffffff) {
    table.fill(0);
    nextBase = 1;
  }
  const base = nextBase;
  nextBase += source.length;
  if (wasm !== undefined && source.length <= wasmLengthMax) return wasm.compress(source, target, base);
  return compressPlain(source, target, { table, base });
}

/** Decompresses all of `source` into all of `target`; anything else is EngineError `corruption`. Returns target.length. */
export function decompressLz4(source: Uint8Array, target: Uint8Array): number {
  table ??= open();
  const fits = source.length <= wasmLengthMax && target.length <= wasmLengthMax;
  if (wasm !== undefined && fits && wasm.decompress(source, target) > 0) return target.length;
  return decompressPlain(source, target);
}
