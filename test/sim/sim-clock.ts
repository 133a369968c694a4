// Virtual time. Whatever waits (I/O, sleeps, pauses) is an event with a due time; the simulation lets all ready promises run, then takes the
// next event. Events of the same time leave in an order drawn from the seed. Nothing real passes, so hours cost milliseconds, and one
// seed gives one execution.

import { setImmediate } from 'node:timers';
import { BinaryHeap } from '../../src/base/binary-heap.ts';
import type { Clock } from '../../src/env/index.ts';
import type { SimRandom } from './sim-random.ts';

interface Event {
  readonly due: number;
  readonly tieBreak: number;
  readonly run: () => void;
}

/** Wall clock at the start of a simulation: 2026-01-01. */
const epochMs = 1_767_225_600_000;

/** Most that reading the clock costs: so that work cut by a time budget is cut in the simulator too, somewhere. */
const readCostMs = 0.02;

/** A simulation that cannot go on: it waits for something that will never come, or has a fault of its own. */
export class SimStalled extends Error {
  override readonly name: string = 'SimStalled';
}

/** The clock and the schedule of one simulation. */
export class SimClock implements Clock {
  readonly #random: SimRandom;
  readonly #events = new BinaryHeap<Event>((a, b) => a.due - b.due || a.tieBreak - b.tieBreak);
  #time = 0;
  #wallOffset = 0;
  #stopped = false;

  constructor(random: SimRandom) {
    this.#random = random;
  }

  nowMs(): number {
    return Math.floor(epochMs + this.#wallOffset + this.monotonicMs());
  }

  monotonicMs(): number {
    this.#time += this.#random.fraction() * readCostMs;
    return this.#time;
  }

  /** The time, without the cost of looking. */
  get time(): number {
    return this.#time;
  }

  async wait(ms: number): Promise<void> {
    await this.sleep(ms);
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return;
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        this.after(0, resolve);
      };
      signal?.addEventListener('abort', wake);
      this.after(ms, () => {
        signal?.removeEventListener('abort', wake);
        resolve();
      });
    });
  }

  /** Moves the wall clock, as an operator or a time server may. */
  jump(ms: number): void {
    this.#wallOffset += ms;
  }

  /** Calls `run` when `ms` have passed. */
  after(ms: number, run: () => void): void {
    this.#events.push({ due: this.#time + ms, tieBreak: this.#random.uint32(), run });
  }

  /** No event happens any more: the machine is off. */
  stop(): void {
    this.#stopped = true;
  }

  /** Lets events happen until `settled` or stopped. Rejects with SimStalled when there are no more and neither is true. */
  async drive(settled: () => boolean): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const turn = (): void => {
        if (this.#stopped || settled()) {
          resolve();
          return;
        }
        const event = this.#events.pop();
        if (event === undefined) {
          reject(new SimStalled('the simulation waits, and nothing is outstanding'));
          return;
        }
        this.#time = Math.max(this.#time, event.due);
        try {
          event.run();
        } catch (cause) {
          reject(new SimStalled('the simulation itself failed', { cause }));
          return;
        }
        setImmediate(turn);
      };
      setImmediate(turn);
    });
  }
}
