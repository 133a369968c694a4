// Looks at what is open, now and then: which answers have stalled, which clients do not take what was read for them. One timer for all, for requests are
// many and short; while nothing is open, nothing runs.

import type { Clock } from '../env/index.ts';

/** Something that is looked at. */
export interface Patrolled {
  /** `nowMs`: monotonic. */
  look(nowMs: number): void;
}

/** What is open, and who looks at it. */
export class Patrol<T extends Patrolled> {
  readonly #clock: Clock;
  readonly #periodMs: number;
  readonly #open: Set<T> = new Set();
  readonly #closing: AbortController = new AbortController();
  #isGoing = false;

  constructor(clock: Clock, periodMs: number) {
    this.#clock = clock;
    this.#periodMs = periodMs;
  }

  get size(): number {
    return this.#open.size;
  }

  add(one: T): void {
    this.#open.add(one);
    if (!this.#isGoing) void this.#go();
  }

  delete(one: T): void {
    this.#open.delete(one);
  }

  /** Nothing is looked at any more. */
  close(): void {
    this.#closing.abort();
  }

  /** Ends a while after nothing is open, not at once: with short requests that would be a timer for each. */
  async #go(): Promise<void> {
    this.#isGoing = true;
    const { signal } = this.#closing;
    do {
      await this.#clock.sleep(this.#periodMs, signal);
      const nowMs = this.#clock.monotonicMs();
      for (const one of this.#open) one.look(nowMs);
    } while (this.#open.size > 0 && !signal.aborted);
    this.#isGoing = false;
  }
}
