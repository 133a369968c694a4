// Memory for bytes on their way out: pieces of one size, used again when the socket has passed them on. Making a new one for every chunk costs more
// than sending it (the collector, and zeroing). Those that are used again lie in memory whose blocks are hashed where they are, so that bytes go from the
// file to the socket without being moved. The pool knows how much all answers hold together, so that each reads less ahead when they are many.

import { BlockHash } from '../base/block-hash.ts';
import { readMemoryBytes } from '../gridfs/index.ts';

/** Bytes of one piece. */
export const pieceBytes: number = readMemoryBytes;
/** Pieces that lie together, and how many are kept for the next answer. */
const togetherMax = 8;
const keptMax = 64;
/** Of those that answers have beyond that. */
const othersMax = 32;

/** Pieces: those that answers hold, and those that nobody uses now. */
export class PiecePool {
  readonly #idle: Uint8Array[] = [];
  readonly #idleOthers: Uint8Array[] = [];
  readonly #kept: WeakSet<Uint8Array> = new WeakSet();
  #keptCount = 0;
  #heldBytes = 0;

  /** Bytes that answers hold now. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Memory for one piece; it is not empty. */
  take(): Uint8Array {
    this.#heldBytes += pieceBytes;
    return this.#idle.pop() ?? this.#make();
  }

  #make(): Uint8Array {
    // Beyond that answers are so many that most of them wait for their clients.
    if (this.#keptCount >= keptMax) return this.#idleOthers.pop() ?? new Uint8Array(pieceBytes);
    const { memory } = new BlockHash(togetherMax * pieceBytes);
    const pieces = Array.from({ length: togetherMax }, (_, i) => memory.subarray(i * pieceBytes, (i + 1) * pieceBytes));
    for (const piece of pieces) this.#kept.add(piece);
    this.#keptCount += togetherMax;
    this.#idle.push(...pieces.slice(1));
    return pieces[0] ?? memory;
  }

  /** Takes a piece back that nobody reads any more. */
  give(piece: Uint8Array): void {
    this.#heldBytes -= pieceBytes;
    if (this.#kept.has(piece)) this.#idle.push(piece);
    else if (this.#idleOthers.length < othersMax) this.#idleOthers.push(piece);
  }

  /** Counts bytes in memory of others that an answer holds; negative: does not hold any more. */
  hold(bytes: number): void {
    this.#heldBytes += bytes;
  }
}
