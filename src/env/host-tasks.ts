// Time, randomness and background work of the real process. Background work runs on the event loop in slices short enough that no socket
// waits for long; a pause is `setImmediate`, so I/O that completed meanwhile is served between slices.

import { randomFillSync } from 'node:crypto';
import { clearTimeout, setImmediate, setTimeout } from 'node:timers';
import { JobTable } from './job-table.ts';
import type { Clock, JobFunction, Random, Step, Tasks } from './env.ts';

/** Longest time one slice should hold the event loop. */
const sliceMs = 4;

/** Longest wait that a timer of Node takes; a longer one would end at once. */
const timerMsMax = 0x7fffffff;

/** The clock of this machine. */
export class HostClock implements Clock {
  nowMs(): number {
    return Date.now();
  }

  monotonicMs(): number {
    return performance.now();
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(finish, Math.min(ms, timerMsMax));
      timer.unref();
      function finish(): void {
        clearTimeout(timer);
        signal?.removeEventListener('abort', finish);
        resolve();
      }
      signal?.addEventListener('abort', finish);
    });
  }
}

/** The operating system's randomness, fetched in pages. */
export class HostRandom implements Random {
  readonly #pool = new Uint8Array(4096);
  #used: number = this.#pool.length;

  bytes(length: number): Uint8Array {
    if (length > this.#pool.length / 4) return randomFillSync(new Uint8Array(length));
    const at = this.#take(length);
    const fresh = this.#pool.slice(at, at + length);
    this.#pool.fill(0, at, at + length);
    return fresh;
  }

  uint32(): number {
    const at = this.#take(4);
    const p = this.#pool;
    return (((p[at] as number) << 24) | ((p[at + 1] as number) << 16) | ((p[at + 2] as number) << 8) | (p[at + 3] as number)) >>> 0;
  }

  #take(length: number): number {
    if (this.#used + length > this.#pool.length) {
      randomFillSync(this.#pool);
      this.#used = 0;
    }
    this.#used += length;
    return this.#used - length;
  }
}

/** Background work on the event loop of this process. */
export class HostTasks implements Tasks {
  readonly #jobs = new JobTable();

  async pause(): Promise<void> {
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
  }

  async background(step: Step): Promise<void> {
    do await this.pause();
    while ((await step(sliceMs)) === 'more');
  }

  define(kind: string, run: JobFunction): void {
    this.#jobs.define(kind, run);
  }

  async submit<I, R>(kind: string, input: I): Promise<R> {
    await this.pause();
    return this.#jobs.run<R>(kind, input);
  }
}
