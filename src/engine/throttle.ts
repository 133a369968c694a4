// Slowing writers down smoothly while work on the tree is behind. From a share of the budget on, commits are let through in their order at a
// rate: that at which fronts were flushed of late, a little more while little waits, much less while much does; so what waits settles where
// both rates meet, and nobody meets a wall. A flush that takes longer than the ones before says itself that the rate has fallen: who waits is
// asked again every few milliseconds, so a slow disk or a starved worker is met by slower writers at once, and a room that is nearly full is
// filled ever more slowly. Nodes that no checkpoint has written yet and a log that none has made shorter slow writers too, and never stop
// them. Writers pay where they commit, so a transaction is never stopped in its middle by others' writes.

import { EngineError } from '../base/errors.ts';
import type { Env } from '../env/index.ts';
import type { Budget } from './cache/budget.ts';
import type { EngineOptions, Soon } from './types.ts';

/** Shares of the budget that messages in fronts may take: writers are slowed from the first on and stopped at the second. */
const slowFrom = 0.15;
const stopAt = 0.5;

/** Shares of the budget that nodes may take which wait for a checkpoint, and how many times its size the log may have: slowing begins and is greatest. */
const nodesFrom = 0.2;
const nodesMost = 0.4;
const logFrom = 1.5;
const logMost = 4;

/** What is let through, as a part of the rate of flushing, at the first share and at the second. */
const mostOfRate = 1.6;
const leastOfRate = 0.1;

/** The rate before any front was flushed, and what the rate is never taken to be below, in bytes a millisecond. */
const rateFirst = 20_000;
const rateMin = 10;

/** How much of a rate is what it was. */
const inertia = 0.7;

/** What writers wrote is counted over so long, and nodes and log slow them to no less than that. */
const passedMs = 100;
const passedMin = 250;

/** A flush that goes on for so many times as long as the rate says slows writers. */
const patience = 1.5;

/** What is left of the room lasts for so long at least. */
const landingMs = 250;

/** How long who waits sleeps before he is asked again: shorter waits are not worth a timer. */
const lookMsMin = 2;
const lookMsMax = 10;

/** What of the environment's state it looks at. */
interface Throttled {
  readonly env: Env;
  readonly options: EngineOptions;
  readonly budget: Budget;
  readonly frozen: { readonly size: number };
  readonly frontsFull: boolean;
  /** Memory that messages in fronts take. */
  readonly frontBytesUsed: number;
  /** Bytes of the log that only checkpoints make fewer. */
  readonly logBytesInUse: number;
  readonly failure: EngineError | undefined;
  readonly closed: boolean;
  readonly isFull: boolean;
  onWork: () => void;
  checkUsable(): void;
}

interface Waiting {
  readonly bytes: number;
  readonly go: () => void;
}

/** Says when a commit may go on. */
export class Throttle {
  readonly #state: Throttled;
  /** Bytes of fronts flushed in a millisecond, over the time in which fronts waited to be. */
  #rate: number = rateFirst;
  /** Since when the oldest waiting front is the next to be flushed. */
  #waitingSince: number | undefined;
  /** Those who wait, in their order, and the first of them. */
  #queue: Waiting[] = [];
  #first: number = 0;
  /** Bytes that may go on now, as of that time; what went on beyond them is owed. */
  #credit: number = 0;
  #creditAt: number = 0;
  /** Bytes that went on of late, since when, and their rate before. */
  #passed: number = 0;
  #passedSince: number = 0;
  #passedRate: number = rateFirst;

  constructor(state: Throttled) {
    this.#state = state;
  }

  /** A front of so many bytes is below now; `isBehind`: others wait. */
  flushed(bytes: number, isBehind: boolean): void {
    const now = this.#state.env.clock.monotonicMs();
    const since = this.#waitingSince;
    this.#waitingSince = isBehind ? now : undefined;
    if (since === undefined || now <= since) return;
    this.#rate = Math.max(rateMin, this.#rate * inertia + (bytes / (now - since)) * (1 - inertia));
  }

