// The bytes of one file on their way to one client: a stretch is read and checked, then sent. While a client keeps up, the next stretch is read as the last
// bytes of this one leave; when it does not take what was sent for a moment, all that was read for it is given back and read again when it goes on. So
// between two reads nothing of the storage is held, and a paused player costs one piece (gateway.md, section 3).

import type { FileReader, Soon } from '../gridfs/index.ts';
import type { ByteRange } from './byte-range.ts';
import type { Exchange } from './exchange.ts';
import type { GatewayParts } from './gateway-parts.ts';
import { pieceBytes } from './piece-pool.ts';
import { Stretch } from './stretch.ts';

/** A client that takes bytes in less is read ahead for, */
const quickMs = 250;
/** and while it does, twice as much at once each time, from so much on. */
const beginningBytes = 512 * 1024;

/** Sends ranges of one file to one client, one after the other. */
export class FileSource {
  readonly #parts: GatewayParts;
  readonly #reader: FileReader;
  #stretch: Stretch | undefined;
  #ahead: Soon<Stretch> | undefined;
  #isQuick = false;
  /** About how much is read at once. */
  #room: number;
  /** Since when the socket has not taken what it was given; undefined while it has nothing. */
  #waitsSinceMs: number | undefined;

  constructor(parts: GatewayParts, reader: FileReader) {
    this.#parts = parts;
    this.#reader = reader;
    this.#room = Math.min(beginningBytes, parts.limits.windowBytes);
  }

  /** Reads the beginning of the range with which sending begins. */
  prepare(range: ByteRange): Soon<void> {
    const reading = this.#read(range.first, range);
    if (reading instanceof Promise) {
      return reading.then((stretch) => {
        this.#stretch = stretch;
      });
    }
    this.#stretch = reading;
    return undefined;
  }

  /** Sends the range, which `ends` the answer or not. False when the client is gone. */
  async send(exchange: Exchange, range: ByteRange, ends: boolean): Promise<boolean> {
    const { clock, pieces } = this.#parts;
    for (let at = range.first; at <= range.last; ) {
      const stretch = this.#stretch?.isEmpty === false ? this.#stretch : await this.#next(at, range);
      const { bytes, memory } = stretch.take();
      at += bytes.length;
      const beganMs = clock.monotonicMs();
      this.#waitsSinceMs = beganMs;
      const taking = ends && at > range.last ? exchange.finish(bytes) : exchange.write(bytes);
      if (this.#isQuick && stretch.isEmpty && at <= range.last) this.#readAhead(at, range);
      const isTaken = await taking;
      this.#waitsSinceMs = undefined;
      pieces.give(memory);
      if (!isTaken) return false;
      this.#isQuick = clock.monotonicMs() - beganMs < quickMs;
      if (!this.#isQuick) this.#room = Math.min(beginningBytes, this.#parts.limits.windowBytes);
    }
    return true;
  }

  /** The stretch that begins at `at`: the one read ahead, if there is one. What was let go is read again from where the client is. */
  async #next(at: number, range: ByteRange): Promise<Stretch> {
    const ahead = this.#ahead;
    this.#ahead = undefined;
    const stretch = await (ahead ?? this.#read(at, range));
    this.#stretch = stretch;
    return stretch;
  }

  #readAhead(at: number, range: ByteRange): void {
    const { pieces, limits } = this.#parts;
    if (pieces.heldBytes > limits.heldBytesMax / 2) return;
    // Whoever waits for it is told of its failure; until then nobody listens.
    try {
      const ahead = this.#read(at, range);
      this.#ahead = ahead;
      if (ahead instanceof Promise) ahead.catch(() => undefined);
    } catch {
      // It is read again when it is wanted, and fails then.
    }
  }

  /** Bytes from `at` on: as many as make a window, or, when all answers together hold much, one piece. */
  #read(at: number, range: ByteRange): Soon<Stretch> {
    const { pieces, limits } = this.#parts;
    const room = pieces.heldBytes >= limits.heldBytesMax ? pieceBytes : this.#room;
    this.#room = Math.min(2 * room, limits.windowBytes);
    return Stretch.read(pieces, this.#reader, { first: at, last: range.last, room });
  }

  /** Gives back what was read and not sent yet, if the client has not taken anything for a while. */
  look(nowMs: number): void {
    if (this.#waitsSinceMs !== undefined && nowMs - this.#waitsSinceMs >= this.#parts.limits.letGoMs) this.close();
  }

  /** Gives back what was read and not sent. */
  close(): void {
    const ahead = this.#ahead;
    this.#ahead = undefined;
    this.#stretch?.clear();
    if (ahead instanceof Promise) void ahead.then((stretch) => stretch.clear(), () => undefined);
    else ahead?.clear();
  }
}
