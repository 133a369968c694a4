// WebAssembly that is put together here: expressions as lists of bytes, and a module of functions over one memory. As much of the format as the
// functions of this folder need: whole numbers of 32 bits, loads and stores of 1 to 8 bytes, loops (WebAssembly Core Specification 1.0, chapter 5).

import { AssertionError } from './errors.ts';

/** Bytes of code. An expression leaves a number of 32 bits, unless it is said otherwise; a statement leaves nothing. */
export type Code = readonly number[];

/** What is used of the runtime's WebAssembly. */
interface Runtime {
  readonly Memory: new (pages: { readonly initial: number }) => { readonly buffer: ArrayBuffer };
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: Readonly<Record<string, unknown>> };
}

const pageBytes = 64 * 1024;

/** A whole number as the format has them (LEB128); not negative. */
function whole(value: number): Code {
  return value < 128 ? [value] : [(value & 127) | 128, ...whole(value >>> 7)];
}

/** The same for a number of 32 bits with its sign. */
function signed(value: number): Code {
  return value >= -64 && value < 64 ? [value & 127] : [(value & 127) | 128, ...signed(value >> 7)];
}

type Unary = (value: Code) => Code;
type Binary = (a: Code, b: Code) => Code;
type Body = (...body: readonly Code[]) => Code;

const unary = (...ops: Code): Unary => (value) => [...value, ...ops];
const binary = (...ops: Code): Binary => (a, b) => [...a, ...b, ...ops];

/** Expressions and statements. Comparisons are of numbers without a sign. */
interface Vocabulary
  extends Readonly<Record<'isZero' | 'isZero8' | 'zeros8' | 'load1' | 'load2' | 'load4' | 'load8' | 'give', Unary>>,
    Readonly<Record<'add' | 'sub' | 'mul' | 'and' | 'or' | 'shiftLeft' | 'shiftRight' | 'isEqual' | 'isOther' | 'isLess' | 'isMore' | 'isAtMost' | 'isAtLeast' | 'differ8', Binary>>,
    Readonly<Record<'store1' | 'store2' | 'store4' | 'store8', Binary>> {
  readonly number: (value: number) => Code;
  readonly get: (local: number) => Code;
  readonly set: (local: number, value: Code) => Code;
  readonly block: Body;
  readonly loop: Body;
  when(condition: Code, ...body: readonly Code[]): Code;
  either(condition: Code, then: readonly Code[], otherwise: readonly Code[]): Code;
  /** The first of two numbers where the condition holds, else the second. */
  choice(first: Code, second: Code, condition: Code): Code;
  /** Goes to the beginning of the loop, or the end of the block, so many levels out. */
  go(levels: number): Code;
  goIf(levels: number, condition: Code): Code;
}

/** The words of the functions that are put together. */
export const code: Vocabulary = {
  number: (value: number): Code => [0x41, ...signed(value | 0)],
  get: (local: number): Code => [0x20, local],
  set: (local: number, value: Code): Code => [...value, 0x21, local],
  add: binary(0x6a),
  sub: binary(0x6b),
  mul: binary(0x6c),
  and: binary(0x71),
  or: binary(0x72),
  shiftLeft: binary(0x74),
  shiftRight: binary(0x76),
  isEqual: binary(0x46),
  isOther: binary(0x47),
  isLess: binary(0x49),
  isMore: binary(0x4b),
  isAtMost: binary(0x4d),
  isAtLeast: binary(0x4f),
  isZero: unary(0x45),
  load1: unary(0x2d, 0, 0),
  load2: unary(0x2f, 0, 0),
  load4: unary(0x28, 0, 0),
  // Numbers of 64 bits.
  load8: unary(0x29, 0, 0),
  store1: binary(0x3a, 0, 0),
  store2: binary(0x3b, 0, 0),
  store4: binary(0x36, 0, 0),
  store8: binary(0x37, 0, 0),
  differ8: binary(0x85),
  // How many bits are zero from the lowest on, as a number of 32.
  zeros8: unary(0x7a, 0xa7),
  isZero8: unary(0x50),
  block: (...body: readonly Code[]): Code => [0x02, 0x40, ...body.flat(), 0x0b],
  loop: (...body: readonly Code[]): Code => [0x03, 0x40, ...body.flat(), 0x0b],
  when: (condition: Code, ...body: readonly Code[]): Code => [...condition, 0x04, 0x40, ...body.flat(), 0x0b],
  either: (condition: Code, then: readonly Code[], otherwise: readonly Code[]): Code => [...condition, 0x04, 0x40, ...then.flat(), 0x05, ...otherwise.flat(), 0x0b],
  choice: (first: Code, second: Code, condition: Code): Code => [...first, ...second, ...condition, 0x1b],
  go: (levels: number): Code => [0x0c, levels],
  goIf: (levels: number, condition: Code): Code => [...condition, 0x0d, levels],
  give: unary(0x0f),
};

/** A function of numbers of 32 bits. */
export interface WasmFunction {
  readonly parameters: number;
  readonly locals: number;
  /** Locals of 64 bits, numbered behind the others. */
  readonly wides?: number;
  /** Ends with an expression, its result. */
  readonly body: Code;
}

const section = (id: number, bytes: Code): Code => [id, ...whole(bytes.length), ...bytes];
const list = (items: readonly Code[]): Code => [...whole(items.length), ...items.flat()];
const int32 = 0x7f;
const int64 = 0x7e;

function moduleBytes(functions: readonly WasmFunction[], pages: number): Uint8Array {
  const types = functions.map(({ parameters }) => [0x60, ...list(Array.from({ length: parameters }, () => [int32])), 1, int32]);
  const bodies = functions.map(({ locals, wides = 0, body }) => [2, locals, int32, wides, int64, ...body, 0x0b]);
  return Uint8Array.from([
    0, 0x61, 0x73, 0x6d, 1, 0, 0, 0,
    ...section(1, list(types)),
    ...section(2, [1, 1, 0x6d, 1, 0x6d, 2, 0, ...whole(pages)]),
    ...section(3, list(functions.map((_, index) => [index]))),
    ...section(7, list(functions.map((_, index) => [1, 0x61 + index, 0, index]))),
    ...section(10, list(bodies.map((body) => [...whole(body.length), ...body]))),
  ]);
}

/** Functions over a memory of at least so many bytes, in their order. Undefined: the runtime has no WebAssembly. */
export function wasmFunctions(functions: readonly WasmFunction[], bytes: number): { readonly memory: Uint8Array; readonly calls: readonly ((...given: readonly number[]) => number)[] } | undefined {
  // eslint-disable-next-line frond/no-unsafe-assertion -- part of the runtime, if it is there; the library's types do not have it
  const runtime = (globalThis as { readonly WebAssembly?: Runtime }).WebAssembly;
  if (runtime === undefined) return undefined;
  const pages = Math.ceil(bytes / pageBytes);
  const memory = new runtime.Memory({ initial: pages });
  const { exports } = new runtime.Instance(new runtime.Module(moduleBytes(functions, pages)), { m: { m: memory } });
  const calls = functions.map((_, index) => {
    const call = exports[String.fromCharCode(0x61 + index)];
    if (typeof call !== 'function') throw new AssertionError('the module has its functions');
    // eslint-disable-next-line frond/no-unsafe-assertion -- the function of the module above
    return call as (...given: readonly number[]) => number;
  });
  return { memory: new Uint8Array(memory.buffer), calls };
}