  /** Undefined when a commit of `bytes` may go on at once. */
  admit(bytes: number): Soon<void> {
    const isWaiting = this.#first < this.#queue.length;
    const isFileSlow = this.#filePressure > 0;
    if (!isWaiting && !isFileSlow && this.#frontPressure <= 0) {
      this.#credit = 0;
      this.#creditAt = -Infinity;
      this.#passed += bytes;
      return undefined;
    }
    if (isFileSlow || this.#state.frozen.size > 0 || this.#state.frontsFull) this.#state.onWork();
    if (!isWaiting) {
      this.#earn();
      if (this.#credit >= 0) {
        this.#pass(bytes);
        return undefined;
      }
    }
    return this.#wait(bytes);
  }

  async #wait(bytes: number): Promise<void> {
    const state = this.#state;
    await new Promise<void>((resolve) => {
      const isFirst = this.#first === this.#queue.length;
      this.#queue.push({ bytes, go: resolve });
      if (isFirst) void this.#serve();
    });
    state.checkUsable();
    if (state.isFull && state.frontBytesUsed >= this.#limit) throw diskFull();
  }

  /** Lets those who wait go on, one after the other, until nobody does. */
  async #serve(): Promise<void> {
    const { clock } = this.#state.env;
    for (;;) {
      // Whoever waits for room relies on somebody making it.
      this.#state.onWork();
      const rate = this.#earn();
      while (this.#first < this.#queue.length && (this.#credit >= 0 || this.#isOver)) {
        const { bytes, go } = this.#queue[this.#first++] as Waiting;
        this.#pass(bytes);
        go();
      }
      if (this.#first === this.#queue.length) break;
      const owedMs = rate > 0 ? -this.#credit / rate : lookMsMax;
      await clock.wait(Math.min(lookMsMax, Math.max(lookMsMin, Math.floor(owedMs))));
    }
    this.#queue = [];
    this.#first = 0;
  }

  /** Nobody waits for room any more: there is none to come, or others say what is wrong. */
  get #isOver(): boolean {
    const { failure, closed, isFull } = this.#state;
    return failure !== undefined || closed || isFull;
  }

  /** Adds what the time since the last call was worth; the rate at which it was. */
  #earn(): number {
    const now = this.#state.env.clock.monotonicMs();
    const rate = this.#rateNow(now);
    const since = Math.min(now - this.#creditAt, lookMsMax * 2);
    this.#creditAt = now;
    this.#credit = Math.min(rate * lookMsMin, this.#credit + since * rate);
    return rate;
  }

  #pass(bytes: number): void {
    this.#credit -= bytes;
    this.#passed += bytes;
  }

  /** Bytes a millisecond that may go on. */
  #rateNow(now: number): number {
    const { frozen, options, frontBytesUsed } = this.#state;
    if (frozen.size > 0) this.#waitingSince ??= now;
    const waitedMs = this.#waitingSince === undefined ? 0 : now - this.#waitingSince;
    const flushing = waitedMs > 0 ? Math.min(this.#rate, (options.frontBytes * patience) / waitedMs) : this.#rate;
    const room = Math.max(0, this.#limit - frontBytesUsed);
    const rate = Math.min(partOf(Math.max(flushing, rateMin), this.#frontPressure), room / landingMs);
    const passing = this.#passingRate(now);
    const files = this.#filePressure;
    return files <= 0 ? rate : Math.min(rate, Math.max(passedMin, partOf(passing, files)));
  }

  /** Bytes a millisecond that went on of late. */
  #passingRate(now: number): number {
    const ms = now - this.#passedSince;
    if (ms >= passedMs) {
      this.#passedRate = this.#passedRate * inertia + (this.#passed / ms) * (1 - inertia);
      this.#passed = 0;
      this.#passedSince = now;
    }
    return this.#passedRate;
  }

  get #limit(): number {
    return stopAt * this.#state.options.cacheBytes;
  }

  /** How full the fronts are: up to 0 writers are not slowed, at 1 they are stopped. */
  get #frontPressure(): number {
    return between(this.#state.frontBytesUsed / this.#state.options.cacheBytes, slowFrom, stopAt);
  }

  /** How far checkpoints are behind: up to 0 writers are not slowed, from 1 on they are most. */
  get #filePressure(): number {
    const { options, budget, logBytesInUse } = this.#state;
    const nodes = between(budget.held('nodes') / options.cacheBytes, nodesFrom, nodesMost);
    return Math.max(nodes, between(logBytesInUse / options.logBytes, logFrom, logMost));
  }
}

/** What of a rate is let through under a pressure. */
function partOf(rate: number, pressure: number): number {
  return rate * (mostOfRate + (leastOfRate - mostOfRate) * Math.max(0, Math.min(1, pressure)));
}

/** Where a value lies between two: 0 at the first, 1 at the second. */
function between(value: number, from: number, to: number): number {
  return (value - from) / (to - from);
}

/** What a commit gets that the disk has no room for; nothing of it was logged. */
export function diskFull(): EngineError {
  return new EngineError('no-space', 'the disk is full; what only deletes gets through');
}
