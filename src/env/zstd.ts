// zstd (RFC 8878) at level 1: the WebAssembly build of the package @foxglove/wasm-zstd, and for long inputs what Node brings from 22.15 on. Both make
// the same frames. A call of Node's own sets up a stream, which takes longer than a basement does here (docs/decisions/0009-basements-of-8-kib.md). The
// package's own functions allocate buffers for each call, so its module is used directly: two buffers that grow, kept for the life of the process.

import { createRequire } from 'node:module';
import * as zlib from 'node:zlib';
import { assert } from '../base/assert.ts';
import { AssertionError, EngineError } from '../base/errors.ts';
import type { Codec } from './codec.ts';
import { unpackInto, wrongLength } from './zlib.ts';

const level = 1;
/** From so many bytes on, before compression, Node's own is quicker, where it is there. */
const nodeBytesMin = 32 * 1024;

function maxCompressedLength(length: number): number {
  return length + (length >>> 8) + (length < 131072 ? (131072 - length) >>> 11 : 0) + 16;
}

/** What Node has from 22.15 on; the type declarations of the oldest supported Node do not know it. */
interface NodeZstd {
  zstdCompressSync(source: Uint8Array, options: { params: Record<number, number> }): Uint8Array;
  zstdDecompressSync(source: Uint8Array, options: { maxOutputLength: number }): Uint8Array;
}

/** ZSTD_c_compressionLevel of the zstd library. */
const levelParameter = 100;

/** Node's own for long inputs, the other for short ones. */
function eitherCodec(short: Codec, native: NodeZstd): Codec {
  return {
    ...short,
    compress(source: Uint8Array, target: Uint8Array): number {
      if (source.length < nodeBytesMin) return short.compress(source, target);
      const packed = native.zstdCompressSync(source, { params: { [levelParameter]: level } });
      target.set(packed);
      return packed.length;
    },
    decompress(source: Uint8Array, target: Uint8Array): number {
      if (target.length < nodeBytesMin) return short.decompress(source, target);
      return unpackInto(target, () => native.zstdDecompressSync(source, { maxOutputLength: target.length }));
    },
  };
}

/** The package's WebAssembly module; sizes and pointers are byte offsets in its heap, and what fails gives -1. */
interface ZstdModule {
  readonly HEAPU8: Uint8Array;
  _malloc(length: number): number;
  _free(at: number): void;
  _compress: WasmCall;
  _decompress: WasmCall;
}

/** Target and its length, source and its length, and what else there is. */
type WasmCall = (...range: readonly number[]) => number;

/** A buffer in the module's heap that grows to what is asked for; above the limit it is given back after use. */
class WasmBuffer {
  readonly #module: ZstdModule;
  #at = 0;
  #length = 0;

  constructor(module: ZstdModule) {
    this.#module = module;
  }

  /** Offset of a buffer with room for `length` bytes. */
  reserve(length: number): number {
    if (length > this.#length) {
      this.release();
      this.#length = Math.max(65536, length);
      this.#at = this.#module._malloc(this.#length);
      if (this.#at === 0) throw new AssertionError('the zstd module is out of memory');
    }
    return this.#at;
  }

  /** Gives a buffer beyond `keptBytesMax` back. */
  trim(): void {
    if (this.#length > keptBytesMax) this.release();
  }

  release(): void {
    if (this.#at !== 0) this.#module._free(this.#at);
    this.#at = 0;
    this.#length = 0;
  }
}

const keptBytesMax = 4 * 1024 * 1024;

function wasmCodec(module: ZstdModule): Codec {
  const input = new WasmBuffer(module);
  const output = new WasmBuffer(module);

  /** Copies in, calls, and copies out what `target` has room for; undefined when the library says error. */
  function run(call: WasmCall, source: Uint8Array, target: Uint8Array): number | undefined {
    const from = input.reserve(source.length);
    const to = output.reserve(target.length);
    module.HEAPU8.set(source, from);
    const result = call(to, target.length, from, source.length, level);
    if (result >= 0) target.set(module.HEAPU8.subarray(to, to + result));
    input.trim();
    output.trim();
    return result < 0 ? undefined : result;
  }

  return {
    id: 3,
    name: 'zstd',
    maxCompressedLength,
    compress(source: Uint8Array, target: Uint8Array): number {
      const length = run(module._compress, source, target);
      if (length === undefined) throw new AssertionError('zstd failed to compress: the target is too short');
      return length;
    },
    decompress(source: Uint8Array, target: Uint8Array): number {
      const length = run(module._decompress, source, target);
      if (length === undefined) throw new EngineError('corruption', 'compressed bytes are damaged');
      if (length !== target.length) throw wrongLength(length, target.length);
      return length;
    },
  };
}

/** The functions that `wasmCodec` relies on; a version of the package without them is refused at the start, not at the first block. */
const wasmFunctions = ['_malloc', '_free', '_compress', '_decompress'];

function isZstdModule(module: unknown): module is ZstdModule {
  if (typeof module !== 'object' || module === null || !('HEAPU8' in module) || !(module.HEAPU8 instanceof Uint8Array)) return false;
  const members = new Map<string, unknown>(Object.entries(module));
  return wasmFunctions.every((name) => typeof members.get(name) === 'function');
}

function isMaker(value: unknown): value is () => unknown {
  return typeof value === 'function';
}

async function loadWasm(): Promise<ZstdModule> {
  const make: unknown = createRequire(import.meta.url)('@foxglove/wasm-zstd/dist/wasm-zstd.js');
  assert(isMaker(make), 'the zstd package has a function that makes its module');
  const module: unknown = await make();
  assert(isZstdModule(module), 'the zstd package has the functions of its library');
  return module;
}

function hasZstd(module: object): module is NodeZstd {
  return 'zstdCompressSync' in module;
}

let loaded: Promise<Codec> | undefined;

/** Method 3, made ready once a process. */
export async function loadZstdCodec(): Promise<Codec> {
  loaded ??= loadWasm().then((module) => (hasZstd(zlib) ? eitherCodec(wasmCodec(module), zlib) : wasmCodec(module)));
  return loaded;
}
