// The turns of the event loop, shared out among the operations that work in it. An operation asks at each step of its work whether its slice
// is over; then it waits in a queue, from which each turn of the loop lets one on. So sockets are served between any two slices, however many
// operations work and however long (engine.md, section 5: the loop is never held for longer than about 5 ms).

import type { Tasks } from '../env/index.ts';

/** How long an operation works on in one turn, in milliseconds. */
const SLICE_MS = 4;
/** And while others wait for their turn: what is over sooner does not wait behind them. */
const CROWDED_SLICE_MS = 1;

/** The queue for turns of one server. */
export class Turns {
  readonly #tasks: Tasks;
  #waiting: (() => void)[] = [];
  #lettingOn = false;

  constructor(tasks: Tasks) {
    this.#tasks = tasks;
  }

  /** Whether an operation that has worked for so many milliseconds must let others on. */
  isOver(workedMs: number): boolean {
    return workedMs >= (this.#waiting.length === 0 ? SLICE_MS : CROWDED_SLICE_MS);
  }

  /** A turn, after those who asked before. */
  next(): Promise<void> {
    const turn = new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
    });
    if (!this.#lettingOn) void this.#letOn();
    return turn;
  }

  async #letOn(): Promise<void> {
    this.#lettingOn = true;
    while (this.#waiting.length > 0) {
      await this.#tasks.pause();
      this.#waiting.shift()?.();
    }
    this.#lettingOn = false;
  }
}
