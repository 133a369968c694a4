// Replies that their clients have not taken yet, over all connections. A client that does not read keeps one reply, which may be large; where all together are too
// much, cursors give smaller batches (`ServerCounters.unsentBytes`), and who has kept the server waiting longest is disconnected, one after the other.

import type { Clock } from '../env/index.ts';
import type { ServerCounters } from '../session/index.ts';

/** What all together may keep at the least: a slow client that reads the largest reply alone is nobody's harm. */
const keptBytesMin = 17 * 1024 * 1024;
/** So long a client may take for its reply while all together keep too much, and longer by what a slow network takes for its bytes; less while they keep three times as much. */
const patienceMs = 5000;
const slowBytesPerMs = 1024;
const hurryMs = 1000;
const hurryFactor = 3;
const lookMs = 250;

interface Unsent {
  readonly sinceMs: number;
  /** How long it may take. */
  readonly allowedMs: number;
  readonly expel: () => void;
}

/** Those of one server. */
export class UnsentReplies {
  readonly #bytesMax: number;
  readonly #clock: Pick<Clock, 'sleep' | 'monotonicMs'>;
  readonly #counters: Pick<ServerCounters, 'unsentBytes'>;
  /** In the order in which they began to wait. */
  readonly #waiting: Set<Unsent> = new Set();
  #watching = false;

  /** `bytesMax`: what they may keep together, if that is more than the largest reply. */
  constructor(bytesMax: number, clock: Pick<Clock, 'sleep' | 'monotonicMs'>, counters: Pick<ServerCounters, 'unsentBytes'>) {
    this.#bytesMax = Math.max(bytesMax, keptBytesMin);
    this.#clock = clock;
    this.#counters = counters;
  }

  /** Waits until a reply of so many bytes is `taken`; `expel` ends its connection, whereupon it is as good as taken. */
  async wait(bytes: number, taken: Promise<void>, expel: () => void): Promise<void> {
    const unsent: Unsent = { sinceMs: this.#clock.monotonicMs(), allowedMs: patienceMs + bytes / slowBytesPerMs, expel };
    this.#waiting.add(unsent);
    this.#counters.unsentBytes += bytes;
    if (!this.#watching && this.#counters.unsentBytes > this.#bytesMax) void this.#watch();
    await taken;
    this.#counters.unsentBytes -= bytes;
    this.#waiting.delete(unsent);
  }

  async #watch(): Promise<void> {
    this.#watching = true;
    while (this.#counters.unsentBytes > this.#bytesMax) {
      await this.#clock.sleep(lookMs);
      await this.#expel();
    }
    this.#watching = false;
  }

  /** Those whose time is over, until there is room. */
  async #expel(): Promise<void> {
    for (const { sinceMs, allowedMs, expel } of [...this.#waiting]) {
      const { unsentBytes } = this.#counters;
      if (unsentBytes <= this.#bytesMax) return;
      const waited = this.#clock.monotonicMs() - sinceMs;
      if (waited < (unsentBytes > hurryFactor * this.#bytesMax ? hurryMs : allowedMs)) continue;
      expel();
      // What it kept is counted off behind this.
      await Promise.resolve();
      await Promise.resolve();
    }
  }
}
