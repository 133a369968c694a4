// Room for changes of large documents, over all operations: such a change holds its document several times over (as it was, as it becomes, what the log is told),
// so only so many bytes of them are changed at a time, and the others wait in order. One always gets on, whatever its size. Who waits may hold the lock of
// a document that somebody before it wants, so nobody waits for ever: whoever has been in the queue for long goes on as well.

import type { Clock } from '../env/index.ts';

/** Smaller documents are none of its concern. */
export const largeDocumentBytes: number = 1024 * 1024;
const patienceMs = 2000;

interface Waiting {
  readonly bytes: number;
  readonly go: () => void;
}

/** Lets changes of large documents on. */
export class LargeWork {
  readonly #bytesMax: number;
  readonly #clock: Pick<Clock, 'sleep'>;
  readonly #queue: Waiting[] = [];
  #held = 0;

  constructor(bytesMax: number, clock: Pick<Clock, 'sleep'>) {
    this.#bytesMax = bytesMax;
    this.#clock = clock;
  }

  /** Bytes of the documents that are being changed. */
  get held(): number {
    return this.#held;
  }

  /** Waits for room, where there is none; `leave` gives it back. */
  enter(bytes: number): Promise<void> | undefined {
    if (this.#queue.length > 0 || !this.#hasRoom(bytes)) return this.#wait(bytes);
    this.#held += bytes;
    return undefined;
  }

  leave(bytes: number): void {
    this.#held -= bytes;
    for (let first = this.#queue[0]; first !== undefined && this.#hasRoom(first.bytes); first = this.#queue[0]) {
      this.#queue.shift();
      this.#held += first.bytes;
      first.go();
    }
  }

  async #wait(bytes: number): Promise<void> {
    const gone = new AbortController();
    const waiting: Waiting = {
      bytes,
      go: () => {
        gone.abort();
      },
    };
    this.#queue.push(waiting);
    await this.#clock.sleep(patienceMs, gone.signal);
    const at = this.#queue.indexOf(waiting);
    if (at < 0) return;
    this.#queue.splice(at, 1);
    this.#held += bytes;
  }

  #hasRoom(bytes: number): boolean {
    return this.#held === 0 || this.#held + bytes <= this.#bytesMax;
  }
}
