// Which messages are served in this turn of the event loop. One costs little, but thousands of connections may have one each, and one connection thousands:
// beyond a few milliseconds the rest wait, those of connections that were served before ahead of those of new ones. So a storm of connections makes
// itself wait, and not who is connected (engine.md, section 5: the loop is never held for longer than about 5 ms).

import type { Clock, Tasks } from '../env/index.ts';

/** How long messages are served in one turn, in milliseconds. */
const SLICE_MS = 4;
/** As many connections can have a message each without taking long. */
const FEW_CONNECTIONS = 64;

/** What a message is that comes to it. */
export interface Arrival {
  /** Whether it is the first of its connection. */
  readonly isFirst: boolean;
  /** Whether it came together with the one before. */
  readonly follows: boolean;
}

/** Lets messages on. */
export class Turnstile {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #tasks: Pick<Tasks, 'pause'>;
  #known: (() => void)[] = [];
  #new: (() => void)[] = [];
  /** When the first message of this turn was served. */
  #sinceMs: number | undefined;
  #turning = false;

  constructor(clock: Pick<Clock, 'monotonicMs'>, tasks: Pick<Tasks, 'pause'>) {
    this.#clock = clock;
    this.#tasks = tasks;
  }

  /** To be awaited before the message is served; undefined: it may be served now. `connections`: how many there are. */
  enter(arrival: Arrival, connections: number): Promise<void> | undefined {
    if (connections <= FEW_CONNECTIONS && !arrival.follows) return undefined;
    const now = this.#clock.monotonicMs();
    this.#sinceMs ??= now;
    const isOver = this.#isWaitedFor || now - this.#sinceMs >= SLICE_MS;
    if (!this.#turning) void this.#turn();
    if (!isOver) return undefined;
    return new Promise<void>((resolve) => {
      (arrival.isFirst ? this.#new : this.#known).push(resolve);
    });
  }

  get #isWaitedFor(): boolean {
    return this.#known.length > 0 || this.#new.length > 0;
  }

  async #turn(): Promise<void> {
    this.#turning = true;
    for (;;) {
      await this.#tasks.pause();
      if (!this.#isWaitedFor) break;
      this.#sinceMs = this.#clock.monotonicMs();
      await this.#letOn(this.#sinceMs);
    }
    this.#sinceMs = undefined;
    this.#turning = false;
  }

  /** As many as there is time for: of new connections one at least. */
  async #letOn(sinceMs: number): Promise<void> {
    const [known, fresh] = [this.#known, this.#new];
    this.#known = [];
    this.#new = [];
    let [atKnown, atFresh] = [0, 0];
    const next = (): (() => void) | undefined => (atFresh === 0 && fresh.length > 0 ? undefined : known[atKnown++]) ?? fresh[atFresh++];
    for (let go = next(); go !== undefined; go = next()) {
      go();
      // What it lets on works before this goes on.
      await Promise.resolve();
      if (this.#clock.monotonicMs() - sinceMs >= SLICE_MS) break;
    }
    this.#known = [...known.slice(atKnown), ...this.#known];
    this.#new = [...fresh.slice(atFresh), ...this.#new];
  }
}
