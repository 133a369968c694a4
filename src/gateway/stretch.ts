// Bytes of a file that were read for a client and that it has not taken yet. They go to the socket in pieces of the pool's memory: that into which the reader
// put them, or copies of what it gave, so that what waits at a client that has paused is one piece, however large the reader's own memory is. All is
// counted in the pool, and given back once.

import { AssertionError } from '../base/errors.ts';
import type { FileReader, Soon } from '../gridfs/index.ts';
import { pieceBytes } from './piece-pool.ts';
import type { PiecePool } from './piece-pool.ts';

const noMemory = new Uint8Array(0);

/** What is wanted: bytes `first` to `last`, about `room` of them at once. */
interface Wanted {
  readonly first: number;
  readonly last: number;
  readonly room: number;
}

/** Bytes ready to be sent, and the memory that they lie in, which goes back to the pool. */
export interface Piece {
  readonly bytes: Uint8Array;
  readonly memory: Uint8Array;
}

/** A stretch of a file, read. */
export class Stretch {
  readonly #pool: PiecePool;
  /** Memory of the pool that has all of it. */
  readonly #filled: Uint8Array | undefined;
  /** What was not taken yet. */
  readonly #slices: Uint8Array[];

  private constructor(pool: PiecePool, filled: Uint8Array | undefined, slices: readonly Uint8Array[]) {
    this.#pool = pool;
    this.#filled = filled;
    this.#slices = [...slices];
    if (filled === undefined) for (const { length } of slices) pool.hold(length);
  }

  /** Reads the beginning of a range, as much as the reader gives at once. */
  static read(pool: PiecePool, reader: FileReader, { first, last, room }: Wanted): Soon<Stretch> {
    const memory = reader.fills ? pool.take() : undefined;
    const failed = (error: unknown): never => {
      if (memory !== undefined) pool.give(memory);
      throw error;
    };
    try {
      const reading = reader.read(first, last, { bytes: room, memory: memory ?? noMemory });
      return reading instanceof Promise ? reading.then((slices) => new Stretch(pool, memory, slices), failed) : new Stretch(pool, memory, reading);
    } catch (error) {
      return failed(error);
    }
  }

  get isEmpty(): boolean {
    return this.#slices.length === 0;
  }

  /** The next piece; whoever takes it gives its memory back to the pool. Only where there is one. */
  take(): Piece {
    const [first] = this.#slices;
    if (first === undefined) throw new AssertionError('what was read has bytes');
    if (this.#filled !== undefined) {
      this.#slices.shift();
      return { bytes: first, memory: this.#filled };
    }
    const memory = this.#pool.take();
    const length = this.#copy(memory);
    this.#pool.hold(-length);
    return { bytes: memory.subarray(0, length), memory };
  }

  /** Moves as much as a piece has room for. */
  #copy(memory: Uint8Array): number {
    let length = 0;
    for (let slice = this.#slices[0]; slice !== undefined && length < pieceBytes; slice = this.#slices[0]) {
      const part = slice.subarray(0, pieceBytes - length);
      memory.set(part, length);
      length += part.length;
      if (part.length === slice.length) this.#slices.shift();
      else this.#slices[0] = slice.subarray(part.length);
    }
    return length;
  }

  /** Gives back all that was not taken. */
  clear(): void {
    if (this.isEmpty) return;
    if (this.#filled === undefined) for (const { length } of this.#slices) this.#pool.hold(-length);
    else this.#pool.give(this.#filled);
    this.#slices.length = 0;
  }
}
