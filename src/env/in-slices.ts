// Synchronous work of an operation done in its slices: where it takes longer, it is broken off (base/long-work.ts), the event loop turns, and it
// goes on. So an operation that evaluates for long can be killed, has its time limit, and holds nobody up.

import { BrokenOff, Progress, runPiece } from '../base/long-work.ts';

/** What has turns: an operation. */
export interface Paced {
  /** Whether its slice is over. */
  readonly sliceIsOver: boolean;
  /** The next slice, where this one is over. Throws if the work must stop. */
  turn(): Promise<void> | undefined;
}

/** For work that has not been broken off yet: most never is. */
let spare: Progress | undefined = new Progress();

/** What `work` gives; a promise where it did not end in this slice. It may be called several times, and must be the same each time. */
export function inSlices<T>(context: Paced, work: () => T): T | Promise<T> {
  const progress = spare ?? new Progress();
  spare = undefined;
  try {
    const result = runPiece(work, progress, context);
    if (progress.isUsed) progress.clear();
    spare = progress;
    return result;
  } catch (error) {
    if (!(error instanceof BrokenOff)) throw error;
    return goOn(context, work, progress);
  }
}

async function goOn<T>(context: Paced, work: () => T, progress: Progress): Promise<T> {
  for (;;) {
    await context.turn();
    try {
      return runPiece(work, progress, context);
    } catch (error) {
      if (!(error instanceof BrokenOff)) throw error;
    }
  }
}
