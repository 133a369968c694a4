// Memory for bytes on their way out: pieces of one size, used again when the socket has passed them on. Making a new one for every chunk costs more
// than sending it (the collector, and zeroing). A piece is the unit in which the progress of a slow client is seen. The pool knows how much all
// answers hold together, so that each reads less ahead when they are many.

/** Bytes of a file, ready to be sent. */
export interface Piece {
  readonly memory: Uint8Array;
  /** How many of them are filled. */
  length: number;
}

/** Bytes of one piece. */
export const pieceBytes: number = 256 * 1024;
/** Pieces kept for the next answer. */
const idleMax = 64;

/** Pieces: those that answers hold, and those that nobody uses now. */
export class PiecePool {
  readonly #idle: Uint8Array[] = [];
  #held = 0;

  /** Bytes of the pieces that answers hold now. */
  get heldBytes(): number {
    return this.#held * pieceBytes;
  }

  take(): Piece {
    this.#held += 1;
    return { memory: this.#idle.pop() ?? new Uint8Array(pieceBytes), length: 0 };
  }

  /** Takes a piece back that nobody reads any more. */
  give({ memory }: Piece): void {
    this.#held -= 1;
    if (this.#idle.length < idleMax) this.#idle.push(memory);
  }

  /** Forgets a piece that a socket may still read. */
  lose(): void {
    this.#held -= 1;
  }
}

/** A stretch of a file in pieces. */
export class PieceList {
  readonly #pool: PiecePool;
  readonly #pieces: Piece[] = [];

  constructor(pool: PiecePool) {
    this.#pool = pool;
  }

  /** Copies bytes[from, to) behind those that are there. */
  append(bytes: Uint8Array, from: number, to: number): void {
    for (let at = from; at < to; ) {
      let piece = this.#pieces.at(-1);
      if (piece === undefined || piece.length === pieceBytes) {
        piece = this.#pool.take();
        this.#pieces.push(piece);
      }
      const count = Math.min(to - at, pieceBytes - piece.length);
      piece.memory.set(count === bytes.length ? bytes : bytes.subarray(at, at + count), piece.length);
      piece.length += count;
      at += count;
    }
  }

  /** The first piece that was not taken yet. */
  shift(): Piece | undefined {
    return this.#pieces.shift();
  }

  /** Gives all pieces back. */
  clear(): void {
    for (let piece = this.shift(); piece !== undefined; piece = this.shift()) this.#pool.give(piece);
  }
}
