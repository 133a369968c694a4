// The files that are being sent now. Now and then it is looked which clients do not take what was read for them, and that is given back: a paused
// player costs no more than its socket has (gateway.md, section 3). While nothing is sent, nothing runs.

import type { Clock } from '../env/index.ts';

/** A file under way to one client. */
export interface OpenStream {
  /** Gives back what was read and not sent yet, if the client has not taken a piece since before `sinceMs`. */
  letGoOfStalled(sinceMs: number): void;
}

/** Files under way to clients. */
export class OpenStreams {
  readonly #clock: Clock;
  readonly #periodMs: number;
  readonly #sources: Set<OpenStream> = new Set();
  #rest: AbortController | undefined;

  constructor(clock: Clock, periodMs: number) {
    this.#clock = clock;
    this.#periodMs = periodMs;
  }

  get size(): number {
    return this.#sources.size;
  }

  add(source: OpenStream): void {
    this.#sources.add(source);
    if (this.#rest === undefined) {
      this.#rest = new AbortController();
      void this.#watch(this.#rest.signal);
    }
  }

  delete(source: OpenStream): void {
    this.#sources.delete(source);
    if (this.#sources.size > 0) return;
    this.#rest?.abort();
    this.#rest = undefined;
  }

  async #watch(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#clock.sleep(this.#periodMs, signal);
      const since = this.#clock.monotonicMs() - this.#periodMs;
      for (const source of this.#sources) source.letGoOfStalled(since);
    }
  }
}
