// Room for large messages over all connections: each costs its bytes several times over while it is read, run and logged, so only so many bytes of them
// are under way at a time, and the others wait in order (docs/decisions/0005-room-for-garbage.md). One always gets in, whatever its size; and whoever
// has waited long gets in as well, for those before it may be clients that do not send, or wait for what this one is about to do.

import type { Clock } from '../env/index.ts';

/** Messages of fewer bytes are none of its concern. */
export const largeMessageBytes: number = 1024 * 1024;
/** How long the first in the queue waits for those inside. */
const waitMs = 20_000;

interface Waiting {
  readonly bytes: number;
  readonly go: (isIn: boolean) => void;
}

/** Lets large messages in. */
export class MessageGate {
  readonly #bytesMax: number;
  readonly #clock: Pick<Clock, 'sleep'>;
  readonly #queue: Waiting[] = [];
  #held = 0;
  /** Ends the wait of whoever is first. */
  #patience: AbortController | undefined;

  constructor(bytesMax: number, clock: Pick<Clock, 'sleep'>) {
    this.#bytesMax = bytesMax;
    this.#clock = clock;
  }

  /** Bytes of the messages that are inside. */
  get held(): number {
    return this.#held;
  }

  /** Waits for room for so many bytes, which `leave` gives back; false, and nothing to give back, where `gone` came first. */
  async enter(bytes: number, gone: AbortSignal): Promise<boolean> {
    if (this.#queue.length === 0 && this.#hasRoom(bytes)) {
      this.#held += bytes;
      return true;
    }
    return await new Promise<boolean>((resolve) => {
      const waiting: Waiting = {
        bytes,
        go: (isIn) => {
          gone.removeEventListener('abort', leaveQueue);
          resolve(isIn);
        },
      };
      const leaveQueue = (): void => {
        const at = this.#queue.indexOf(waiting);
        if (at >= 0) this.#queue.splice(at, 1);
        if (at === 0) this.#watchFirst();
        resolve(false);
      };
      if (gone.aborted) {
        resolve(false);
        return;
      }
      gone.addEventListener('abort', leaveQueue, { once: true });
      this.#queue.push(waiting);
      if (this.#queue.length === 1) this.#watchFirst();
    });
  }

  leave(bytes: number): void {
    this.#held -= bytes;
    const before = this.#queue.length;
    for (let first = this.#queue[0]; first !== undefined && this.#hasRoom(first.bytes); first = this.#queue[0]) this.#admit(first);
    if (this.#queue.length !== before) this.#watchFirst();
  }

  #hasRoom(bytes: number): boolean {
    return this.#held === 0 || this.#held + bytes <= this.#bytesMax;
  }

  #admit(first: Waiting): void {
    this.#queue.shift();
    this.#held += first.bytes;
    first.go(true);
  }

  /** Lets the first in when its time is over. */
  #watchFirst(): void {
    this.#patience?.abort();
    this.#patience = undefined;
    const first = this.#queue[0];
    if (first === undefined) return;
    const patience = new AbortController();
    this.#patience = patience;
    void this.#clock.sleep(waitMs, patience.signal).then(() => {
      if (patience.signal.aborted || this.#queue[0] !== first) return;
      this.#admit(first);
      this.#watchFirst();
    });
  }
}
