// The files that are being sent now. Now and then it is looked which clients do not take what was read for them, and that is given back: a paused
// player costs no more than its socket has (gateway.md, section 3). While nothing is sent, nothing runs.

import type { Clock } from '../env/index.ts';
import type { FileSource } from './file-source.ts';

/** Files under way to clients. */
export class OpenStreams {
  readonly #clock: Clock;
  readonly #periodMs: number;
  readonly #sources: Set<FileSource> = new Set();
  #rest: AbortController | undefined;

  constructor(clock: Clock, periodMs: number) {
    this.#clock = clock;
    this.#periodMs = periodMs;
  }

  get size(): number {
    return this.#sources.size;
  }

  add(source: FileSource): void {
    this.#sources.add(source);
    if (this.#rest === undefined) {
      this.#rest = new AbortController();
      void this.#watch(this.#rest.signal);
    }
  }

  delete(source: FileSource): void {
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
