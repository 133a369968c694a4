// The tree worker in the simulator: the same conversation as with a thread, but inline, with delays of virtual time; it dies when the seed says
// so. A worker that follows a dead one lives long, since a second death in one job is meant to poison.

import type { Clock, Codecs, ServedChannel, WorkerChannel } from '../../src/env/index.ts';
import { serveMerges } from '../../src/engine/index.ts';
import { updateTable } from '../support/update-functions.ts';
import type { SimRandom } from './sim-random.ts';

/** Which work is sent, and whether workers die. */
export interface SimWorkerOptions {
  readonly sentBytesMin: number;
  readonly dies: boolean;
  /** After how many messages each worker dies, one after the other, in the place of what the seed says; those after them live. */
  readonly deaths?: readonly number[];
  /** How long messages take at the given time. */
  readonly slow?: (timeMs: number) => number;
}

/** Messages, either way, after which a worker dies at the latest. */
const messagesMax = 40;

/** Makes workers, one after the other. */
export class SimWorkers {
  readonly #clock: Clock;
  readonly #random: SimRandom;
  readonly #codecs: Codecs;
  readonly #slow: SimWorkerOptions['slow'];
  readonly #dies: boolean;
  readonly #planned: number[] | undefined;
  deaths: number = 0;
  #isSecond: boolean = false;

  constructor(random: SimRandom, clock: Clock, codecs: Codecs, options: SimWorkerOptions) {
    this.#clock = clock;
    this.#random = random;
    this.#codecs = codecs;
    this.#dies = options.dies;
    this.#slow = options.slow;
    this.#planned = options.deaths === undefined ? undefined : [...options.deaths];
  }

  connect(): WorkerChannel {
    const lives = this.#planned === undefined ? this.#drawn() : (this.#planned.shift() ?? Infinity);
    return new SimChannel(this.#codecs, lives, async () => {
      await this.#clock.sleep(this.#random.fraction() * 0.2 + (this.#slow === undefined ? 0 : this.#slow(this.#clock.monotonicMs())));
    }, () => {
      this.deaths += 1;
    });
  }

  #drawn(): number {
    const lives = this.#dies && !this.#isSecond ? Math.floor(this.#random.fraction() * messagesMax) : Infinity;
    this.#isSecond = !this.#isSecond;
    return lives;
  }
}

class SimChannel implements WorkerChannel {
  readonly cause: unknown = 'the seed';
  readonly #pass: () => Promise<void>;
  readonly #onDeath: () => void;
  readonly #unread: unknown[] = [];
  #listener: (message: unknown) => void = () => undefined;
  #reader: ((message: unknown) => void) | undefined;
  #left: number;
  #hasEnded: boolean = false;
  /** Messages arrive in the order of sending. */
  #last: Promise<void> = Promise.resolve();

  constructor(codecs: Codecs, lives: number, pass: () => Promise<void>, onDeath: () => void) {
    this.#left = lives;
    this.#pass = pass;
    this.#onDeath = onDeath;
    const served: ServedChannel = {
      post: (message) => {
        this.#arrive(structuredClone(message), (arrived) => {
          this.#give(arrived);
        });
      },
      onMessage: (listener) => {
        this.#listener = listener;
      },
    };
    serveMerges(served, codecs, () => updateTable.functions);
  }

  post(message: unknown): void {
    this.#arrive(structuredClone(message), (arrived) => {
      this.#listener(arrived);
    });
  }

  receive(): Promise<unknown> {
    if (this.#unread.length > 0) return Promise.resolve(this.#unread.shift());
    if (this.#hasEnded) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#reader = resolve;
    });
  }

  close(): void {
    this.#end();
  }

  #arrive(message: unknown, deliver: (message: unknown) => void): void {
    this.#last = this.#last.then(async () => {
      await this.#pass();
      if (this.#hasEnded) return;
      if (this.#left-- > 0) deliver(message);
      else {
        this.#onDeath();
        this.#end();
      }
    });
  }

  #give(message: unknown): void {
    const reader = this.#reader;
    this.#reader = undefined;
    if (reader === undefined) this.#unread.push(message);
    else reader(message);
  }

  #end(): void {
    this.#hasEnded = true;
    this.#give(undefined);
    this.#unread.length = 0;
  }
}
