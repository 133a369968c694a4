// The bytes of one file on their way to one client: a window of chunks is read, checked and copied, then sent piece by piece. While a client keeps up, the
// next window is read as the last piece of this one leaves; when it does not take a piece for a moment, all that was read for it is given back and
// read again when it goes on. So between two reads nothing of the storage is held, and a paused player costs one piece (gateway.md, section 3).

import { AssertionError } from '../base/errors.ts';
import type { FileReader, Soon } from '../gridfs/index.ts';
import type { ByteRange } from './byte-range.ts';
import type { Exchange } from './exchange.ts';
import type { GatewayParts } from './gateway-parts.ts';
import { PieceList, pieceBytes } from './piece-pool.ts';
import type { Piece, PiecePool } from './piece-pool.ts';

/** A window read, or being read. `end`: the position behind it. */
interface Window {
  readonly pieces: PieceList;
  readonly end: number;
}

/** A client that takes a window in less is read ahead for. */
const quickMs = 250;

/** Sends ranges of one file to one client, one after the other. */
export class FileSource {
  readonly #pool: PiecePool;
  readonly #reader: FileReader;
  readonly #limits: GatewayParts['limits'];
  readonly #clock: GatewayParts['clock'];
  /** Where the next window begins. */
  #position = 0;
  #window: PieceList | undefined;
  #ahead: Soon<Window> | undefined;
  #isQuick = false;
  /** Since when the socket has not taken a piece; undefined while none waits. */
  #waitsSinceMs: number | undefined;

  constructor({ pieces, limits, clock }: GatewayParts, reader: FileReader) {
    this.#pool = pieces;
    this.#limits = limits;
    this.#clock = clock;
    this.#reader = reader;
  }

  /** Reads the first window of the range with which sending begins. */
  async prepare(range: ByteRange): Promise<void> {
    this.#position = range.first;
    const window = this.#read(range.first, range);
    this.#take(window instanceof Promise ? await window : window);
  }

  /** Sends the range, which `ends` the answer or not. False when the client is gone. */
  async send(exchange: Exchange, range: ByteRange, ends: boolean): Promise<boolean> {
    if (this.#window === undefined) this.#position = range.first;
    for (let at = range.first; at <= range.last; ) {
      const piece = this.#window?.shift() ?? (await this.#next(at, range));
      const began = this.#clock.monotonicMs();
      const { memory, length } = piece;
      this.#waitsSinceMs = began;
      const bytes = length === memory.length ? memory : memory.subarray(0, length);
      const taking = ends && at + length > range.last ? exchange.finish(bytes) : exchange.write(bytes);
      if (this.#isQuick && this.#position === at + length && this.#position <= range.last) this.#readAhead(range);
      const taken = await taking;
      this.#waitsSinceMs = undefined;
      if (!taken) {
        this.#pool.lose();
        return false;
      }
      this.#pool.give(piece);
      at += length;
      this.#isQuick = this.#clock.monotonicMs() - began < quickMs;
    }
    this.#window = undefined;
    return true;
  }

  /** The first piece of the window that begins at `at`: the one read ahead, if it is that one. */
  async #next(at: number, range: ByteRange): Promise<Piece> {
    const ahead = this.#ahead;
    this.#ahead = undefined;
    // What was let go is read again from where the client is.
    if (ahead === undefined) this.#position = at;
    this.#take(await (ahead ?? this.#read(at, range)));
    const piece = this.#window?.shift();
    if (piece === undefined) throw new AssertionError('a window has bytes');
    return piece;
  }

  #take({ pieces, end }: Window): void {
    this.#window = pieces;
    this.#position = end;
  }

  #readAhead(range: ByteRange): void {
    if (this.#pool.heldBytes > this.#limits.heldBytesMax / 2) return;
    // Whoever waits for it is told of its failure; until then nobody listens.
    try {
      const ahead = this.#read(this.#position, range);
      this.#ahead = ahead;
      if (ahead instanceof Promise) ahead.catch(() => undefined);
    } catch {
      // It is read again when it is wanted, and fails then.
    }
  }

  /** Bytes from `at` on: as many as make a window, or, when all answers together hold much, one piece. */
  #read(at: number, range: ByteRange): Soon<Window> {
    const { grain } = this.#reader;
    const { windowBytes, heldBytesMax } = this.#limits;
    const begin = at - (at % grain);
    const isTight = this.#pool.heldBytes >= heldBytesMax;
    const behind = isTight ? Math.min(begin + grain, at + pieceBytes) : begin + Math.max(1, Math.floor(windowBytes / grain)) * grain;
    const last = Math.min(behind - 1, range.last);
    const pieces = new PieceList(this.#pool);
    const window = { pieces, end: last + 1 };
    const failed = (error: unknown): never => {
      pieces.clear();
      throw error;
    };
    try {
      const reading = this.#reader.read(at, last, (bytes) => pieces.append(bytes, 0, bytes.length));
      return reading instanceof Promise ? reading.then(() => window, failed) : window;
    } catch (error) {
      return failed(error);
    }
  }

  /** Gives back what was read and not sent yet, if the client has not taken a piece for a while. */
  look(nowMs: number): void {
    if (this.#waitsSinceMs !== undefined && nowMs - this.#waitsSinceMs >= this.#limits.letGoMs) this.close();
  }

  /** Gives back what was read and not sent. */
  close(): void {
    const ahead = this.#ahead;
    this.#ahead = undefined;
    this.#window?.clear();
    if (ahead instanceof Promise) void ahead.then(({ pieces }) => pieces.clear(), () => undefined);
    else ahead?.pieces.clear();
  }
}
