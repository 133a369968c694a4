// Time, randomness and background work of the real process. Background work runs on the event loop in slices short enough that no socket
// waits for long, or in a thread of its own (worker-thread.ts); a pause is `setImmediate`, so I/O that completed meanwhile is served between slices.

import { randomFillSync } from 'node:crypto';
import { clearTimeout, setImmediate, setTimeout } from 'node:timers';
import type { Clock, Random, Step, Tasks } from './env.ts';
import { connectThread } from './worker-thread.ts';
import type { WorkerChannel } from './worker-thread.ts';

/** Longest time one slice should hold the event loop. */
const sliceMs = 4;

/** Work on fewer bytes is done inline: a few milliseconds in slices, where a thread would have to be started or at least woken. */
const sentBytesMin = 128 * 1024;

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

  async wait(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      setTimeout(resolve, Math.min(ms, timerMsMax));
    });
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
  pause(): Promise<void> {
    return new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
  }

  async background(step: Step): Promise<void> {
    do await this.pause();
    while ((await step(sliceMs)) === 'more');
  }

  isWorthSending(bytes: number): boolean {
    return bytes >= sentBytesMin;
  }

  connect(module: URL): WorkerChannel {
    return connectThread(module);
  }
}
