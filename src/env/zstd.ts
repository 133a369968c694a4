// zstd (RFC 8878) at level 1. Node brings it from 22.15 on; before that, the WebAssembly build of the package @bokuweb/zstd-wasm. Both make
// the same frames. The package's own functions allocate contexts and buffers for each call, so its module is used directly: one context
// each way and two buffers that grow, kept for the life of the process.

import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import * as zlib from 'node:zlib';
import { assert } from '../base/assert.ts';
import { AssertionError, EngineError } from '../base/errors.ts';
import type { Codec } from './codec.ts';
import { unpackInto, wrongLength } from './zlib.ts';

const level = 1;

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

function nodeCodec(native: NodeZstd): Codec {
  return {
    id: 3,
    name: 'zstd',
    maxCompressedLength,
    compress(source: Uint8Array, target: Uint8Array): number {
      const packed = native.zstdCompressSync(source, { params: { [levelParameter]: level } });
      target.set(packed);
      return packed.length;
    },
    decompress(source: Uint8Array, target: Uint8Array): number {
      return unpackInto(target, () => native.zstdDecompressSync(source, { maxOutputLength: Math.max(1, target.length) }));
    },
  };
}

/** The functions of the zstd library as the package's WebAssembly module exports them; sizes and pointers are byte offsets in its heap. */
interface ZstdModule {
  readonly HEAPU8: Uint8Array;
  init(wasm: Uint8Array): void;
  _malloc(length: number): number;
  _free(at: number): void;
  _ZSTD_isError(result: number): number;
  _ZSTD_createCCtx(): number;
  _ZSTD_createDCtx(): number;
  _ZSTD_compress_usingDict: WasmCall;
  _ZSTD_decompress_usingDict: WasmCall;
}

type WasmCall = (context: number, ...range: readonly number[]) => number;

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
  const compressor = module._ZSTD_createCCtx();
  const decompressor = module._ZSTD_createDCtx();

  /** Copies in, calls, and copies out what `target` has room for; undefined when the library says error. */
  function run(call: WasmCall, source: Uint8Array, target: Uint8Array, parameters: readonly number[]): number | undefined {
    const from = input.reserve(source.length);
    const to = output.reserve(target.length);
    module.HEAPU8.set(source, from);
    const result = call(parameters[0] as number, to, target.length, from, source.length, 0, 0, ...parameters.slice(1));
    const failed = module._ZSTD_isError(result) !== 0;
    if (!failed) target.set(module.HEAPU8.subarray(to, to + result));
    input.trim();
    output.trim();
    return failed ? undefined : result;
  }

  return {
    id: 3,
    name: 'zstd',
    maxCompressedLength,
    compress(source: Uint8Array, target: Uint8Array): number {
      const length = run(module._ZSTD_compress_usingDict, source, target, [compressor, level]);
      if (length === undefined) throw new AssertionError('zstd failed to compress: the target is too short');
      return length;
    },
    decompress(source: Uint8Array, target: Uint8Array): number {
      const length = run(module._ZSTD_decompress_usingDict, source, target, [decompressor]);
      if (length === undefined) throw new EngineError('corruption', 'compressed bytes are damaged');
      if (length !== target.length) throw wrongLength(length, target.length);
      return length;
    },
  };
}

/** The functions that `wasmCodec` relies on; a version of the package without them is refused at the start, not at the first block. */
const wasmFunctions = [
  'init',
  '_malloc',
  '_free',
  '_ZSTD_isError',
  '_ZSTD_createCCtx',
  '_ZSTD_createDCtx',
  '_ZSTD_compress_usingDict',
  '_ZSTD_decompress_usingDict',
];

function isZstdModule(module: unknown): module is ZstdModule {
  if (typeof module !== 'object' || module === null) return false;
  const members = new Map<string, unknown>(Object.entries(module));
  return wasmFunctions.every((name) => typeof members.get(name) === 'function');
}

function isZstdPackage(value: unknown): value is { init(): Promise<void> } {
  return typeof value === 'object' && value !== null && 'init' in value && typeof value.init === 'function';
}

async function loadWasm(): Promise<ZstdModule> {
  const load = createRequire(import.meta.url);
  const name = '@bokuweb/zstd-wasm';
  const whole: unknown = load(name);
  assert(isZstdPackage(whole), 'the zstd package has an init function');
  await whole.init();
  const inner: unknown = load(join(dirname(load.resolve(name)), 'module.js'));
  const module: unknown = typeof inner === 'object' && inner !== null && 'Module' in inner ? inner.Module : undefined;
  assert(isZstdModule(module), 'the zstd package has the functions of its library');
  return module;
}

function hasZstd(module: object): module is NodeZstd {
  return 'zstdCompressSync' in module;
}

let loaded: Promise<Codec> | undefined;

/** Method 3, made ready once a process. */
export async function loadZstdCodec(): Promise<Codec> {
  loaded ??= hasZstd(zlib) ? Promise.resolve(nodeCodec(zlib)) : loadWasm().then(wasmCodec);
  return loaded;
}
