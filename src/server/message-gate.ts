// Room for large messages over all connections: each costs its bytes several times over while it is read, run and logged, so only so many bytes of them
// are under way at a time, and the others wait in order (docs/decisions/0005-room-for-garbage.md). One always gets in, whatever its size; and whoever
// has waited long gets in as well, for those before it may wait for what this one is about to do. Who is inside and sends slowly, while others wait, keeps
// room only for what has come of its message, and who does not send at all is expelled: a promise of bytes costs nobody else's time.

import type { Clock } from '../env/index.ts';

/** Messages of fewer bytes are none of its concern. */
export const largeMessageBytes: number = 64 * 1024;
/** How long the first in the queue waits for those inside: so many looks, so far apart. */
const looksMax = 200;
const lookMs = 100;
/** Who sends fewer bytes between two looks is slow. */
const swiftBytesMin = 256 * 1024;
/** Who sends fewer bytes between so many looks has stopped. */
const looksBeforeExpelled = 20;
const sentBytesMin = 16 * 1024;

/** Who sends a large message. */
export interface Sender {
  /** Aborted when it has gone. */
  readonly gone: AbortSignal;
  /** How much of its message is there; undefined when that is whole. */
  received(): number | undefined;
  /** Ends its connection, which leaves. */
  expel(): void;
}

/** What is known of a sender inside. */
interface Place {
  /** What it holds of the room. */
  bytes: number;
  /** How much of its message was there at the last look, and at the last at which it might have been expelled. */
  seen: number;
  seenBefore: number;
}

interface Waiting {
  readonly bytes: number;
  readonly sender: Sender;
  readonly go: (isIn: boolean) => void;
}

/** Lets large messages in. */
export class MessageGate {
  readonly #bytesMax: number;
  readonly #clock: Pick<Clock, 'sleep'>;
  readonly #queue: Waiting[] = [];
  readonly #inside: Map<Sender, Place> = new Map();
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

  /** Waits for room for so many bytes, which `leave` gives back; false, and nothing to give back, where the sender has gone first. */
  async enter(bytes: number, sender: Sender): Promise<boolean> {
    if (this.#queue.length === 0 && this.#hasRoom(bytes)) {
      this.#take(bytes, sender);
      return true;
    }
    const { gone } = sender;
    if (gone.aborted) return false;
    return await new Promise<boolean>((resolve) => {
      const waiting: Waiting = {
        bytes,
        sender,
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
      gone.addEventListener('abort', leaveQueue, { once: true });
      this.#queue.push(waiting);
      if (this.#queue.length === 1) this.#watchFirst();
    });
  }

  /** Gives back what a sender holds. */
  leave(sender: Sender): void {
    this.#held -= this.#inside.get(sender)?.bytes ?? 0;
    this.#inside.delete(sender);
    this.#admitAll();
  }

  #admitAll(): void {
    const before = this.#queue.length;
    for (let first = this.#queue[0]; first !== undefined && this.#hasRoom(first.bytes); first = this.#queue[0]) this.#admit(first);
    if (this.#queue.length !== before) this.#watchFirst();
  }

  #hasRoom(bytes: number): boolean {
    return this.#held === 0 || this.#held + bytes <= this.#bytesMax;
  }

  #take(bytes: number, sender: Sender): void {
    this.#held += bytes;
    const seen = sender.received() ?? 0;
    this.#inside.set(sender, { bytes, seen, seenBefore: seen });
  }

  #admit(first: Waiting): void {
    this.#queue.shift();
    this.#take(first.bytes, first.sender);
    first.go(true);
  }

  /** Expels who does not send meanwhile, and lets the first in when its time is over. */
  #watchFirst(): void {
    this.#patience?.abort();
    this.#patience = undefined;
    const first = this.#queue[0];
    if (first === undefined) return;
    const patience = new AbortController();
    this.#patience = patience;
    for (const [sender, place] of this.#inside) place.seen = place.seenBefore = sender.received() ?? place.seen;
    void this.#watch(first, patience.signal);
  }

  async #watch(first: Waiting, ended: AbortSignal): Promise<void> {
    for (let look = 1; ; look++) {
      await this.#clock.sleep(lookMs, ended);
      if (ended.aborted || this.#queue[0] !== first) return;
      this.#takeFromSlow();
      if (look % looksBeforeExpelled === 0) this.#expelStopped();
      if (this.#hasRoom(first.bytes)) this.#admitAll();
      else if (look === looksMax) {
        this.#admit(first);
        this.#watchFirst();
      }
    }
  }

  /** Who sends slowly keeps room for what has come. */
  #takeFromSlow(): void {
    for (const [sender, place] of this.#inside) {
      const received = sender.received();
      if (received === undefined) continue;
      if (received - place.seen < swiftBytesMin && received < place.bytes) {
        this.#held -= place.bytes - received;
        place.bytes = received;
      }
      place.seen = received;
    }
  }

  #expelStopped(): void {
    for (const [sender, place] of [...this.#inside]) {
      const received = sender.received();
      if (received === undefined) continue;
      if (received - place.seenBefore < sentBytesMin) sender.expel();
      place.seenBefore = received;
    }
  }
}
