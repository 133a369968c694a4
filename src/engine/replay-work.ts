// The tree's work while recovery replays the log: frozen fronts go down beside the records that come next, as they do beside clients, and replay waits only
// where too much of the budget waits with them. So an opening takes as long as the slower of the two, and no more memory than the environment itself.

import type { EngineState } from './state.ts';
import type { Soon } from './types.ts';

/** The part of the budget that messages in fronts may take while replay goes on. */
const waitingPart = 1 / 4;
/** The job gets a turn of the event loop after so long. */
const turnMs = 1;

/** Flushes what replay freezes. */
export class ReplayWork {
  readonly #state: EngineState;
  readonly #step: () => Promise<unknown>;
  /** Goes on as long as there are frozen fronts and space for them; it is never rejected. */
  #working: Promise<void> | undefined;
  #failure: { readonly error: unknown } | undefined;
  #since: number = 0;

  /** `step` does one piece of work, and says `done` if it did. */
  constructor(state: EngineState, step: () => Promise<unknown>) {
    this.#state = state;
    this.#step = step;
  }

  /** A record was applied: begins what is to be done, and waits where there is too much of it. */
  afterRecord(): Soon<void> {
    if (this.#state.frozen.size > 0) this.#working ??= this.#work();
    return this.#working === undefined ? undefined : this.#giveTurn();
  }

  /** The last record was applied: what is under way comes to its end. */
  async end(): Promise<void> {
    await this.#working;
    this.#check();
  }

  async #giveTurn(): Promise<void> {
    const { clock, tasks } = this.#state.env;
    if (this.#isFull) await Promise.race([this.#working, this.#state.budget.wait(() => !this.#isFull)]);
    else if (clock.monotonicMs() - this.#since < turnMs) return;
    else await tasks.pause();
    this.#since = clock.monotonicMs();
    this.#check();
  }

  get #isFull(): boolean {
    return this.#state.frontBytesUsed > this.#state.options.cacheBytes * waitingPart;
  }

  async #work(): Promise<void> {
    try {
      while (this.#state.frozen.size > 0) if ((await this.#step()) !== 'done') break;
    } catch (error) {
      this.#failure ??= { error };
    }
    this.#working = undefined;
  }

  #check(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}
