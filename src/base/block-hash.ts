// XXH32 (xxhash32.ts) of several blocks of 16 KiB at once: its four lanes are one vector of four words, and the lanes of four blocks go side by side, in a
// small WebAssembly function that is put together here. It works on memory of its own, into which bytes are read, or copied; where there are no vectors
// everything is done by xxhash32.ts. The hashes are the same.

import { AssertionError } from './errors.ts';
import { finishHash, xxhash32 } from './xxhash32.ts';

/** Bytes of a block. */
export const hashedBlockBytes: number = 16 * 1024;
const pageBytes = 64 * 1024;
const together = 4;
const vectorBytes = 16;

/** What is used of the runtime's WebAssembly. */
interface Runtime {
  readonly Memory: new (pages: { readonly initial: number }) => { readonly buffer: ArrayBuffer };
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: Readonly<Record<string, unknown>> };
  readonly validate: (bytes: Uint8Array) => boolean;
}
type RunLanes = (from: number, to: number, lanes: number) => void;

const local = { from: 0, to: 1, lanes: 2, prime1: 3, prime2: 4, first: 5 } as const;
const op = {
  get: 0x20, set: 0x21, tee: 0x22, number: 0x41, add: 0x6a, isLess: 0x49, loop: [0x03, 0x40], again: [0x0d, 0x00], end: 0x0b,
  load: [0xfd, 0x00], store: [0xfd, 0x0b], vector: [0xfd, 0x0c], or: [0xfd, 0x50], shiftLeft: [0xfd, 0xab, 0x01], shiftRight: [0xfd, 0xad, 0x01], addLanes: [0xfd, 0xae, 0x01], mulLanes: [0xfd, 0xb5, 0x01],
} as const;
const [prime1, prime2] = [0x9e3779b1, 0x85ebca77];

/** A whole number as the format has them (LEB128); not negative. */
function whole(value: number): readonly number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...whole(value >>> 7)];
}

/** The same where the number may have a sign: one bit more. */
const signed = (value: number): readonly number[] => (value < 64 ? [value] : [(value & 127) | 128, ...signed(value >>> 7)]);
const words = (...lanes: readonly number[]): readonly number[] => [...op.vector, ...lanes.flatMap((lane) => [0, 8, 16, 24].map((shift) => (lane >>> shift) & 255))];
const section = (id: number, bytes: readonly number[]): readonly number[] => [id, ...whole(bytes.length), ...bytes];

/** One step of block `i`: sixteen bytes into its lanes. */
function step(i: number): readonly number[] {
  const lanes = local.first + i;
  return [
    op.get, lanes, op.get, local.from, ...op.load, 2, ...whole(i * hashedBlockBytes), op.get, local.prime2, ...op.mulLanes, ...op.addLanes, op.tee, lanes,
    op.number, ...signed(13), ...op.shiftLeft, op.get, lanes, op.number, ...signed(19), ...op.shiftRight, ...op.or, op.get, local.prime1, ...op.mulLanes, op.set, lanes,
  ];
}

/** The module: one function over a memory that it is given. */
function moduleBytes(pages: number): Uint8Array {
  const blocks = Array.from({ length: together }, (_, i) => i);
  const body = [
    1, together + 2, 0x7b,
    ...words(prime1, prime1, prime1, prime1), op.set, local.prime1, ...words(prime2, prime2, prime2, prime2), op.set, local.prime2,
    ...blocks.flatMap((i) => [...words(prime1 + prime2, prime2, 0, -prime1), op.set, local.first + i]),
    ...op.loop, ...blocks.flatMap(step), op.get, local.from, op.number, ...signed(vectorBytes), op.add, op.tee, local.from, op.get, local.to, op.isLess, ...op.again, op.end,
    ...blocks.flatMap((i) => [op.get, local.lanes, op.get, local.first + i, ...op.store, 2, ...whole(i * vectorBytes)]),
    op.end,
  ];
  return Uint8Array.from([
    0, 0x61, 0x73, 0x6d, 1, 0, 0, 0,
    ...section(1, [1, 0x60, 3, 0x7f, 0x7f, 0x7f, 0]),
    ...section(2, [1, 1, 0x6d, 1, 0x6d, 2, 0, ...whole(pages)]),
    ...section(3, [1, 0]),
    ...section(7, [1, 1, 0x68, 0, 0]),
    ...section(10, [1, ...whole(body.length), ...body]),
  ]);
}

/** Who hashes what lies in a memory. */
const owners: WeakMap<ArrayBufferLike, BlockHash> = new WeakMap();

/** Memory whose blocks can be hashed together. */
export class BlockHash {
  /** For the bytes of a caller; what is hashed is there. */
  readonly memory: Uint8Array;
  readonly #lanes: Int32Array;
  readonly #run: RunLanes | undefined;

  /** `bytes`: of the memory. */
  constructor(bytes: number) {
    const lanesAt = Math.ceil(bytes / vectorBytes) * vectorBytes;
    const pages = Math.ceil((lanesAt + together * vectorBytes) / pageBytes);
    const { buffer, run } = openMemory(pages);
    this.memory = new Uint8Array(buffer, 0, bytes);
    this.#lanes = new Int32Array(buffer, lanesAt, together * 4);
    this.#run = run;
    owners.set(buffer, this);
  }

  /** The one whose memory has these bytes: they are hashed where they lie. */
  static over({ buffer }: Uint8Array): BlockHash | undefined {
    return owners.get(buffer);
  }

  /** Hashes of memory[from, to) block by block, the last one perhaps a part of one; `found` is told each with its number. It ends, with false, when that says so. */
  each(from: number, to: number, found: (hash: number, block: number) => boolean): boolean {
    let block = 0;
    let at = from;
    const run = this.#run;
    // What lies behind the last ones is hashed with them, and not looked at.
    while (run !== undefined && at + hashedBlockBytes <= to && at + together * hashedBlockBytes <= this.memory.length) {
      const count = Math.min(together, Math.floor((to - at) / hashedBlockBytes));
      run(at, at + hashedBlockBytes, this.#lanes.byteOffset);
      for (let i = 0; i < count; i++) if (!found(this.#finish(i), block++)) return false;
      at += count * hashedBlockBytes;
    }
    for (; at < to; at += hashedBlockBytes) if (!found(xxhash32(this.memory, at, Math.min(at + hashedBlockBytes, to)), block++)) return false;
    return true;
  }

  #finish(i: number): number {
    const lanes = this.#lanes;
    const [a = 0, b = 0, c = 0, d = 0] = [lanes[4 * i], lanes[4 * i + 1], lanes[4 * i + 2], lanes[4 * i + 3]];
    return finishHash(a, b, c, d, hashedBlockBytes);
  }
}

function openMemory(pages: number): { readonly buffer: ArrayBuffer; readonly run: RunLanes | undefined } {
  // eslint-disable-next-line frond/no-unsafe-assertion -- part of the runtime, if it is there; the library's types do not have it
  const runtime = (globalThis as { readonly WebAssembly?: Runtime }).WebAssembly;
  const bytes = moduleBytes(pages);
  if (runtime === undefined || !runtime.validate(bytes)) return { buffer: new ArrayBuffer(pages * pageBytes), run: undefined };
  const memory = new runtime.Memory({ initial: pages });
  const { h: run } = new runtime.Instance(new runtime.Module(bytes), { m: { m: memory } }).exports;
  if (typeof run !== 'function') throw new AssertionError('the module has its function');
  // eslint-disable-next-line frond/no-unsafe-assertion -- the function of the module above
  return { buffer: memory.buffer, run: run as RunLanes };
}
