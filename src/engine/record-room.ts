// Room in the log for the record of one commit, had before anything is logged (law 25). On a full disk only what gives space back is let through,
// and waits until the background has made room.

import { EngineError } from '../base/errors.ts';
import type { EngineState } from './state.ts';
import { diskFull } from './throttle.ts';
import type { WriteSet } from './txn/write-set.ts';
import type { Soon } from './types.ts';

/** How often and how long a commit that gives space back waits for the log to have some. */
const refusalsMax = 40;
const refusalMs = 100;

/** What one commit waits for before it is logged. */
export class RecordRoom {
  readonly #state: EngineState;
  readonly #writes: WriteSet;
  #refusals: number = 0;

  constructor(state: EngineState, writes: WriteSet) {
    this.#state = state;
    this.#writes = writes;
  }

  /** Undefined when a record of so many bytes has its space; else what to wait for before asking again. `no-space`: it gets none. */
  wanted(bytes: number): Soon<void> {
    const state = this.#state;
    const urgent = state.isFull && this.#writes.givesBack;
    if (state.isFull && !urgent) throw diskFull();
    const room = state.log.room(bytes, urgent);
    return room === undefined ? undefined : this.#waitFor(room);
  }

  /** Waits for a segment of the log; what gives space back waits longer. */
  async #waitFor(room: Promise<void>): Promise<void> {
    const state = this.#state;
    try {
      await room;
    } catch (error) {
      if (!(error instanceof EngineError && error.code === 'no-space')) throw state.poison(error);
      state.reportFull();
      this.#refusals += 1;
      if (!this.#writes.givesBack || this.#refusals > refusalsMax) throw error;
      await state.env.clock.sleep(refusalMs);
    }
    state.checkUsable();
  }
}
