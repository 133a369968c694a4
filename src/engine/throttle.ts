// Slowing writers down smoothly while flushing is behind. From a share of the budget on, commits are let through at a rate: that at which
// fronts were flushed of late, a little more while little waits, much less while much does; so what waits settles where both rates meet, and
// nobody meets a wall. Only at the limit they wait until there is room. Writers pay where they commit, so a transaction is never stopped in its
// middle by others' writes.

import { EngineError } from '../base/errors.ts';
import type { Env } from '../env/index.ts';
import type { Budget } from './cache/budget.ts';
import type { EngineOptions, Soon } from './types.ts';

/** Shares of the budget that fronts may hold: writers are slowed from the first on and stopped at the second. */
const slowFrom = 0.2;
const stopAt = 0.55;

/** What is let through, as a part of the rate of flushing, at the first share and at the second. */
const mostOfRate = 1.6;
const leastOfRate = 0.2;

/** The rate before any front was flushed, and what the rate is never taken to be below, in bytes a millisecond. */
const rateFirst = 20_000;
const rateMin = 200;

/** Shorter waits are not worth a timer: they are owed. */
const waitMsMin = 2;
const waitMsMax = 500;

/** How much of the rate is what it was. */
const inertia = 0.7;

/** What of the environment's state it looks at. */
interface Throttled {
  readonly env: Env;
  readonly options: EngineOptions;
  readonly budget: Budget;
  readonly failure: EngineError | undefined;
  readonly closed: boolean;
  readonly isFull: boolean;
  onWork: () => void;
  checkUsable(): void;
}

/** Says when a commit may go on. */
export class Throttle {
  readonly #state: Throttled;
  /** Bytes of fronts flushed in a millisecond, over the time in which fronts waited to be. */
  #rate: number = rateFirst;
  #flushedAt: number | undefined;
  /** When what was let through will have been paid for. */
  #paidAt: number = 0;

  constructor(state: Throttled) {
    this.#state = state;
  }

  /** A front of so many bytes is below now; `isBehind`: others wait. */
  flushed(bytes: number, isBehind: boolean): void {
    const now = this.#state.env.clock.monotonicMs();
    const since = this.#flushedAt;
    this.#flushedAt = isBehind ? now : undefined;
    if (since === undefined || now <= since) return;
    this.#rate = Math.max(rateMin, this.#rate * inertia + (bytes / (now - since)) * (1 - inertia));
  }

  /** Undefined when a commit of `bytes` may go on at once. */
  admit(bytes: number): Soon<void> {
    const { budget, options } = this.#state;
    const share = budget.held('fronts') / options.cacheBytes;
    if (share < slowFrom) return undefined;
    this.#state.onWork();
    const pressure = Math.min(1, (share - slowFrom) / (stopAt - slowFrom));
    const now = this.#state.env.clock.monotonicMs();
    const rate = this.#rate * (mostOfRate + (leastOfRate - mostOfRate) * pressure);
    this.#paidAt = Math.max(now, this.#paidAt) + Math.min(waitMsMax, bytes / rate);
    const waitMs = this.#paidAt - now;
    return waitMs < waitMsMin && share < stopAt ? undefined : this.#wait(Math.min(waitMs, waitMsMax), share);
  }

  async #wait(waitMs: number, share: number): Promise<void> {
    const state = this.#state;
    await state.env.clock.wait(Math.floor(waitMs));
    const limit = stopAt * state.options.cacheBytes;
    const room = (): boolean => state.failure !== undefined || state.closed || state.isFull || state.budget.held('fronts') < limit;
    if (share >= stopAt && !room()) await state.budget.wait(room);
    state.checkUsable();
    if (state.isFull && state.budget.held('fronts') >= limit) throw diskFull();
  }
}

/** What a commit gets that the disk has no room for; nothing of it was logged. */
export function diskFull(): EngineError {
  return new EngineError('no-space', 'the disk is full; what only deletes gets through');
}
