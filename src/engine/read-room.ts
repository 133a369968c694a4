// Room for large values that are being read: each is in memory that no budget has, so only so many bytes of them are read at a time, over all
// readers, and the others wait in order. One always gets on, whatever its size (law 26), and a read waits for nothing but the disk.

import type { Soon } from './types.ts';

/** Runs reads of large values. */
export class ReadRoom {
  readonly #bytesMax: number;
  /** Others get a turn: what was read goes on its way before the next is. */
  readonly #pause: () => Promise<void>;
  readonly #queue: { readonly bytes: number; readonly go: () => void }[] = [];
  #held = 0;

  constructor(bytesMax: number, pause: () => Promise<void>) {
    this.#bytesMax = bytesMax;
    this.#pause = pause;
  }

  /** The result of `read`, which is begun when there is room for so many bytes. */
  pass<T>(bytes: number, read: () => Soon<T>): Soon<T> {
    if (this.#queue.length > 0 || !this.#hasRoom(bytes)) return this.#later(bytes, read);
    const result = read();
    if (result instanceof Promise) void this.#hold(bytes, result);
    return result;
  }

  async #later<T>(bytes: number, read: () => Soon<T>): Promise<T> {
    await new Promise<void>((resolve) => {
      this.#queue.push({ bytes, go: resolve });
    });
    const result = Promise.resolve(read());
    void this.#hold(0, result, bytes);
    return await result;
  }

  /** Takes room until a read is over; `taken` was taken for it already. */
  async #hold(bytes: number, reading: Promise<unknown>, taken: number = 0): Promise<void> {
    this.#held += bytes;
    await Promise.allSettled([reading]);
    await this.#pause();
    this.#held -= bytes + taken;
    for (let first = this.#queue[0]; first !== undefined && this.#hasRoom(first.bytes); first = this.#queue[0]) {
      this.#queue.shift();
      this.#held += first.bytes;
      first.go();
    }
  }

  #hasRoom(bytes: number): boolean {
    return this.#held === 0 || this.#held + bytes <= this.#bytesMax;
  }
}
